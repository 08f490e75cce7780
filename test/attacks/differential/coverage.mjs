// The coverage of this package's own code, from V8. jazzer.js would need a newer C library than some systems of contributors have.
import { Session } from 'node:inspector'

const OWN = /\/dist\/[^?]*\.js$/

/** Starts counting. `take` returns what ran since the last call: a text for each block of code. */
export function startCoverage() {
  const session = new Session()
  session.connect()
  const post = (method, parameters) => {
    let answer
    // The callback runs before `post` returns.
    session.post(`Profiler.${method}`, parameters, (error, result) => {
      if (error) throw error
      answer = result
    })
    return answer
  }
  post('enable')
  post('startPreciseCoverage', { callCount: true, detailed: true })
  return {
    take() {
      const blocks = []
      for (const { url, functions } of post('takePreciseCoverage').result) {
        if (!OWN.test(url)) continue
        for (const { ranges } of functions) {
          for (const { startOffset, endOffset, count } of ranges) {
            if (count > 0) blocks.push(`${startOffset}-${endOffset}`)
          }
        }
      }
      return blocks
    },
    stop: () => session.disconnect(),
  }
}

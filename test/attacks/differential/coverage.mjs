// The coverage of this package's own code, from V8. jazzer.js would need a newer C library than some systems of contributors have.
import { Session } from 'node:inspector'

const OWN = /^file:(?!.*\/node_modules\/).*\/dist\/.*\.js$/
/** A feature stands for 8 characters of code. V8 joins blocks with equal counts, so the blocks of two runs differ. */
const STEP = 8

/** Returns the characters that ran. Ranges of V8 start with the outer one. */
function ranIn(functions) {
  const ranges = functions.flatMap((one) => one.ranges)
  const ran = new Uint8Array(Math.max(...ranges.map(({ endOffset }) => endOffset)))
  for (const { startOffset, endOffset, count } of ranges) ran.fill(count > 0 ? 1 : 0, startOffset, endOffset)
  return ran
}

/** Starts counting. `take` returns what ran since the last call: a text for each piece of code. */
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
        const ran = ranIn(functions)
        for (let at = 0; at < ran.length; at += STEP) if (ran[at]) blocks.push(`${url.slice(-20)} ${at}`)
      }
      return blocks
    },
    stop: () => session.disconnect(),
  }
}

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism, loadavg } from 'node:os'

export const say = (line) => process.stdout.write(`${line}\n`)

/** Prints the machine of a measurement, and its load. */
export const sayWhere = () =>
  say(
    `Node ${process.version}, ${availableParallelism()} cores, load ${loadavg()
      .map((load) => load.toFixed(2))
      .join(' ')}`,
  )

/** Starts a file in its own process, and waits for the first message of that process. */
export async function start(file, options = {}) {
  const child = fork(file, options.args ?? [], {
    execArgv: options.execArgv ?? [],
    env: options.env ?? process.env,
    silent: options.silent ?? false,
    serialization: 'advanced',
  })
  const answer = async () => {
    const settled = new AbortController()
    const died = once(child, 'exit', settled).then(([code]) => {
      throw new Error(`${file} ended with ${code}`)
    })
    try {
      return (await Promise.race([once(child, 'message', settled), died]))[0]
    } finally {
      died.catch(() => {})
      settled.abort()
    }
  }
  const first = await answer()
  const ask = (question) => {
    child.send(question)
    return answer()
  }
  return { child, first, ask }
}

export const fixed = (value) => value.toFixed(2)
export const seconds = (n) => new Promise((resolve) => setTimeout(resolve, n * 1000))

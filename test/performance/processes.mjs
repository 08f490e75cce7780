import { fork, spawnSync } from 'node:child_process'
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

/** The cores of a measured server and of its load generator. Separate cores make a measurement less noisy. */
export const SERVER_CORE = 0
export const CLIENT_CORE = 1

let canPin
/** Returns whether this system has `taskset`, and both cores. */
const pins = () => {
  canPin ??= [SERVER_CORE, CLIENT_CORE].every((core) => spawnSync('taskset', ['-c', `${core}`, 'true']).status === 0)
  return canPin
}

/**
 * Starts a file in its own process, and waits for the first message of that process.
 * @param options `node` is the path of another Node, and `core` pins the process to a core where the system can
 */
export async function start(file, { args = [], execArgv = [], env, silent, node = process.execPath, core } = {}) {
  const pinned = core !== undefined && pins()
  const child = fork(file, args, {
    execPath: pinned ? 'taskset' : node,
    execArgv: pinned ? ['-c', `${core}`, node, ...execArgv] : execArgv,
    env,
    silent,
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

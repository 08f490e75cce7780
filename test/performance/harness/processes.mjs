import { fork, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The cores of a measured server and of its load generator. Separate cores make a measurement less noisy. */
const SERVER_CORE = 0
export const CLIENT_CORE = 1

/** Functions that stop what a part has started. The last one runs first, because it can depend on earlier ones. */
const stops = []
export const atEnd = (stop) => stops.push(stop)

export async function stopAll() {
  for (let stop = stops.pop(); stop; stop = stops.pop()) await stop()
}

/** Creates a folder, and removes it at the end. */
export async function tempDir() {
  const folder = await mkdtemp(join(tmpdir(), 'bench-'))
  atEnd(() => rm(folder, { recursive: true, force: true }))
  return folder
}

let canPin
/** Returns whether this system has `taskset`, and both cores. */
function pins() {
  canPin ??= [SERVER_CORE, CLIENT_CORE].every((core) => spawnSync('taskset', ['-c', `${core}`, 'true']).status === 0)
  return canPin
}

/**
 * Starts a file of `programs` in its own process, and waits for its first message. The process ends with the part.
 * @param options `node` is the path of the measured Node. `core` pins the process to a core where the system can
 * @returns `first`, the message, `ask`, which sends a message and returns the response, and `stop`
 */
export async function start(file, { args = [], execArgv = [], env, node = process.execPath, core } = {}) {
  const pinned = core !== undefined && pins()
  const child = fork(new URL(`../programs/${file}`, import.meta.url), args.map(String), {
    execPath: pinned ? 'taskset' : node,
    execArgv: pinned ? ['-c', `${core}`, node, ...execArgv] : execArgv,
    env,
    serialization: 'advanced',
  })
  async function answer() {
    if (child.exitCode !== null) throw new Error(`${file} has ended with ${child.exitCode}`)
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
  const stop = () => child.connected && child.disconnect()
  atEnd(stop)
  const first = await answer()
  const ask = (question) => {
    child.send(question)
    return answer()
  }
  return { pid: child.pid, first, ask, stop }
}

/**
 * Starts a file of `programs` that serves an app, with the options of `start`. By default, it runs on the core of servers.
 * @returns the result of `start`, the first message of the server, and `side`, which creates a side of `alternately` from requests
 */
export async function startServer(file, options) {
  const { first, ...server } = await start(file, { core: SERVER_CORE, ...options })
  const programs = { api: () => [server.pid] }
  return { ...server, ...first, side: (name, requests) => ({ name, port: first.port, requests, programs }) }
}

const threadsOf = (pid) => {
  try {
    return readdirSync(`/proc/${pid}/task`).map((thread) => `/proc/${pid}/task/${thread}/schedstat`)
  } catch {
    return [] // The process has ended, or this is not Linux.
  }
}

/**
 * Returns a function for the microseconds of processor time since now, of processes and all their threads. A thread that has ended since
 * then does not count. Without Linux, the result is always 0.
 */
export function cpuSince(pids) {
  const now = () =>
    new Map(
      pids()
        .flatMap(threadsOf)
        .map((file) => [file, Number.parseInt(readFileSync(file, 'utf8'), 10) / 1000]),
    )
  const before = now()
  return () => [...now()].reduce((sum, [thread, used]) => sum + used - (before.get(thread) ?? 0), 0)
}

/** Returns the highest memory use of a process in megabytes. */
export async function peakOf(pid) {
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
}

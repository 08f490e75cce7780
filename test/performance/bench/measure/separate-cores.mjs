import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'

const threadsOf = (pid) => readdirSync(`/proc/${pid}/task`).map(Number)
const pin = (core, ids) => {
  for (const id of ids) execFileSync('taskset', ['-cp', `${core}`, `${id}`], { stdio: 'ignore' })
}

/**
 * Gives the event loop of a server its own core. All other threads, for example those that hash and those that collect garbage, share the
 * other core with all clients. There the processes of `first` run before all others. Works on Linux, as root.
 */
export function separateCores(server, others, first) {
  pin(1, [...threadsOf(server).filter((id) => id !== server), ...[...others, ...first].flatMap(threadsOf)])
  pin(0, [server])
  for (const id of first) execFileSync('chrt', ['--all-tasks', '--fifo', '--pid', '1', `${id}`])
}

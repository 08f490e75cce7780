import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'

/** Reads the children of a process from `/proc`. */
export function childrenOf(parent) {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return pids.map(Number).filter((pid) => {
    try {
      // The name can contain spaces and parentheses. The state and the parent come after it.
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
      return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) === parent
    } catch {
      return false
    }
  })
}

/** Sends a signal to a process that was perhaps never started or has ended, and waits for its end. */
export async function end(child, signal) {
  if (!child || child.exitCode !== null || child.signalCode !== null) return
  child.kill(signal)
  await once(child, 'exit')
}

import { readFileSync } from 'node:fs'

/** Linux counts in hundredths of a second whatever its own clock does (USER_HZ). */
const TICKS_PER_SECOND = 100

/** The processor time that processes have used so far, their threads included; seconds. Linux alone. */
export function cpuSeconds(pids) {
  let ticks = 0
  for (const pid of pids) {
    try {
      // The name may hold blanks and parentheses; user and system time are the 14th and 15th field of all.
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      ticks += Number(fields[11]) + Number(fields[12])
    } catch {
      // It has ended; its parent's own time does not include it.
    }
  }
  return ticks / TICKS_PER_SECOND
}

/** What a process holds in memory now, and the most it ever held; megabytes. */
export function memoryOf(pid) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const megabytes = (name) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / 1024
  return { now: megabytes('VmRSS'), most: megabytes('VmHWM') }
}

import { readFileSync } from 'node:fs'

/** Linux reports processor time in hundredths of a second (USER_HZ). */
const TICKS_PER_SECOND = 100

/** Returns the processor time of processes and their threads in seconds. Works on Linux only. */
export function cpuSeconds(pids) {
  let ticks = 0
  for (const pid of pids) {
    try {
      // The name can contain blanks and parentheses. User and system time are fields 14 and 15.
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      ticks += Number(fields[11]) + Number(fields[12])
    } catch {
      // The process has ended, and its parent's time does not include it.
    }
  }
  return ticks / TICKS_PER_SECOND
}

/** Returns the current and the highest memory use of a process in megabytes. */
export function memoryOf(pid) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const megabytes = (name) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / 1024
  return { now: megabytes('VmRSS'), most: megabytes('VmHWM') }
}

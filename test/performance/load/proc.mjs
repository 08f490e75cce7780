import { readdirSync, readFileSync } from 'node:fs'

/** Returns a function for the microseconds of processor time since now, of processes and their threads. Works on Linux only. */
export function cpuSince(pidsNow) {
  const before = cpuByThread(pidsNow())
  return () => {
    let micros = 0
    // A thread that has ended since then does not count.
    for (const [thread, used] of cpuByThread(pidsNow())) micros += used - (before.get(thread) ?? 0)
    return micros
  }
}

function cpuByThread(pids) {
  const found = new Map()
  for (const pid of pids) {
    for (const thread of threadsOf(pid)) {
      // `stat` has only hundredths of a second.
      const sched = readFileSync(`${thread}/sched`, 'utf8')
      found.set(thread, Number(/^se\.sum_exec_runtime\s*:\s*([\d.]+)$/m.exec(sched)[1]) * 1000)
    }
  }
  return found
}

function threadsOf(pid) {
  const folder = `/proc/${pid}/task`
  try {
    return readdirSync(folder).map((thread) => `${folder}/${thread}`)
  } catch {
    // The process has ended since it was listed.
    return []
  }
}

/** Returns the current and the highest memory use of a process in megabytes. */
export function memoryOf(pid) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const megabytes = (name) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / 1024
  return { now: megabytes('VmRSS'), most: megabytes('VmHWM') }
}

/** Runs tasks, at most a given number of them at the same time. The others wait in their order. */
export interface Workers {
  run(task: () => Promise<void>): void
}

/** Creates workers. Each caller has at most one task waiting, so the callers limit the queue. */
export function createWorkers(most: number): Workers {
  const waiting = new Set<() => Promise<void>>()
  let running = 0

  function next(): void {
    for (const task of waiting) {
      if (running >= most) return
      waiting.delete(task)
      running++
      task().finally(() => {
        running--
        next()
      })
    }
  }

  return {
    run(task) {
      waiting.add(task)
      next()
    },
  }
}

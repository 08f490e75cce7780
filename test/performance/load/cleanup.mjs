/** Functions that stop what the run has started, at its end, after a failure and after Ctrl-C. */
const stops = []
const children = new Set()

/** Adds a function to call at the end. The last added function runs first, because it can depend on earlier ones. */
export function atEnd(stop) {
  stops.push(stop)
}

/** Kills the child if this process exits before it has stopped the child. */
export function ownChild(child) {
  children.add(child)
  child.once('exit', () => children.delete(child))
  return child
}

/** Owns a forked child, which is disconnected at the end. */
export function ownFork(child) {
  ownChild(child)
  atEnd(() => child.disconnect())
}

let stopping

/** Stops everything. A second call, for example after a signal, waits for the first. */
export function stopAll() {
  stopping ??= stopEach().finally(() => {
    stopping = undefined
  })
  return stopping
}

async function stopEach() {
  for (let stop = stops.pop(); stop; stop = stops.pop()) {
    try {
      await stop()
    } catch (error) {
      process.stderr.write(`fleet: while stopping: ${error.message}\n`)
    }
  }
}

let interrupted = false
export const isInterrupted = () => interrupted

export function stopOnSignals() {
  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.on(signal, async () => {
      if (interrupted) return
      interrupted = true
      await stopAll()
      process.exit(130)
    })
  }
  process.on('exit', () => {
    for (const child of children) child.kill('SIGKILL')
  })
}

/** What was started and has to be stopped, whatever ends the run: its end, a failure, Ctrl-C. */
const stops = []
const children = new Set()

/** Later ones are stopped first: they stand on the earlier ones. */
export function atEnd(stop) {
  stops.push(stop)
}

/** Kills it when this process ends without having stopped it. */
export function ownChild(child) {
  children.add(child)
  child.once('exit', () => children.delete(child))
  return child
}

let stopping

/** Whoever asks waits for all: a signal may come while a part already stops. */
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

import { complain, say } from '../output.js'

/** A Ctrl-C reaches this process twice when npm runs it: from the terminal, and passed on by npm. */
const SAME_SIGNAL_MS = 500

const PATIENCE_MS = 10_000

/** Runs `stop` at Ctrl-C and SIGTERM and exits with 0. A second signal, or ten seconds, exit with 1. */
export function stopOnSignals(stop: () => Promise<void>): void {
  let first: number | undefined
  const onSignal = () => {
    if (first !== undefined) {
      if (performance.now() - first > SAME_SIGNAL_MS) process.exit(1)
      return
    }
    first = performance.now()
    say('Stopping: requests in flight are finished first. Again to stop at once.')
    setTimeout(() => {
      complain(`Requests were still open after ${PATIENCE_MS / 1000} s.`)
      process.exit(1)
    }, PATIENCE_MS)
    stop().then(
      () => process.exit(0),
      (error: unknown) => {
        complain(String(error))
        process.exit(1)
      },
    )
  }
  process.on('SIGINT', onSignal)
  process.on('SIGTERM', onSignal)
}

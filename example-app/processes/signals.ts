import { complain, say } from '../output.js'

/** npm passes on the Ctrl-C that the terminal has already sent to this process; both arrive within milliseconds. */
const SAME_SIGNAL_MS = 500

/** Maximum time for the requests in flight. */
export const STOP_LIMIT_MS = 10_000

/**
 * Calls `stop` at the first SIGINT or SIGTERM, then exits with 0.
 * Exits with 1 at a second signal, after ten seconds, or when `stop` fails.
 */
export function stopOnSignals(stop: () => Promise<unknown>): void {
  let first: number | undefined
  const onSignal = () => {
    if (first !== undefined) {
      if (performance.now() - first > SAME_SIGNAL_MS) process.exit(1)
      return
    }
    first = performance.now()
    say('Stopping after the requests in flight. Press Ctrl-C again to stop at once.')
    setTimeout(() => {
      complain(`Stopped with requests in flight, because they took more than ${STOP_LIMIT_MS / 1000} s.`)
      process.exit(1)
    }, STOP_LIMIT_MS)
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

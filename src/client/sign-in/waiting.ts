import { TokenClientError } from '../token-client-error.js'

/** Waits for `work` until the signal aborts. The work itself continues. */
export function until<T>(
  signal: AbortSignal | null | undefined,
  work: Promise<T>,
  error = () => new TokenClientError('aborted'),
): Promise<T> {
  if (!signal) return work
  return new Promise<T>((resolve, reject) => {
    const stop = () => reject(error())
    signal.addEventListener('abort', stop)
    if (signal.aborted) stop()
    work.then(resolve, reject).then(() => signal.removeEventListener('abort', stop))
  })
}

/**
 * Runs `work` with a signal that aborts after a time, and when the outer signal aborts.
 * @throws TokenClientError with the code `unreachable` after the time, and with `aborted` when the outer signal aborts
 */
export function within<T>(ms: number, outer: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const inner = new AbortController()
  const stop = () => inner.abort()
  const timer = setTimeout(stop, ms)
  outer.addEventListener('abort', stop)
  if (outer.aborted) stop()
  const error = () => new TokenClientError(outer.aborted ? 'aborted' : 'unreachable')
  return until(inner.signal, work(inner.signal), error).finally(() => {
    clearTimeout(timer)
    outer.removeEventListener('abort', stop)
  })
}

/** Waits for a time, or rejects when the signal aborts. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  let timer: ReturnType<typeof setTimeout>
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms)
  })
  return until(signal, over).finally(() => clearTimeout(timer))
}

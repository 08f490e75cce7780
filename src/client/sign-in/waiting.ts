/** The functions to call when a signal aborts. Each signal has one listener, because Node warns about more than ten. */
const stops = new WeakMap<AbortSignal, Set<() => void>>()

/**
 * Calls a function when a signal aborts, at once when it has aborted already.
 * @returns a function that forgets the other
 */
function onAbort(signal: AbortSignal, stop: () => void): () => void {
  if (signal.aborted) stop()
  const known = stops.get(signal)
  const all = known ?? new Set()
  if (!known) signal.addEventListener('abort', () => all.forEach((each) => void each()))
  stops.set(signal, all.add(stop))
  return () => all.delete(stop)
}

/**
 * Waits for `work` until the signal aborts. The work itself continues.
 * @throws the signal's reason
 */
export function until<T>(signal: AbortSignal | null | undefined, work: Promise<T>): Promise<T> {
  if (!signal) return work
  return new Promise<T>((resolve, reject) => {
    const forget = onAbort(signal, () => reject(signal.reason))
    work.then(resolve, reject).then(forget)
  })
}

/**
 * Runs `work` with a signal that aborts after a time, and when the outer signal aborts.
 * @throws `late` after the time, and the outer signal's reason when that aborts
 */
export function within<T>(
  ms: number,
  outer: AbortSignal,
  late: unknown,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const inner = new AbortController()
  const timer = setTimeout(() => inner.abort(late), ms)
  const forget = onAbort(outer, () => inner.abort(outer.reason))
  return until(inner.signal, work(inner.signal)).finally(() => {
    clearTimeout(timer)
    forget()
  })
}

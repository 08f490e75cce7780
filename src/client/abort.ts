/** Returns the reason of a signal that has aborted. The signals of React Native have none. */
export const reasonOf = (signal: AbortSignal): unknown =>
  signal.reason ?? Object.assign(new Error(), { name: 'AbortError' })

/** Throws the reason of a signal that has aborted. The signals of React Native cannot do it. */
export function assertOpen(signal: AbortSignal): void {
  if (signal.aborted) throw reasonOf(signal)
}

/** Creates a controller whose signal has a `reason`, also in React Native. */
export function createController(): AbortController {
  const controller = new AbortController()
  const { signal } = controller
  return {
    signal,
    abort(reason) {
      if (!('reason' in signal)) Object.assign(signal, { reason })
      controller.abort(reason)
    },
  }
}

/** The functions to call when a signal aborts. The set is the signal's listener. */
class Stops extends Set<() => void> {
  handleEvent(): void {
    for (const stop of this) stop()
  }
}

/**
 * The functions of each signal. They share one listener, because Node warns about more than ten. The last function removes it, because
 * Node keeps a signal of `AbortSignal.any()` in memory for as long as it has a listener.
 */
const allStops = new WeakMap<AbortSignal, Stops>()

/**
 * Calls a function when a signal aborts, at once when it has aborted already.
 * @returns a function that forgets the other
 */
export function onAbort(signal: AbortSignal, stop: () => void): () => void {
  if (signal.aborted) stop()
  const stops = allStops.get(signal) ?? new Stops()
  allStops.set(signal, stops.add(stop))
  // A signal that has this listener does not add it again.
  signal.addEventListener('abort', stops)
  return () => {
    stops.delete(stop)
    if (!stops.size) signal.removeEventListener('abort', stops)
  }
}

/**
 * Waits for `work` until the signal aborts. The work itself continues.
 * @throws the signal's reason
 */
export function until<T>(signal: AbortSignal | null | undefined, work: Promise<T>): Promise<T> {
  if (!signal) return work
  let forget = () => {}
  return new Promise<T>((resolve, reject) => {
    forget = onAbort(signal, () => reject(reasonOf(signal)))
    work.then(resolve, reject)
  }).finally(forget)
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
  const inner = createController()
  const timer = setTimeout(() => inner.abort(late), ms)
  const forget = onAbort(outer, () => inner.abort(reasonOf(outer)))
  return until(inner.signal, work(inner.signal)).finally(() => {
    clearTimeout(timer)
    forget()
  })
}

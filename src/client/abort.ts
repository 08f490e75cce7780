import { onAbort } from './runtime.js'

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
      if (!('reason' in signal)) (signal as { reason: unknown }).reason = reason
      controller.abort(reason)
    },
  }
}

/**
 * Waits for `work` until the signal aborts. The work itself continues.
 * @throws the signal's reason
 */
export function until<T>(signal: AbortSignal | null | undefined, work: Promise<T>): Promise<T> {
  if (!signal) return work
  let forget: (() => void) | undefined
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

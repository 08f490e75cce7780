/** Returns the reason of a signal that has aborted. The signals of React Native have none. */
export const reasonOf = (signal: AbortSignal): unknown =>
  signal.reason ?? Object.assign(new Error(), { name: 'AbortError' })

/** Creates a controller whose signal has `reason` and `throwIfAborted`, also in React Native. */
export function createController(): AbortController {
  const controller = new AbortController()
  const { signal } = controller
  signal.throwIfAborted ??= () => {
    if (signal.aborted) throw reasonOf(signal)
  }
  return {
    signal,
    abort(reason) {
      if (!('reason' in signal)) Object.assign(signal, { reason })
      controller.abort(reason)
    },
  }
}

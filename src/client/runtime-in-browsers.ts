import type * as runtime from './runtime.js'

/*
 * Replaces `runtime.ts` in the file for browsers, and has the same functions.
 */

/** Sends a request. A browser follows redirects itself, removes the token at a redirect to another origin, and hides redirects from scripts. */
export const sendAndFollow: typeof runtime.sendAndFollow = (fetch, url, request, init) => fetch(request ?? url, init)

/** Calls a function when a signal aborts. A browser allows any number of listeners. */
export const onAbort: typeof runtime.onAbort = (signal, stop) => {
  if (signal.aborted) stop()
  signal.addEventListener('abort', stop)
  return () => signal.removeEventListener('abort', stop)
}

/** Returns nothing, because a browser tells scripts no system error. */
export const systemCode: typeof runtime.systemCode = () => undefined

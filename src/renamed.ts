import { misuse, PAGE, type Page } from './options/misuse.js'

/*
 * The names of earlier releases. Each throws an error that says what to do. They go at 1.0.0.
 */

/** Creates a function whose error says what replaces it. */
function gone(message: string, page: Page): (...args: unknown[]) => never {
  return () => {
    throw misuse(message, page)
  }
}

/** @deprecated Return what the MCP SDK needs from `authOf(req)`. */
export const authInfoOf = gone('authInfoOf is gone. Return what the MCP SDK needs from authOf(req)', PAGE.guard)
/** @deprecated Serve the metadata in a custom route. */
export const protectedResourceRouter = gone(
  'protectedResourceRouter is gone. Serve the metadata (RFC 9728) in a custom route',
  PAGE.guard,
)
/** @deprecated Call `createLimits`. */
export const createThrottle = gone('createThrottle is now createLimits', PAGE.passwords)

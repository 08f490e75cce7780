import { gone, PAGE } from './options/misuse.js'

/*
 * The names of earlier releases. Each throws an error that says what to do. They go at 1.0.0.
 */

/** @deprecated Use `auth.logIn` of `createAuth`. */
export const createLogin = gone('createLogin is now auth.logIn of createAuth()', PAGE.login)
/** @deprecated Use `auth.signIn` of `createAuth`. */
export const createSignIn = gone('createSignIn is now auth.signIn of createAuth()', PAGE.login)
/** @deprecated Use `auth.router` of `createAuth`. */
export const sessionRouter = gone('sessionRouter is now a part of auth.router of createAuth()', PAGE.login)
/** @deprecated Use `auth.errors` of `createAuth`. */
export const authErrors = gone('authErrors is now auth.errors of createAuth()', PAGE.login)
/** @deprecated Return what the MCP SDK needs from `authOf(req)`. */
export const authInfoOf = gone('authInfoOf is gone. Return what the MCP SDK needs from authOf(req)', PAGE.guard)
/** @deprecated Serve the metadata in a custom route. */
export const protectedResourceRouter = gone(
  'protectedResourceRouter is gone. Serve the metadata (RFC 9728) in a custom route',
  PAGE.guard,
)
/** @deprecated Call `createLimits`. */
export const createThrottle = gone('createThrottle is now createLimits', PAGE.options)
/** @deprecated Pass `store` to `createAuth`, and use `auth.sessions`. */
export const createSessions = gone(
  'createSessions is gone. Pass createAuth() a "store", and use auth.sessions',
  PAGE.stores,
)
/** @deprecated Pass `store` to `createAuth`, and use `auth.codes`. */
export const createCodes = gone('createCodes is gone. Pass createAuth() a "store", and use auth.codes', PAGE.stores)
/** @deprecated Call `memoryStore`. */
export const memorySessions = gone('memorySessions is now a part of memoryStore()', PAGE.stores)
/** @deprecated Call `memoryStore`. */
export const memoryCodes = gone('memoryCodes is now a part of memoryStore()', PAGE.stores)

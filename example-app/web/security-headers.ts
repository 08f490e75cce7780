import type { RequestHandler } from 'express'
import helmet from 'helmet'

/** An answer of an API is no page: it loads nothing, and is shown in none. */
const NOTHING = {
  defaultSrc: ["'none'"],
  baseUri: ["'none'"],
  formAction: ["'none'"],
  frameAncestors: ["'none'"],
}

/**
 * What every answer says to a browser. A route that serves a page sets a policy of its own over this one.
 * @param baseUrl the environment's: only on https may browsers be told to stay with https
 */
export function securityHeaders(baseUrl: string): RequestHandler {
  return helmet({
    contentSecurityPolicy: { useDefaults: false, directives: NOTHING },
    strictTransportSecurity: new URL(baseUrl).protocol === 'https:',
  })
}

/**
 * The policy of a page whose scripts, style sheets and images are files of its own server.
 * @param api the origin of another server that it calls
 */
export function pagePolicy(api: () => string | undefined): RequestHandler {
  return helmet.contentSecurityPolicy({
    useDefaults: false,
    directives: {
      ...NOTHING,
      scriptSrc: ["'self'"],
      styleSrc: ["'self'"],
      imgSrc: ["'self'"],
      connectSrc: ["'self'", () => api() ?? ''],
      requireTrustedTypesFor: ["'script'"],
      trustedTypes: ["'none'"],
    },
  })
}

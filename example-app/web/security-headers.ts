import { createHash } from 'node:crypto'
import type { RequestHandler } from 'express'
import helmet from 'helmet'

/** An API's response is not a page: it loads nothing, and no frame shows it. */
const NOTHING = {
  defaultSrc: ["'none'"],
  baseUri: ["'none'"],
  formAction: ["'none'"],
  frameAncestors: ["'none'"],
}

/**
 * Sets the security headers of every response. A route that serves a page replaces the policy.
 * @param baseUrl base URL of the environment. Only https URLs get `Strict-Transport-Security`.
 */
export function securityHeaders(baseUrl: string): RequestHandler {
  return helmet({
    contentSecurityPolicy: { useDefaults: false, directives: NOTHING },
    strictTransportSecurity: new URL(baseUrl).protocol === 'https:',
  })
}

/** Sets the policy of a page without scripts, whose style sheets and images come from its own server. */
export const plainPolicy: RequestHandler = helmet.contentSecurityPolicy({
  useDefaults: false,
  directives: { ...NOTHING, styleSrc: ["'self'"], imgSrc: ["'self'"] },
})

/**
 * Sets the policy of a page whose scripts, style sheets and images come from its own server.
 * @param api returns the origin of another server that the page calls
 * @param importMap the only inline script of the page
 */
export function pagePolicy(api: () => string | undefined, importMap: string): RequestHandler {
  const digest = createHash('sha256').update(importMap).digest('base64')
  return helmet.contentSecurityPolicy({
    useDefaults: false,
    directives: {
      ...NOTHING,
      scriptSrc: ["'self'", `'sha256-${digest}'`],
      styleSrc: ["'self'"],
      imgSrc: ["'self'"],
      connectSrc: ["'self'", () => api() ?? ''],
      requireTrustedTypesFor: ["'script'"],
      trustedTypes: ["'none'"],
    },
  })
}

import type { Router } from 'express'
import { methodNotAllowed, type Refuse } from '../http/refuse.js'
import { ENDPOINTS, keysResponse } from '../http/responses.js'
import { setHeaders } from '../http/send-response.js'
import { withMethods } from '../options/checks.js'
import { plainPath } from '../options/plain-path.js'
import { type Check, InvalidOption, optional, readOptions } from '../options/read-options.js'
import { isPlainObject } from '../options/values.js'
import { express } from '../packages/on-first-use.cjs'
import type { TokenIssuer } from '../tokens/tokens.js'

/** The options of `jwksRouter`. */
export interface JwksRouterOptions {
  /** The issuer whose public keys are published: the result of `createTokenIssuer`, with a key pair. */
  tokens: Pick<TokenIssuer, 'jwks'>
  /** The path of the set below the router's mount point, without patterns. Default `/.well-known/jwks.json`. */
  path?: string | undefined
}

const ISSUER = 'what createTokenIssuer() returned'
const issuerObject = withMethods<Pick<TokenIssuer, 'jwks'>>(ISSUER, ['jwks'], (value) =>
  isPlainObject(value) && 'verify' in value ? 'A verifier publishes no keys. Pass the issuer' : '',
)

const publisher: Check<JwksRouterOptions['tokens']> = (value) => {
  const tokens = issuerObject(value)
  if (tokens.jwks().keys.length === 0) {
    throw new InvalidOption(
      `${ISSUER}, with a key pair`,
      'An HS secret also signs tokens, so it is never published. Pass the issuer a key pair',
    )
  }
  return tokens
}

const schema = { tokens: publisher, path: optional(plainPath, ENDPOINTS.keys.path) }

/**
 * Creates the router that publishes an issuer's public keys as a JWK set (RFC 7517 section 5), for `remoteKeys` and other verifiers.
 * Each key has `kid`, `alg` and `use`. The router responds to `GET` and `HEAD` with the media type `application/jwk-set+json`
 * (section 8.5.2).
 *
 * Caches may keep the set for five minutes. To rotate keys, add the new key to every process before one of them signs with it.
 * Verifiers fetch the set again for an unknown `kid`. A removed key is gone from caches after five minutes, and from `remoteKeys` at
 * most its `maxAge` later.
 * @throws TypeError naming the option that is not valid, and for an issuer that has only secrets
 */
export function jwksRouter(options: JwksRouterOptions): Router {
  const { tokens, path } = readOptions<JwksRouterOptions, typeof schema>('jwksRouter', options, schema)
  return keysRouter(tokens, path)
}

/** Creates the router of an issuer that has public keys. */
export function keysRouter(tokens: JwksRouterOptions['tokens'], path: string, refuse?: Refuse): Router {
  const router = express().Router({ caseSensitive: true, strict: true })
  router.get(path, function publicKeys(_req, res) {
    const { headers, body } = keysResponse(JSON.stringify(tokens.jwks()))
    setHeaders(res, headers)
    // As bytes: Express adds a charset to text, which this media type does not have.
    res.send(Buffer.from(body))
  })
  router.all(path, methodNotAllowed('keys', refuse))
  return router
}

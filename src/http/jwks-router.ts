import { Router } from 'express'
import { AuthError } from '../shared/errors.js'
import { type Check, InvalidOption, isPlainObject, optional, readOptions, withMethods } from '../shared/options.js'
import type { TokenIssuer } from '../tokens/tokens.js'
import { ENDPOINTS, keysAnswer, refusalAnswer } from './shared/answers.js'
import { answerThenClose, hasUnreadBody } from './shared/close-after-answer.js'
import { plainPath } from './shared/mount-path.js'
import { sendAnswer, setHeaders } from './shared/send-answer.js'

/** What `jwksRouter` takes. */
export interface JwksRouterOptions {
  /** Whose public keys are shown: what `createTokenIssuer` made, with RS, PS or ES keys. */
  tokens: Pick<TokenIssuer, 'jwks'>
  /** Where the set is, below the router's mount point: a plain path, no patterns. Default `/.well-known/jwks.json`. */
  path?: string | undefined
}

const ISSUER = 'what createTokenIssuer() returned'
const issuerObject = withMethods<Pick<TokenIssuer, 'jwks'>>(ISSUER, ['jwks'], (value) =>
  isPlainObject(value) && 'verify' in value ? 'A verifier shows no keys: their issuer does' : '',
)

const jwkSet: Check<string> = (value) => {
  const { keys } = issuerObject(value).jwks()
  if (keys.length === 0) {
    throw new InvalidOption(
      `${ISSUER}, with RS, PS or ES keys`,
      'An HS secret that others verify with lets them sign too, so it is never shown. Give the issuer a key pair',
    )
  }
  return JSON.stringify({ keys })
}

const schema = { tokens: jwkSet, path: optional(plainPath, ENDPOINTS.keys.path) }

const aliases = { issuer: 'tokens', tokenIssuer: 'tokens', keys: 'tokens', jwks: 'tokens', url: 'path' }

/**
 * Makes the router that shows an issuer's public keys as a JWK set (RFC 7517 section 5), each with `kid`, `alg` and `use`, to
 * `GET` and `HEAD`; for `remoteKeys` and every other verifier. Its media type is `application/jwk-set+json` (section 8.5.2).
 *
 * Caches may keep it for five minutes. That fits rotation: a new key is put into every process's set before one of them signs
 * with it, and verifiers fetch the set again for a `kid` that they do not know; a key that was taken out is gone from caches
 * five minutes later, and from `remoteKeys` at most its `maxAge` after that.
 * @throws TypeError naming the option that cannot be used; so does an issuer that has secrets alone
 */
export function jwksRouter(options: JwksRouterOptions): Router {
  const { tokens: body, path } = readOptions<JwksRouterOptions, typeof schema>('jwksRouter', options, schema, aliases)
  const { headers } = keysAnswer(body)
  const bytes = Buffer.from(body)

  const router = Router({ caseSensitive: true, strict: true })
  router.get(path, function jwksEndpoint(_req, res) {
    setHeaders(res, headers)
    // As bytes: Express adds a charset to text, which the media type does not have.
    res.send(bytes)
  })
  router.all(path, function jwksMethodNotAllowed(req, res) {
    const refusal = refusalAnswer('keys', new AuthError('method_not_allowed'))
    sendAnswer(res, refusal, hasUnreadBody(req, 0) ? answerThenClose : undefined)
  })
  return router
}

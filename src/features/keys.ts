import type { Router } from 'express'
import type { Schema, Success } from '../http/declaration.js'
import { endpoint, endpointRouter } from '../http/endpoint.js'
import { keysResponse } from '../http/responses.js'
import { withMethods } from '../options/checks.js'
import { plainPath } from '../options/plain-path.js'
import { type Check, InvalidOption, optional, readOptions } from '../options/read-options.js'
import { isPlainObject } from '../options/values.js'
import type { TokenIssuer } from '../tokens/tokens.js'
import { type Feature, mount } from './feature.js'

/** The options of `jwksRouter`. */
export interface JwksRouterOptions {
  /** Issuer from `createTokenIssuer` that uses key pairs. */
  tokens: Pick<TokenIssuer, 'jwks'>
  /** Path below the router's mount path, without patterns or a trailing slash. Default: `'/.well-known/jwks.json'`. */
  path?: string | undefined
}

/** The default path of the public keys (RFC 8414 section 2). */
export const KEYS_PATH = '/.well-known/jwks.json'

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

const schema = { tokens: publisher, path: optional(plainPath, KEYS_PATH) }

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
  return endpointRouter(mount(keysFeature, path, { tokens }), {
    emit() {},
    refuse: undefined,
    bodyLimit: 0,
    allowedOrigins: new Set(),
  })
}

export interface KeysParts {
  tokens: JwksRouterOptions['tokens']
}

/** A JWK set (RFC 7517 sections 4 and 5). RFC 7518 section 6 has the members of each kind of key. */
const TokenKeySet: Schema = {
  type: 'object',
  required: ['keys'],
  properties: {
    keys: {
      type: 'array',
      minItems: 1,
      items: {
        type: 'object',
        required: ['kty', 'kid', 'alg', 'use'],
        properties: {
          kty: { type: 'string', enum: ['RSA', 'EC', 'OKP'] },
          kid: { type: 'string' },
          alg: { type: 'string' },
          use: { const: 'sig' },
        },
      },
    },
  },
}

const keySet: Success<object> = {
  description: 'The keys.',
  schema: 'TokenKeySet',
  sample: {},
  respond: (set) => keysResponse(JSON.stringify(set)),
}

/** The public keys of the issuer. */
export const keysFeature: Feature<KeysParts> = {
  at: 'keys',
  schemas: () => ({ TokenKeySet }),
  endpoints: [
    endpoint({
      id: 'listTokenKeys',
      method: 'GET',
      path: '',
      summary: 'Get the public keys that verify tokens',
      description: 'A JWK set (RFC 7517 section 5).',
      responses: { 200: keySet },
      handle:
        ({ tokens }: KeysParts) =>
        () =>
          tokens.jwks(),
    }),
  ],
}

import express, { type Express } from 'express'
import {
  type AuthEvent,
  createTokenVerifier,
  type JwtVerifierOptions,
  type RequireBearerOptions,
  requireBearer,
  type TokenRouterOptions,
  type TokenVerifierOptions,
  tokenRouter,
} from 'express-token-endpoint'
import { fastPasswords, makeIssuer, makeStore } from '../../support/fixtures.js'
import { listen } from '../../support/http.js'
import { send } from '../../support/plain-js/http-client.mjs'
import type { Ours } from './exhibit.js'
import { ISSUER, RSA, SECRET, validPair, validSecret } from './tokens.js'

type OnEvent = (event: AuthEvent) => void

function nameOf(event: AuthEvent): string {
  if (!('code' in event)) return event.type
  return 'reason' in event && event.reason ? `${event.code}: ${event.reason}` : event.code
}

/** Starts an app and returns it as a guard. A request is admitted when the response has one of the statuses. */
export async function serve(build: (onEvent: OnEvent) => Express, admits = [200]): Promise<Ours> {
  const refusals: string[] = []
  const app = build((event) => {
    if (event.type !== 'token.issued') refusals.push(nameOf(event))
  })
  const { port } = await listen(app)
  return {
    guard: async (request) => (admits.includes((await send(port, request)).status) ? 'admitted' : 'refused'),
    refusals,
  }
}

/** Returns our guard with these keys, in front of a route that needs a token. */
export function guardWith(keys: TokenVerifierOptions['keys'], options: Partial<RequireBearerOptions> = {}) {
  return (verifier?: Partial<JwtVerifierOptions>) =>
    serve((onEvent) => {
      const own = { issuer: ISSUER, keys, clock: () => Date.now(), ...verifier } as JwtVerifierOptions
      const tokens = createTokenVerifier(own)
      // An optional guard admits a request without a token, but the route sees no account.
      return express().all('/', requireBearer({ tokens, onEvent, ...options }), (req, res) => {
        res.sendStatus(req.auth ? 200 : 204)
      })
    })
}

export const SECRET_KEY = { alg: 'HS256', secret: SECRET, kid: 'k1' } as const
/** Our guard with a secret, and with a public key, each with a valid request. */
export const bySecret = { control: validSecret, ours: guardWith(SECRET_KEY) }
export const byPair = {
  control: validPair,
  ours: guardWith({ alg: 'RS256', publicKey: RSA.publicKey, kid: 'k1' }),
}

/** Returns our login endpoint behind one proxy. */
export function loginWith(options: Partial<TokenRouterOptions> = {}, admits?: number[]) {
  return () =>
    serve((onEvent) => {
      const parts = { tokens: makeIssuer(), accounts: makeStore(), passwords: fastPasswords() }
      return express()
        .set('trust proxy', 1)
        .use(tokenRouter({ ...parts, onEvent, ...options }))
    }, admits)
}

import express, { type Express } from 'express'
import {
  type AuthEvent,
  type AuthOptions,
  createAuth,
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
import { EC, ISSUER, present, RSA, SECRET, token } from './tokens.js'

type OnEvent = (event: AuthEvent) => void

function nameOf(event: AuthEvent): string {
  if (!('code' in event)) return event.type
  return 'reason' in event && event.reason ? `${event.code}: ${event.reason}` : event.code
}

/** Starts an app and returns it as a guard. A request is admitted when the response has one of the statuses. */
async function serve(build: (onEvent: OnEvent) => Express, admits = [200]): Promise<Ours & { port: number }> {
  const refusals: string[] = []
  const app = build((event) => {
    if (event.type !== 'token.issued') refusals.push(nameOf(event))
  })
  const { port } = await listen(app)
  return {
    guard: async (request) => (admits.includes((await send(port, request)).status) ? 'admitted' : 'refused'),
    refusals,
    port,
  }
}

/** Returns our guard with these keys, in front of a route that needs a token. `extend` adds routes before it. */
export function guardWith(
  keys: TokenVerifierOptions['keys'],
  options: Partial<RequireBearerOptions> = {},
  extend = (app: Express, _guard: express.RequestHandler) => app,
) {
  return (verifier?: Partial<JwtVerifierOptions>) =>
    serve((onEvent) => {
      const own = { issuer: ISSUER, keys, clock: () => Date.now(), ...verifier } as JwtVerifierOptions
      const guard = requireBearer({ tokens: createTokenVerifier(own), onEvent, ...options })
      // An optional guard admits a request without a token, but the route sees no account.
      return extend(express(), guard).all('/', guard, (req, res) => void res.sendStatus(req.auth ? 200 : 204))
    })
}

export const SECRET_KEY = { alg: 'HS256', secret: SECRET, kid: 'k1' } as const

export const validSecret = (typ: string) => present(token(typ))
/** Our guard with a secret, and a valid request. `refusal` is the code and the reason with which it refuses the attack. */
export const bySecret = (refusal: string) => ({ control: validSecret, ours: guardWith(SECRET_KEY), refusal })

/** The same with a public key of RSA, and of P-256. */
const byKeyOf =
  (alg: 'RS256' | 'ES256', { publicKey, privateKey: key }: typeof RSA) =>
  (refusal: string) => ({
    control: (typ: string) => present(token(typ, { alg, key })),
    ours: guardWith({ alg, publicKey, kid: 'k1' }),
    refusal,
  })
export const byPair = byKeyOf('RS256', RSA)
export const byEc = byKeyOf('ES256', EC)

/** Returns our login endpoint behind one proxy, with a guarded route. `before` is a middleware of the host. */
export function loginWith(
  options: Partial<TokenRouterOptions> = {},
  admits?: number[],
  mount = '/',
  before: express.RequestHandler = (_req, _res, next) => next(),
) {
  return () =>
    serve((onEvent) => {
      const parts = { tokens: makeIssuer(), accounts: makeStore(), passwords: fastPasswords(), onEvent }
      const app = express().set('trust proxy', 1).use(before)
      app.use(mount, tokenRouter({ ...parts, ...options }))
      return app.get('/', requireBearer({ tokens: parts.tokens, onEvent }), (_req, res) => void res.sendStatus(200))
    }, admits)
}

/** Starts our app of `createAuth` with a guarded route. Collects the code and the reason of each refusal. */
export async function appWith(options: Partial<AuthOptions>, refusals: string[]) {
  const auth = createAuth({
    issuer: ISSUER,
    secret: SECRET,
    accounts: makeStore(),
    passwords: fastPasswords(),
    clock: () => Date.now(),
    onEvent: (event) => void ('code' in event && refusals.push(nameOf(event))),
    ...options,
  })
  const app = express().use(auth.router)
  return listen(app.get('/', auth.guard(), (_req, res) => void res.sendStatus(200)))
}

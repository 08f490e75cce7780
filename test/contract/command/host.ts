import { generateKeyPairSync } from 'node:crypto'
import express, { type ErrorRequestHandler, type RequestHandler, type Response } from 'express'
import {
  type AccountLookup,
  AuthError,
  createTokenIssuer,
  jwksRouter,
  memoryAccounts,
  type Passwords,
  requireBearer,
  type TokenIssuer,
  type TokenIssuerOptions,
  tokenRouter,
  type VerifiedToken,
} from 'express-token-endpoint'
import jwt from 'jsonwebtoken'
import { readCompact } from '../../../src/tokens/jwt/compact-jws.js'
import { ACCOUNTS, fastPasswords } from '../../support/fixtures.js'
import { privatePem } from '../../support/keys.js'

export const STATEMENTS = '/statements'
export const REPORTS = '/reports'
/** A route that needs a sign-in of the last five minutes. */
export const PASSWORD_CHANGE = '/password-change'

export const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })
export const HERE = 'https://api.example.com'
export const THERE = 'https://sandbox.example.com'

export const issuerOf = (options: Partial<TokenIssuerOptions> = {}) =>
  createTokenIssuer({ issuer: HERE, keys: { alg: 'ES256', privateKey: privatePem(pair.privateKey) }, ...options })

/** The parts of an app. A test plants a fault by replacing a part. */
export interface Parts {
  tokens: TokenIssuer
  accounts: AccountLookup
  passwords: Passwords
  /** Runs before everything else. */
  before: RequestHandler[]
  /** Publishes the keys. */
  keys: RequestHandler
  /** The guard of the route that needs a recent sign-in. */
  recent: RequestHandler
  /** The guards of the two guarded routes. */
  guards: readonly [RequestHandler[], RequestHandler[]]
  after: ErrorRequestHandler[]
}

export function soundParts(tokens: TokenIssuer = issuerOf()): Parts {
  const guard = requireBearer({ tokens })
  const store = memoryAccounts([ACCOUNTS.alice])
  return {
    tokens,
    accounts: (email) => store.findByEmail(email),
    passwords: fastPasswords(),
    before: [],
    keys: jwksRouter({ tokens }),
    guards: [[guard], [guard]],
    recent: requireBearer({ tokens, signedInWithin: '5m' }),
    after: [],
  }
}

export function appOf({ tokens, accounts, passwords, before, keys, guards, recent, after }: Parts) {
  const app = express()
  const answer: RequestHandler = (_req, res) => {
    res.json([])
  }
  app.use(...before, (_req, _res, next) => next())
  app.use(keys)
  app.use(tokenRouter({ tokens, accounts, passwords }))
  app.get(STATEMENTS, ...guards[0], answer)
  app.get(REPORTS, ...guards[1], answer)
  app.get(PASSWORD_CHANGE, recent, answer)
  for (const handler of after) app.use(handler)
  return app
}

/** Changes responses just before they are sent. */
export const altering =
  (change: (body: string, res: Response) => string): RequestHandler =>
  (_req, res, next) => {
    const end = res.end.bind(res) as (body?: unknown) => Response
    res.end = ((chunk?: unknown) => {
      if (res.headersSent) return end(chunk)
      const body = change(Buffer.from((chunk as Uint8Array | undefined) ?? '').toString(), res)
      res.setHeader('Content-Length', Buffer.byteLength(body))
      return end(body)
    }) as typeof res.end
    next()
  }

/** Changes the members of a token response. */
export const alteringResult = (change: (result: Record<string, string>) => object) =>
  altering((body, { statusCode, req }) =>
    statusCode === 200 && req.method === 'POST' ? JSON.stringify(change(JSON.parse(body))) : body,
  )

/** Reads the body of a POST before the router does, and may replace it. */
export const readingFirst =
  (change: (body: string, req: Parameters<RequestHandler>[0], res: Response) => unknown): RequestHandler =>
  async (req, res, next) => {
    if (req.method !== 'POST' || Number(req.headers['content-length']) > 10_000) return next()
    const chunks: Buffer[] = []
    for await (const chunk of req) chunks.push(chunk)
    const bytes = Buffer.concat(chunks)
    req.body = change(bytes.toString(), req, res) ?? bytes
    if (!res.headersSent) next()
  }

/** JSON members, or nothing. */
export function membersOf(body: string): Record<string, unknown> {
  try {
    return { ...JSON.parse(body) }
  } catch {
    return {}
  }
}

/** Puts another `Authorization` before the guard. */
export const rewriting =
  (change: (header: string | undefined, req: Parameters<RequestHandler>[0]) => string | undefined): RequestHandler =>
  (req, _res, next) => {
    const changed = change(req.headers.authorization, req)
    if (changed !== undefined && changed !== req.headers.authorization) {
      req.headers.authorization = changed
      const others = req.rawHeaders.flatMap((name, i, all) =>
        i % 2 === 0 && name.toLowerCase() !== 'authorization' ? [name, all[i + 1] ?? ''] : [],
      )
      req.rawHeaders.splice(0, req.rawHeaders.length, ...others, 'Authorization', changed)
    }
    next()
  }

/** Creates a guard that accepts some invalid tokens. */
export function credulous(parts: Parts, believes: (token: string) => boolean): Partial<Parts> {
  const { token } = parts.tokens.issue({ accountId: ACCOUNTS.alice.id })
  const lets = rewriting((header, { headersDistinct }) => {
    const given = /^Bearer ([\w.~+/-]+=*)$/.exec(header ?? '')?.[1]
    const alone = headersDistinct['authorization']?.length === 1
    // Three words that are not a token get past no verifier, however credulous.
    const looks = given !== undefined && /^eyJ[^.]*\.[^.]*\.?/.test(given)
    return alone && looks && believes(given) ? `Bearer ${token}` : header
  })
  return {
    guards: [
      [lets, ...parts.guards[0]],
      [lets, ...parts.guards[1]],
    ],
  }
}

/** An issuer that signs other headers and claims than ours, and takes them back. */
export function oddTokens(change: { header?: object; claims?: (claims: jwt.JwtPayload) => object }): TokenIssuer {
  const issuer = issuerOf()
  return {
    ...issuer,
    issue(subject) {
      const issued = issuer.issue(subject)
      const { header, payload } = jwt.decode(issued.token, { complete: true }) as jwt.Jwt
      const claims = change.claims?.(payload as jwt.JwtPayload) ?? payload
      const options = { algorithm: 'ES256', header: { ...header, ...change.header } } as jwt.SignOptions
      return { ...issued, token: jwt.sign(claims, pair.privateKey, options) }
    },
    async verify(token) {
      if (!readCompact(token)) throw new AuthError('invalid_token')
      try {
        const {
          jti = 'none',
          sub = '',
          exp = 0,
        } = jwt.verify(token, pair.publicKey, {
          algorithms: ['ES256'],
          issuer: HERE,
        }) as jwt.JwtPayload
        const [issuedAt, expiresAt] = [new Date(), new Date(exp * 1000)]
        const about = { id: jti, accountId: sub, issuer: HERE, audience: HERE, scopes: [], claims: {} }
        return { ...about, issuedAt, expiresAt } satisfies VerifiedToken
      } catch {
        throw new AuthError('invalid_token')
      }
    },
  }
}

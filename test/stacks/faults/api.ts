import { createHmac, generateKeyPairSync, type KeyObject } from 'node:crypto'
import express, { type ErrorRequestHandler, type Request, type RequestHandler, type Response } from 'express'
import jwt from 'jsonwebtoken'
import { ACCOUNTS, PASSWORD } from '../../support/fixtures.js'

export interface User {
  id: string
  email: string
  password: string
}

export const USER: User = { id: ACCOUNTS.alice.id, email: ACCOUNTS.alice.email, password: PASSWORD }

/** A path that one guard protects, and a path that another guard protects. */
export const ME = '/api/me'
export const ORDERS = '/api/orders'

type Claims = jwt.JwtPayload

/** The parts of a password-to-token API. A fault replaces a part. */
export interface Api {
  /** The secret of HS256, or a pair for RS256. */
  secret: string
  pair: { publicKey: KeyObject; privateKey: KeyObject }
  issuer: string
  before: RequestHandler[]
  /** Reads the credentials. Undefined: the request is malformed. */
  readLogin(req: Request): { email: unknown; password: unknown } | undefined
  findUser(email: unknown): User | undefined
  matches(password: unknown, user: User | undefined): boolean
  /** Called for an unknown address, so that its response takes as long. */
  decoy(password: unknown): void
  /** Returns whether the account of a token exists. */
  exists(claims: Claims): boolean
  /** The most wrong passwords for one address. */
  limit: number
  claims(user: User): Claims
  sign(claims: Claims): string
  grant(res: Response, token: string, user: User): void
  refuseLogin(res: Response, user: User | undefined): void
  malformed(res: Response): void
  /** Reads the token of a request. */
  readToken(req: Request): string | undefined
  /** Returns the claims, or throws. */
  verify(token: string): Claims
  /** Lets a request pass without a token. */
  exempt(req: Request): boolean
  refuse(res: Response, reason: 'missing' | 'invalid'): void
  failed: ErrorRequestHandler
  /** Routes before the guarded ones. */
  routes: [path: string, handler: RequestHandler][]
}

const pair = generateKeyPairSync('rsa', { modulusLength: 2048 })

/** An API without a fault that a row finds. */
export function soundApi(issuer: string): Api {
  const api: Api = {
    secret: createHmac('sha256', 'test').update(String(process.pid)).digest('hex'),
    pair,
    issuer,
    before: [],
    readLogin({ body }) {
      const { email, password } = (body ?? {}) as Record<string, unknown>
      return typeof email === 'string' && typeof password === 'string' ? { email, password } : undefined
    },
    findUser: (email) => (email === USER.email ? USER : undefined),
    matches: (password, user) => password === user?.password,
    decoy: (password) => void api.matches(password, USER),
    exists: ({ sub }) => sub === undefined || sub === USER.id,
    limit: 20,
    claims: ({ id }) => ({ sub: id, iss: api.issuer, jti: crypto.randomUUID() }),
    sign: (claims) =>
      jwt.sign(claims, api.secret, {
        algorithm: 'HS256',
        expiresIn: 'exp' in claims ? undefined : 3600,
      } as jwt.SignOptions),
    grant: (res, token) => void res.json({ access_token: token, token_type: 'Bearer', expires_in: 3600 }),
    refuseLogin: (res) => void res.status(401).json({ error: 'invalid_credentials' }),
    malformed: (res) => void res.status(400).json({ error: 'invalid_request' }),
    readToken: ({ headers }) => /^Bearer ([\w.~+/-]+=*)$/i.exec(headers.authorization ?? '')?.[1],
    verify: (token) =>
      jwt.verify(canonical(token), api.secret, { algorithms: ['HS256'], issuer: api.issuer }) as Claims,
    exempt: () => false,
    refuse(res, reason) {
      const error = reason === 'invalid' ? ', error="invalid_token"' : ''
      res.status(401).set('WWW-Authenticate', `Bearer realm="api"${error}`).json({ error: 'unauthorized' })
    },
    failed: (error, _req, res, _next) => void res.status(error.status ?? 500).json({ error: 'failed' }),
    routes: [],
  }
  return api
}

export function appOf(api: Api) {
  const app = express()
  const wrong = new Map<string, number>()
  app.disable('etag')
  app.use(...api.before, (_req, res, next) => {
    res.set('Cache-Control', 'no-store')
    next()
  })
  app.use(express.json())
  app.post('/api/login', (req, res) => {
    const credentials = api.readLogin(req)
    if (!credentials) return api.malformed(res)
    const user = api.findUser(credentials.email)
    if (!user) api.decoy(credentials.password)
    if (!user || !api.matches(credentials.password, user)) {
      const address = String(credentials.email)
      wrong.set(address, (wrong.get(address) ?? 0) + 1)
      return (wrong.get(address) ?? 0) > api.limit ? void res.sendStatus(429) : api.refuseLogin(res, user)
    }
    api.grant(res, api.sign(api.claims(user)), user)
  })
  for (const [path, handler] of api.routes) app.use(path, handler)
  const guard: RequestHandler = (req, res, next) => {
    if (api.exempt(req)) return next()
    const token = api.readToken(req)
    if (!token) return api.refuse(res, 'missing')
    try {
      if (!api.exists(api.verify(token))) return api.refuse(res, 'invalid')
    } catch {
      return api.refuse(res, 'invalid')
    }
    next()
  }
  app.all([ME, ORDERS], guard, (_req, res) => void res.json({ orders: [] }))
  app.use((_req, res) => void res.status(404).json({ error: 'not_found' }))
  app.use(api.failed)
  return app
}

/** Returns a token in its one spelling, or throws. */
export function canonical(token: string): string {
  for (const part of token.split('.')) {
    if (Buffer.from(part, 'base64url').toString('base64url') !== part) throw new Error('another spelling')
  }
  return token
}

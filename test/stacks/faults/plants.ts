import {
  createHash,
  createHmac,
  createPublicKey,
  type JsonWebKey,
  randomBytes,
  timingSafeEqual,
  verify,
} from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Request } from 'express'
import jwt from 'jsonwebtoken'
import { type Api, canonical, ME, ORDERS, USER } from './api.js'

export interface Plant {
  /** The fault, in words for the list. */
  name: string
  plant: (sound: Api) => Partial<Api>
}

const md5 = (text: string) => createHash('md5').update(text).digest('hex')
const decoded = (token: string) => jwt.decode(token, { complete: true })
const parsed = (part = '') => JSON.parse(Buffer.from(part, 'base64url').toString())
const hmac = (token: string, secret: string | Buffer) => {
  const [head, payload, signature] = token.split('.')
  return createHmac('sha256', secret).update(`${head}.${payload}`).digest('base64url') === signature
}
/** Verifies as the sound API does. Accepts in addition what `also` accepts. */
const accepting = (also: (token: string, api: Api) => boolean) => (api: Api) => ({
  verify(token: string) {
    try {
      return api.verify(token)
    } catch (error) {
      if (token.split('.').length >= 2 && also(token, api)) return {}
      throw error
    }
  },
})
const pem = (api: Api) => api.pair.publicKey.export({ type: 'spki', format: 'pem' })
const HASH = `$2b$10$${'x'.repeat(53)}`
/** An API with opaque tokens, which it finds by `has`. */
const opaque = (has: (known: string, given: string) => boolean, make = () => randomBytes(32).toString('base64url')) => {
  const known: string[] = []
  return {
    sign() {
      const token = make()
      known.push(token)
      return token
    },
    verify: (token: string) => found(known.some((one) => has(one, token))),
  }
}
const found = (has: boolean) => {
  if (!has) throw new Error('unknown')
  return {}
}
const bodyOf = (req: Request) => (req.body ?? {}) as Record<string, unknown>
const publishing = (api: Api): Partial<Api> => ({
  sign: (claims) => jwt.sign(claims, api.pair.privateKey, { algorithm: 'RS256', expiresIn: 3600, keyid: 'k1' }),
  routes: [
    [
      '/.well-known/jwks.json',
      (_req, res) => {
        const jwk = api.pair.publicKey.export({ format: 'jwk' })
        res.json({ keys: [{ ...jwk, kid: 'k1', alg: 'RS256', use: 'sig' }] })
      },
    ],
  ],
})
const byHeader = (api: Api, token: string) => {
  const { alg } = parsed(token.split('.')[0])
  if (alg === 'HS256') {
    if (!hmac(token, pem(api))) throw new Error('signature')
    return parsed(token.split('.')[1])
  }
  return jwt.verify(canonical(token), api.pair.publicKey, { algorithms: ['RS256'] }) as jwt.JwtPayload
}

/** Faults of the guard's verification. */
const tokens: Plant[] = [
  {
    name: 'decodes the token and does not verify it',
    plant: () => ({ verify: (token) => found(decoded(token) !== null) }),
  },
  { name: 'accepts alg none', plant: accepting((token) => /^none$/i.test(parsed(token.split('.')[0]).alg)) },
  { name: 'accepts alg nOnE', plant: accepting((token) => parsed(token.split('.')[0]).alg === 'nOnE') },
  { name: 'skips the check of an empty signature', plant: accepting((token) => token.endsWith('.')) },
  { name: 'accepts a token of two parts', plant: accepting((token) => token.split('.').length === 2) },
  {
    name: 'ignores exp',
    plant: (api) => ({
      verify: (token) =>
        jwt.verify(token, api.secret, {
          algorithms: ['HS256'],
          issuer: api.issuer,
          ignoreExpiration: true,
        }) as jwt.JwtPayload,
    }),
  },
  {
    name: 'ignores iss, with one secret for all environments',
    plant: (api) => ({
      verify: (token) => jwt.verify(canonical(token), api.secret, { algorithms: ['HS256'] }) as jwt.JwtPayload,
    }),
  },
  {
    name: 'compares the first eight bytes of the signature',
    plant: accepting((token, api) => {
      const [head, payload, signature = ''] = token.split('.')
      const mac = createHmac('sha256', api.secret).update(`${head}.${payload}`).digest()
      const given = Buffer.from(signature, 'base64url')
      return (
        given.length >= 8 &&
        timingSafeEqual(mac.subarray(0, 8), given.subarray(0, 8)) &&
        parsed(payload).iss === api.issuer &&
        parsed(payload).exp > Date.now() / 1000
      )
    }),
  },
  {
    name: 'verifies with the key in the header',
    plant: accepting((token) => {
      const { jwk, alg } = parsed(token.split('.')[0])
      if (!jwk) return false
      const [head, payload, signature = ''] = token.split('.')
      const key = {
        key: createPublicKey({ key: jwk as JsonWebKey, format: 'jwk' }),
        dsaEncoding: 'ieee-p1363' as const,
      }
      return (
        alg === 'ES256' && verify('sha256', Buffer.from(`${head}.${payload}`), key, Buffer.from(signature, 'base64url'))
      )
    }),
  },
  {
    name: 'takes the public key for a secret',
    plant: (api) => ({ ...publishing(api), verify: (token) => byHeader(api, token) }),
  },
  {
    name: 'reads the secret from the file that kid names',
    plant: accepting((token) => {
      const { kid } = parsed(token.split('.')[0])
      return typeof kid === 'string' && kid.endsWith('/dev/null') && hmac(token, readFileSync('/dev/null'))
    }),
  },
  {
    name: 'puts kid into a query',
    plant: accepting((token) => {
      const { kid } = parsed(token.split('.')[0])
      // The result of a database for: SELECT secret FROM keys WHERE kid = '…'
      const row = /^' UNION SELECT '(.*)' -- $/.exec(String(kid))?.[1]
      return row !== undefined && hmac(token, row)
    }),
  },
  {
    name: 'has an empty secret for an unknown kid',
    plant: accepting((token) => 'kid' in parsed(token.split('.')[0]) && hmac(token, '')),
  },
  {
    name: 'accepts an ECDSA signature of zeros',
    plant: accepting((token) => parsed(token.split('.')[0]).alg === 'ES256' && /\.A+$/.test(token)),
  },
  {
    name: 'accepts other spellings of base64',
    plant: (api) => ({
      verify: (token) => {
        const [head, payload, signature = ''] = token.split('.')
        return jwt.verify(`${head}.${payload}.${Buffer.from(signature, 'base64').toString('base64url')}`, api.secret, {
          algorithms: ['HS256'],
          issuer: api.issuer,
        }) as jwt.JwtPayload
      },
      readToken: ({ headers }) => /^Bearer (\S+)$/i.exec(headers.authorization ?? '')?.[1],
    }),
  },
  { name: 'signs with a secret of a tutorial', plant: () => ({ secret: 'your_jwt_secret' }) },
  { name: 'signs with the secret "secret"', plant: () => ({ secret: 'secret' }) },
  { name: 'issues tokens without exp', plant: (api) => ({ sign: (claims) => jwt.sign(claims, api.secret) }) },
  {
    name: 'issues tokens for a year',
    plant: (api) => ({ sign: (claims) => jwt.sign(claims, api.secret, { expiresIn: '365d' }) }),
  },
  {
    name: 'puts the user with the hash into the token',
    plant: (api) => ({ claims: (user) => ({ ...api.claims(user), user: { ...user, password: HASH } }) }),
  },
  { name: 'puts the password into the token', plant: (api) => ({ claims: (user) => ({ ...api.claims(user), user }) }) },
  {
    name: 'issues one token to all logins of a second',
    plant: (api) => ({ claims: ({ id }) => ({ sub: id, iss: api.issuer }) }),
  },
  {
    name: 'says another expiration than exp',
    plant: () => ({ grant: (res, token) => void res.json({ access_token: token, expires_in: 86_400 }) }),
  },
  {
    name: 'finds an opaque token by its start',
    plant: () => opaque((known, given) => known.startsWith(given.slice(0, -1))),
  },
  {
    name: 'finds an opaque token without case',
    plant: () => opaque((known, given) => known.toLowerCase() === given.toLowerCase()),
  },
]

/** Faults of the guard around the verification. */
const guards: Plant[] = [
  { name: 'leaves one path open', plant: () => ({ exempt: (req) => req.path === ORDERS }) },
  { name: 'guards one spelling of the path', plant: () => ({ exempt: (req) => ![ME, ORDERS].includes(req.path) }) },
  { name: 'guards only GET', plant: () => ({ exempt: (req) => req.method !== 'GET' }) },
  { name: 'does not guard HEAD', plant: () => ({ exempt: (req) => req.method === 'HEAD' }) },
  {
    name: 'skips a request that calls itself internal',
    plant: () => ({ exempt: (req) => 'x-middleware-subrequest' in req.headers }),
  },
  { name: 'believes the user name of a proxy', plant: () => ({ exempt: (req) => 'x-forwarded-user' in req.headers }) },
  {
    name: 'lets this machine in, by X-Forwarded-For',
    plant: () => ({ exempt: (req) => req.headers['x-forwarded-for'] === '127.0.0.1' }),
  },
  {
    name: 'reads the method from a header',
    plant: () => ({ exempt: (req) => req.headers['x-http-method-override'] === 'OPTIONS' }),
  },
  {
    name: 'reads a token from the query',
    plant: (api) => ({ readToken: (req) => api.readToken(req) ?? (req.query['access_token'] as string | undefined) }),
  },
  {
    name: 'reads a token from the query, as "token"',
    plant: (api) => ({ readToken: (req) => api.readToken(req) ?? (req.query['token'] as string | undefined) }),
  },
  {
    name: 'accepts only one case of the scheme',
    plant: () => ({ readToken: ({ headers }) => /^Bearer ([\w.-]+)$/.exec(headers.authorization ?? '')?.[1] }),
  },
  {
    name: 'takes the first of two tokens in a header',
    plant: () => ({
      readToken: ({ headers }) => headers.authorization?.split(' ')[1],
      exempt: (req) => req.headers.authorization?.split(' ').length === 3,
    }),
  },
  {
    name: 'fails with 500 for a token that cannot be parsed',
    plant: (api) => ({
      refuse: (res, reason) => (reason === 'invalid' ? void res.status(500).end() : api.refuse(res, reason)),
    }),
  },
  {
    name: 'fails with 500 without a token',
    plant: (api) => ({
      refuse: (res, reason) => (reason === 'missing' ? void res.status(500).end() : api.refuse(res, reason)),
    }),
  },
  {
    name: 'lets "Bearer undefined" in',
    plant: () => ({ exempt: (req) => req.headers.authorization === 'Bearer undefined' }),
  },
  { name: 'redirects to a page instead of 401', plant: () => ({ refuse: (res) => void res.redirect('/login') }) },
  {
    name: 'refuses with 200',
    plant: () => ({ refuse: (res) => void res.status(200).json({ error: 'unauthorized' }) }),
  },
  {
    name: 'refuses without a challenge',
    plant: () => ({ refuse: (res) => void res.status(401).json({ error: 'unauthorized' }) }),
  },
  {
    name: 'repeats the token in its refusal',
    plant: () => ({
      refuse: (res) =>
        void res.status(401).set('WWW-Authenticate', 'Bearer').json({ got: res.req.headers.authorization }),
    }),
  },
  {
    name: 'shows a stack trace',
    plant: (api) => ({
      refuse: (res, reason) =>
        reason === 'invalid'
          ? void res
              .status(401)
              .set('WWW-Authenticate', 'Bearer error="invalid_token"')
              .send(new Error('invalid').stack)
          : api.refuse(res, reason),
    }),
  },
]

/** Faults of the login. */
const logins: Plant[] = [
  {
    name: 'tells unknown addresses by the status',
    plant: (api) => ({
      refuseLogin: (res, user) => (user ? api.refuseLogin(res, user) : void res.status(404).json({ error: 'no_user' })),
    }),
  },
  {
    name: 'tells unknown addresses by the message',
    plant: () => ({
      refuseLogin: (res, user) => void res.status(401).json({ error: user ? 'wrong password' : 'no such user' }),
    }),
  },
  {
    name: 'tells unknown addresses by a header',
    plant: (api) => ({
      refuseLogin: (res, user) => api.refuseLogin(user ? res.set('X-Attempts-Left', '4') : res, user),
    }),
  },
  {
    name: 'tells unknown addresses by a cookie',
    plant: (api) => ({ refuseLogin: (res, user) => api.refuseLogin(user ? res.cookie('last', 'x') : res, user) }),
  },
  { name: 'refuses with 200', plant: () => ({ refuseLogin: (res) => void res.json({ success: false }) }) },
  {
    name: 'trims passwords',
    plant: () => ({ matches: (password, user) => String(password).trim() === user?.password }),
  },
  {
    name: 'compares passwords without case',
    plant: () => ({ matches: (password, user) => String(password).toLowerCase() === user?.password.toLowerCase() }),
  },
  {
    name: 'compares the first eight characters',
    plant: () => ({ matches: (password, user) => String(password).slice(0, 8) === user?.password.slice(0, 8) }),
  },
  {
    name: 'passes objects into a query',
    plant: () => ({
      readLogin: (req) => bodyOf(req) as { email: unknown; password: unknown },
      matches: (password, user) =>
        password === user?.password || (typeof password === 'object' && password !== null && '$ne' in password),
    }),
  },
  {
    name: 'passes objects as the address into a query',
    plant: (api) => ({
      readLogin: (req) => bodyOf(req) as { email: unknown; password: unknown },
      findUser: (email) => (typeof email === 'object' ? USER : api.findUser(email)),
    }),
  },
  {
    name: 'fails with 500 for an object',
    plant: (api) => ({
      readLogin: (req) => {
        const { password } = bodyOf(req)
        if (typeof password === 'object') throw new Error('trim is not a function')
        return api.readLogin(req)
      },
    }),
  },
  {
    name: 'fails with 500 for a missing password',
    plant: (api) => ({ malformed: (res) => void res.status(500).json({ error: 'failed' }), readLogin: api.readLogin }),
  },
  {
    name: 'fails with 500 for malformed JSON',
    plant: () => ({ failed: (_error, _req, res, _next) => void res.status(500).json({ error: 'failed' }) }),
  },
  {
    name: 'shows the parser’s error and stack',
    plant: () => ({ failed: (error, _req, res, _next) => void res.status(error.status ?? 500).send(error.stack) }),
  },
  {
    name: 'reads credentials from the query',
    plant: (api) => ({
      readLogin: (req) =>
        'email' in req.query ? ({ ...req.query } as { email: unknown; password: unknown }) : api.readLogin(req),
    }),
  },
  {
    name: 'takes logins by GET',
    plant: () => ({
      routes: [
        [
          '/api/login',
          (req, res, next) => (req.method === 'GET' && 'email' in req.query ? void res.status(401).end() : next()),
        ],
      ],
    }),
  },
  {
    name: 'reads Basic credentials',
    plant: (api) => ({
      readLogin: (req) =>
        req.headers.authorization?.startsWith('Basic') ? { email: 'x', password: 'y' } : api.readLogin(req),
    }),
  },
  {
    name: 'parses JSON of any content type',
    plant: (api) => ({
      before: [
        (req, _res, next) => {
          if (req.headers['content-type'] === 'text/plain') req.headers['content-type'] = 'application/json'
          next()
        },
      ],
      readLogin: api.readLogin,
    }),
  },
  {
    name: 'returns the user with the hash',
    plant: () => ({
      grant: (res, token, user) =>
        void res.json({ access_token: token, expires_in: 3600, user: { ...user, password: HASH } }),
    }),
  },
  {
    name: 'returns the password',
    plant: () => ({ grant: (res, token, user) => void res.json({ access_token: token, expires_in: 3600, user }) }),
  },
  {
    name: 'lets the token be cached',
    plant: () => ({
      grant: (res, token) =>
        void res.set('Cache-Control', 'public, max-age=60').json({ access_token: token, expires_in: 3600 }),
    }),
  },
  {
    name: 'returns the token as text/html',
    plant: () => ({
      grant: (res, token) => void res.type('html').send(JSON.stringify({ access_token: token, expires_in: 3600 })),
    }),
  },
  {
    name: 'allows every origin with credentials',
    plant: () => ({
      before: [
        (req, res, next) => {
          res.set({
            'Access-Control-Allow-Origin': req.headers.origin ?? '*',
            'Access-Control-Allow-Credentials': 'true',
          })
          next()
        },
      ],
    }),
  },
  {
    name: 'gives a token to every method',
    plant: (api) => ({
      routes: [
        [
          '/api/login',
          (req, res, next) =>
            ['PUT', 'DELETE'].includes(req.method) ? api.grant(res, api.sign(api.claims(USER)), USER) : next(),
        ],
      ],
    }),
  },
  {
    name: 'gives a token for OPTIONS',
    plant: (api) => ({
      before: [
        (req, res, next) => (req.method === 'OPTIONS' ? api.grant(res, api.sign(api.claims(USER)), USER) : next()),
      ],
    }),
  },
  { name: 'does not limit guesses', plant: () => ({ limit: Number.POSITIVE_INFINITY }) },
]

/** Faults that no request of the check shows. They count as not found. */
const unseen: Plant[] = [
  { name: 'looks up the password only for known addresses', plant: () => ({ decoy: () => {} }) },
  {
    name: 'ignores nbf',
    plant: (api) => ({
      verify: (token) =>
        jwt.verify(canonical(token), api.secret, {
          algorithms: ['HS256'],
          issuer: api.issuer,
          ignoreNotBefore: true,
        }) as jwt.JwtPayload,
    }),
  },
  { name: 'accepts tokens of deleted accounts', plant: () => ({ exists: () => true }) },
  {
    name: 'compares passwords by MD5',
    plant: () => ({ matches: (password, user) => md5(String(password)) === md5(user?.password ?? '') }),
  },
  {
    name: 'compares the first 72 bytes of passwords',
    plant: () => ({ matches: (password, user) => String(password).slice(0, 72) === user?.password.slice(0, 72) }),
  },
  {
    name: 'lets anyone into an account without a password',
    plant: (api) => ({
      findUser: (email) => (email === 'invited@example.com' ? { ...USER, password: '' } : api.findUser(email)),
      matches: (password, user) => user?.password === '' || password === user?.password,
    }),
  },
  {
    name: 'makes opaque tokens with Math.random()',
    plant: () =>
      opaque(
        (known, given) => known === given,
        () => `${Math.random()}${Math.random()}`,
      ),
  },
]

export const PLANTS: readonly Plant[] = [...tokens, ...guards, ...logins, ...unseen]

// An API with another format, without a fault that a row finds. `check-mapped.diff` plants faults in copies of this file.
// biome-ignore-all lint/correctness: faults use what nothing uses here
import { createHmac, createPublicKey, generateKeyPairSync, randomBytes, verify as verifySignature } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import express from 'express'
import jwt from 'jsonwebtoken'

export const [HERE, THERE] = ['https://api.example.com', 'https://sandbox.example.com']
export const USER = { id: 'acc-1', email: 'alice@example.com', password: 'correct horse battery staple' }
export const MAPPING = fileURLToPath(new URL('mapping.json', import.meta.url))
const [ME, ORDERS] = ['/api/me', '/api/orders']
const HASH = `$2b$10$${'x'.repeat(53)}`
const SECRET = createHmac('sha256', 'test').update(String(process.pid)).digest('hex')

const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const PEM = publicKey.export({ type: 'spki', format: 'pem' })
const md5 = (text) => createHmac('md5', 'salt').update(text).digest('hex')
const parsed = (part) => JSON.parse(Buffer.from(part, 'base64url').toString())
const headerOf = (token) => parsed(token.split('.')[0])
const claimsOf = (token) => parsed(token.split('.')[1])
const macOf = (token, secret) =>
  createHmac('sha256', secret)
    .update(token.replace(/\.[^.]*$/, ''))
    .digest()
const hasMac = (token, secret) => macOf(token, secret).toString('base64url') === token.split('.')[2]
/** Returns a token in its one spelling, or throws. */
function canonical(token) {
  const isOdd = token.split('.').some((part) => Buffer.from(part, 'base64url').toString('base64url') !== part)
  if (isOdd) throw new Error('another spelling')
  return token
}

/** @param limit the most wrong passwords for one address */
export function createApp(issuer, limit = 20) {
  const claimsFor = ({ id }) => ({ sub: id, iss: issuer, jti: crypto.randomUUID() })
  const sign = (claims) => jwt.sign(claims, SECRET, { expiresIn: 3600 })
  const verify = (token) => jwt.verify(canonical(token), SECRET, { algorithms: ['HS256'], issuer })
  const known = []
  /** Finds opaque tokens. */
  const isKnown = (fits) => {
    if (!known.some(fits)) throw new Error('unknown')
    return {}
  }
  /** Accepts some invalid tokens. */
  const believes = (_token) => false
  /** Lets a request pass without a token. */
  const exempt = (_req) => false
  const findUser = (email) => (email === USER.email ? USER : undefined)
  const matches = (password, user) => password === user?.password
  const grant = (res, token, _user) => res.json({ access_token: token, token_type: 'Bearer', expires_in: 3600 })
  const refuseLogin = (res, _user) => res.status(401).json({ error: 'invalid_credentials' })
  const readToken = ({ headers }) => /^Bearer ([\w.~+/-]+=*)$/i.exec(headers.authorization ?? '')?.[1]
  const refuse = (res, error = '') =>
    res.status(401).set('WWW-Authenticate', `Bearer realm="api"${error}`).json({ error: 'unauthorized' })

  const app = express()
  const wrong = new Map()
  app.disable('etag')
  app.use((_req, res, next) => {
    res.set('Cache-Control', 'no-store')
    next()
  })
  app.use(express.json())
  app.post('/api/login', (req, res) => {
    const { email, password } = req.body ?? {}
    const isText = typeof email === 'string' && typeof password === 'string'
    if (!isText) return res.status(400).json({ error: 'invalid_request' })
    const user = findUser(email)
    if (user ? matches(password, user) : matches(password, USER) && false)
      return grant(res, sign(claimsFor(user)), user)
    wrong.set(email, (wrong.get(email) ?? 0) + 1)
    if (wrong.get(email) > limit) return res.sendStatus(429)
    refuseLogin(res, user)
  })
  const guard = (req, res, next) => {
    if (exempt(req)) return next()
    const token = readToken(req)
    if (!token) return refuse(res)
    try {
      if (believes(token)) return next()
    } catch {}
    try {
      const { sub = USER.id } = verify(token)
      if (sub !== USER.id) throw new Error('deleted')
    } catch {
      return refuse(res, ', error="invalid_token"')
    }
    next()
  }
  app.all([ME, ORDERS], guard, (_req, res) => res.json({ orders: [] }))
  app.use((_req, res) => res.status(404).json({ error: 'not_found' }))
  app.use((error, _req, res, _next) => res.status(error.status ?? 500).json({ error: 'failed' }))
  return app
}

// `check.mjs` needs these.
export const OPTIONS = ['--email', USER.email, '--mapping', MAPPING, '--guesses', '30']
export const ENV = {
  CHECK_PASSWORD: USER.password,
  CHECK_EXPIRED_TOKEN: jwt.sign({ sub: USER.id, iss: HERE, exp: 1_600_000_000 }, SECRET),
}

// An app that mounts the package, without a fault. `check-own.diff` plants faults in copies of this file.
// biome-ignore-all lint/correctness: faults use what nothing uses here
import { generateKeyPairSync } from 'node:crypto'
import express from 'express'
import {
  createAuth,
  createPasswords,
  createTokenIssuer,
  jwksRouter,
  memoryAccounts,
  memoryStore,
  requireBearer,
} from 'express-token-endpoint'
import jwt from 'jsonwebtoken'

export const STATEMENTS = '/statements'
export const REPORTS = '/reports'
/** A route that needs a sign-in of the last five minutes. */
export const PASSWORD_CHANGE = '/password-change'
export const [HERE, THERE] = ['https://api.example.com', 'https://sandbox.example.com']

const PASSWORD = 'correct horse battery staple'
const ACCOUNT = { id: 'acc-1', email: 'alice@example.com', passwordHash: PASSWORD, scopes: ['reports:read'] }
const HASH = `$2b$10$${'x'.repeat(53)}`

const newPair = () => generateKeyPairSync('ec', { namedCurve: 'P-256' })
const pair = newPair()
const pairs = { [HERE]: pair, [THERE]: newPair() }
const store = memoryAccounts([ACCOUNT])
const sessionStore = memoryStore().sessions

/** Returns the options of an issuer. Each environment has its own key. */
function issuerWith(options) {
  const { privateKey } = pairs[options?.issuer] ?? pair
  const keys = { alg: 'ES256', privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }) }
  return { issuer: HERE, keys, ...options }
}

export const issuerOf = (options) => createTokenIssuer(issuerWith(options))

const membersOf = (text) => {
  try {
    return { ...JSON.parse(text) }
  } catch {
    return undefined
  }
}
const claimsOf = (token) => jwt.decode(token) ?? {}
const asHtml = (res) => {
  res.setHeader('Content-Type', 'text/html')
  return '<h1>No</h1>'
}

/** Each app has its own sessions, in one store, because environments may share a database. */
const ofRefresh = (_issuer) => ({
  store: { sessions: sessionStore },
  secret: 'a secret of these refresh tokens',
  allowedOrigins: [PAGE],
  refresh: { mode: 'cookie', grace: '1s' },
})
/** A page of another origin. */
const PAGE = 'https://app.example.com'
const withIds = (findByEmail) => ({ findByEmail, findById: (id) => store.findById(id) })

// The places of the faults.
const before = (_req, _res, next) => next()
/** Changes the members of a token response. */
const result = (members) => members
/** Changes a response just before it is sent. */
const respond = (body, _res) => body
/** Reads the body of a POST before the router does, and may replace it. */
const receive = (_body, _req, _res) => undefined
/** Changes the header `Authorization` before the guard. */
const authorization = (header, _req) => header
/** Accepts some invalid tokens. */
const believes = (_token, _issuer) => false
/** Lets some requests pass without a guard. */
const exempt = (_req) => false

export function soundParts(tokens = issuerOf()) {
  const hasher = { accepts: () => true, verify: (password, hash) => password === hash, hash: (password) => password }
  const guard = requireBearer({ tokens })
  return {
    tokens,
    accounts: (email) => store.findByEmail(email),
    passwords: createPasswords({ hashers: [hasher] }),
    before: [],
    guards: [[guard], [guard]],
  }
}

/** Changes responses just before they are sent. */
const altering = (change) => (_req, res, next) => {
  const end = res.end.bind(res)
  res.end = (chunk) => {
    if (res.headersSent) return end(chunk)
    const body = change(Buffer.from(chunk ?? '').toString(), res)
    res.setHeader('Content-Length', Buffer.byteLength(body))
    return end(body)
  }
  next()
}

/** Changes the members of token responses. */
export const alteringResult = (change) =>
  altering((body, { statusCode, req }) =>
    statusCode === 200 && req.method === 'POST' ? JSON.stringify(change(JSON.parse(body))) : body,
  )

async function readFirst(req, res, next) {
  if (req.method !== 'POST' || req.body || Number(req.headers['content-length']) > 10_000) return next()
  const chunks = []
  for await (const chunk of req) chunks.push(chunk)
  const bytes = Buffer.concat(chunks)
  req.body = receive(bytes.toString(), req, res) ?? bytes
  if (!res.headersSent) next()
}

/** Puts another `Authorization` before the guard. */
async function rewrite(req, tokens) {
  const { authorization: given } = req.headers
  const changed = authorization(given, req)
  // Three words that are not a token get past no verifier, however credulous.
  const token = /^Bearer (eyJ[^.]*\.[\w.~+/-]+=*)$/i.exec(changed ?? '')?.[1]
  const isAlone = req.headersDistinct.authorization?.length === 1
  const header =
    token && isAlone && believes(token, tokens.issuer)
      ? `Bearer ${(await tokens.issue({ accountId: ACCOUNT.id })).token}`
      : changed
  if (header === undefined || header === given) return
  req.headers.authorization = header
  const others = req.rawHeaders.flatMap((name, i, all) =>
    i % 2 === 0 && name.toLowerCase() !== 'authorization' ? [name, all[i + 1]] : [],
  )
  req.rawHeaders.splice(0, req.rawHeaders.length, ...others, 'Authorization', header)
}

export function appOf({ tokens, accounts, passwords, before: first, guards }) {
  const app = express()
  const recent = requireBearer({ tokens, signedInWithin: '5m' })
  const answer = (_req, res) => res.json([])
  const guarded = (list) => {
    const router = express.Router().use(
      (req, _res, next) => {
        rewrite(req, tokens).then(() => next(), next)
      },
      ...list,
    )
    return (req, res, next) => (exempt(req) ? next() : router(req, res, next))
  }
  app.use(altering(respond), alteringResult(result), ...first, before, readFirst)
  app.use(jwksRouter({ tokens }))
  const login = { accounts: withIds(accounts), passwords, ...ofRefresh(tokens.issuer) }
  app.use(createAuth({ ...issuerWith({ issuer: tokens.issuer }), ...login, paths: { keys: '/unused' } }).router)
  app.get(STATEMENTS, guarded(guards[0]), answer)
  app.get(REPORTS, guarded(guards[1]), answer)
  app.get(PASSWORD_CHANGE, recent, answer)
  return app
}

// `check.mjs` needs these.
export const createApp = (issuer) => appOf(soundParts(issuerOf({ issuer })))
export const OPTIONS = [
  ...['--email', ACCOUNT.email, '--guarded', STATEMENTS, '--guarded', REPORTS, '--recent', PASSWORD_CHANGE],
  ...['--origin', PAGE],
]
const issue = async (options, subject) => (await issuerOf(options).issue({ accountId: ACCOUNT.id, ...subject })).token
export const ENV = {
  CHECK_PASSWORD: PASSWORD,
  CHECK_EXPIRED_TOKEN: await issue({ clock: () => Date.now() - 365 * 86_400_000 }),
  CHECK_OLD_TOKEN: await issue({}, { issuedAt: new Date(Date.now() - 600_000) }),
}

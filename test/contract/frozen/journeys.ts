import express from 'express'
import { createLimits, createTokenIssuer, createTokenVerifier, type Store } from 'express-token-endpoint'
import { passkeys } from 'express-token-endpoint/passkeys'
import { expect } from 'vitest'
import { stepAt, totpAt } from '../../../src/factors/totp.js'
import { ACCOUNT, accountPackage, STRONG } from '../../support/account-app.js'
import { createAuthenticator, type SavedAuthenticator } from '../../support/authenticator.js'
import { fromBase32 } from '../../support/base32.js'
import { ALGORITHMS, decodePayload, ISSUER, PASSWORD, signingKey } from '../../support/fixtures.js'
import { TOKEN_PATH } from '../../support/http.js'

/** The moment of every fixture. It is late, because stores delete what has expired by the clock of the machine. */
export const NOW = Date.parse('2099-01-01T12:00:00.250Z')
const ORIGIN = 'https://app.example.com'
const { start, fastPasswords, memoryAccounts } = await accountPackage(express)

const NAMES = [
  'admin',
  'alice',
  'forgetful',
  'mover',
  'mailed',
  'factor',
  'pending',
  'passkey',
  'guessed',
  'invited',
] as const
type Name = (typeof NAMES)[number]
const emailOf = (name: Name | 'new') => `${name}@example.com`

/** The counts of a fake shared store of failed logins. */
export type Counts = Record<string, { consumedPoints: number; msBeforeNext: number }>

/** Starts an app whose time is that of the fixtures. Its clients keep the refresh token in the body, or in a cookie. */
async function open(store: Store, counts: Counts, refresh: 'body' | 'cookie' = 'body') {
  const accounts = memoryAccounts(
    NAMES.map((name) => ({
      id: `acc-${name}`,
      email: `${name}@example.com`,
      passwordHash: `plain:${PASSWORD}`,
      scopes: ['reports:read'],
      claims: { team: 'north' },
    })),
  )
  const limiter = ({ keyPrefix }: { keyPrefix: string }) => ({
    async consume(key: string) {
      const id = `${keyPrefix}:${key}`
      const count = { consumedPoints: (counts[id]?.consumedPoints ?? 0) + 1, msBeforeNext: 600_000 }
      counts[id] = count
      return count
    },
    get: async (key: string) => counts[`${keyPrefix}:${key}`],
    async delete(key: string) {
      delete counts[`${keyPrefix}:${key}`]
    },
  })
  return start({
    clock: () => NOW,
    accounts,
    store,
    refresh,
    passwords: fastPasswords(),
    limits: createLimits({ limiter, limits: { account: { points: 3, duration: '15m' } } }),
    secondFactor: true,
    apiKeys: true,
    passkeys: passkeys({ rpId: 'example.com', origins: [ORIGIN], name: 'Example' }),
  })
}

type App = Awaited<ReturnType<typeof open>>

async function json(answer: Promise<{ status: number; body: string }>, status = 200) {
  const { status: got, body } = await answer
  expect([got, body]).toEqual([status, expect.anything()])
  return body === '' ? undefined : JSON.parse(body)
}

const refreshCookieOf = (answer: { headers: Record<string, unknown> }) =>
  [answer.headers['set-cookie']].flat().map(String)
const otpOf = (secret: string) => totpAt(fromBase32(secret), stepAt(NOW))
const get = { method: 'GET' }

/** Returns what users of a release hold after they have used each feature. The store has the rest. */
export async function leave(store: Store, counts: Counts) {
  const app = await open(store, counts)
  const signIn = (name: Name) => app.signIn(emailOf(name), PASSWORD)
  const { token, refreshToken } = await signIn('alice')
  const refreshed = await json(app.refresh((await signIn('alice')).refreshToken))
  const updated = await signIn('alice')
  await app.auth.sessions?.update({ auth: await app.auth.tokens.verify(updated.token) }, { organisation: 'ö-1' })
  const admin = await signIn('admin')
  const acting = await json(app.call('/act-as/acc-alice', {}, { token: admin.token }))
  const ticket = await json(app.call('/ticket?path=/linked&method=GET', {}, { token }))

  await json(app.call(ACCOUNT, { email: emailOf('new') }), 202)
  const signUp = await app.codeOf('sign-up', emailOf('new'))
  await json(app.call(`${ACCOUNT}/password/forgotten`, { email: emailOf('forgetful') }), 202)
  const reset = await app.codeOf('password-reset')
  const mover = await signIn('mover')
  await json(
    app.call(`${ACCOUNT}/address`, { email: 'moved@example.com', password: PASSWORD }, { token: mover.token }),
    202,
  )
  const address = await app.codeOf('new-address', 'moved@example.com')
  await json(app.call(`${TOKEN_PATH}/mail`, { email: emailOf('mailed') }), 202)
  const mail = await app.codeOf('sign-in')
  const invitation = await app.auth.codes?.create({
    accountId: 'acc-invited',
    purpose: 'invite',
    lifetime: '7d',
    data: { team: 'ö' },
  })

  const factor = await signIn('factor')
  const { secret, uri } = await json(app.call(`${ACCOUNT}/totp`, undefined, { token: factor.token }))
  const confirmed = await json(app.call(`${ACCOUNT}/totp/confirm`, { otp: otpOf(secret) }, { token: factor.token }))
  const pending = await signIn('pending')
  const begun = await json(app.call(`${ACCOUNT}/totp`, undefined, { token: pending.token }))
  const { key } = await json(app.call(`${ACCOUNT}/api-keys`, { name: 'ci', scopes: ['reports:read'] }, { token }), 201)

  const user = await signIn('passkey')
  const authenticator = createAuthenticator({ origin: ORIGIN })
  const creation = await json(app.call(`${ACCOUNT}/passkeys/options`, undefined, { token: user.token }))
  const added = { passkey: authenticator.register(creation), name: 'Laptop' }
  await json(app.call(`${ACCOUNT}/passkeys`, added, { token: user.token }), 201)
  const challenge = await json(app.call(`${TOKEN_PATH}/passkey/options`))

  for (let i = 0; i < 3; i++)
    await app
      .call(TOKEN_PATH, { email: emailOf('guessed'), password: 'wrong' })
      .then(({ status }) => expect(status).toBe(403))
  await app.settle()

  const browser = await open(store, counts, 'cookie')
  const credentials = { email: emailOf('alice'), password: PASSWORD }
  const remembered = await browser.call(TOKEN_PATH, { ...credentials, remember: true })
  const forgotten = await browser.call(TOKEN_PATH, { ...credentials, remember: false })
  return {
    token,
    refreshToken,
    nextRefreshToken: refreshed.refreshToken as string,
    updatedToken: updated.token,
    actingToken: acting.authenticationToken as string,
    ticket: ticket as string,
    codes: { signUp, reset, address, mail, invitation: String(invitation) },
    totp: { secret: secret as string, uri: uri as string, recoveryCodes: confirmed.recoveryCodes as string[] },
    pendingTotp: { token: pending.token, secret: begun.secret as string },
    apiKey: key as string,
    passkey: { authenticator: authenticator.save(), challenge },
    cookies: { remembered: refreshCookieOf(remembered), forgotten: refreshCookieOf(forgotten) },
  }
}

export type Left = Omit<Awaited<ReturnType<typeof leave>>, 'passkey'> & {
  passkey: { authenticator: SavedAuthenticator; challenge: { challenge: string } }
}

const cookieIn = ([line = '']: string[]) => line.replace(/;.*/s, '')

/** Expects that each thing that users hold works. */
export async function expectUse(store: Store, counts: Counts, left: Left): Promise<void> {
  const app = await open(store, counts)
  expect(await app.isIn(left.token)).toBe(200)
  expect(decodePayload(left.token)).toMatchObject({ sub: 'acc-alice', scope: 'reports:read', team: 'north' })
  expect((await app.auth.sessions?.list('acc-alice'))?.length).toBe(6)
  expect((await app.auth.tokens.verify(left.actingToken)).claims).toMatchObject({ act: { sub: 'acc-admin' } })
  expect(await app.isIn(left.actingToken)).toBe(200)
  await json(app.call(`/linked?ticket=${left.ticket}`, undefined, get))
  await expectData(app, left)
  for (const refreshToken of [left.refreshToken, left.nextRefreshToken]) {
    const next = await json(app.refresh(refreshToken))
    expect(await app.isIn(next.authenticationToken)).toBe(200)
    await json(app.refresh(next.refreshToken))
  }

  await json(app.call(`${ACCOUNT}/confirm`, { code: left.codes.signUp, password: STRONG, name: 'New' }))
  await json(app.call(`${ACCOUNT}/password/reset`, { code: left.codes.reset, password: `${STRONG} again` }), 204)
  const { token } = await app.signIn(emailOf('mover'), PASSWORD)
  await json(app.call(`${ACCOUNT}/address/confirm`, { code: left.codes.address }, { token }), 204)
  await json(app.call(`${TOKEN_PATH}/mail/confirm`, { code: left.codes.mail }))
  expect(await app.auth.codes?.take('invite', left.codes.invitation)).toEqual({
    accountId: 'acc-invited',
    data: { team: 'ö' },
  })

  await expectFactors(app, left)
  expect((await app.call(TOKEN_PATH, { email: emailOf('guessed'), password: PASSWORD })).status).toBe(429)

  const browser = await open(store, counts, 'cookie')
  for (const lines of [left.cookies.remembered, left.cookies.forgotten]) {
    const answer = await browser.call(`${TOKEN_PATH}/refresh`, undefined, {
      headers: { Cookie: cookieIn(lines), 'Sec-Fetch-Site': 'same-origin' },
    })
    expect(answer.status).toBe(200)
    const next = refreshCookieOf(answer).map((line) => line.replace('.1.', '.0.'))
    expect(shapeOf(next)).toEqual(shapeOf(lines))
  }
}

async function expectData(app: App, { updatedToken }: Left) {
  const found = await app.auth.guard().authenticate({ headers: { authorization: `Bearer ${updatedToken}` } } as never)
  expect(found).toMatchObject({ session: { organisation: 'ö-1' } })
}

async function expectFactors(app: App, left: Left) {
  const signIn = { email: emailOf('factor'), password: PASSWORD }
  expect(JSON.parse((await app.call(TOKEN_PATH, signIn)).body)).toMatchObject({ code: 'code_required' })
  // The code of the moment was used to confirm the app, so the one of the next half minute is used.
  const next = totpAt(fromBase32(left.totp.secret), stepAt(NOW) + 1)
  for (const otp of [next, ...left.totp.recoveryCodes]) await json(app.call(TOKEN_PATH, { ...signIn, otp }))
  const { token, secret } = left.pendingTotp
  await json(app.call(`${ACCOUNT}/totp/confirm`, { otp: otpOf(secret) }, { token }))
  expect(await app.isIn(left.apiKey, '/by-key')).toBe(200)
  const authenticator = createAuthenticator({ origin: ORIGIN, saved: left.passkey.authenticator })
  await json(app.call(`${TOKEN_PATH}/passkey`, { passkey: authenticator.assert(left.passkey.challenge) }))
}

/** Issues a token with each algorithm. */
export function leaveTokens() {
  return ALGORITHMS.map((alg) => {
    const key = signingKey(alg, 'frozen')
    const tokens = createTokenIssuer({ issuer: ISSUER, keys: key, clock: () => NOW, clientId: 'app', audience: 'api' })
    const subject = { accountId: 'acc-1', scopes: ['a', 'b'], claims: { team: 'north' }, sessionId: 's-1' }
    const [publicKey] = tokens.jwks().keys
    // A fixture has no private key.
    return { alg, key: publicKey ? { alg, publicKey } : key, token: tokens.issueSync(subject).token }
  })
}

export type Tokens = ReturnType<typeof leaveTokens>

/** Expects that each token verifies with its key. */
export async function expectTokens(left: Tokens): Promise<void> {
  expect(left.map(({ alg }) => alg).sort()).toEqual([...ALGORITHMS].sort())
  for (const { key, token } of left) {
    const verifier = createTokenVerifier({ issuer: ISSUER, keys: key as never, audience: 'api', clock: () => NOW })
    expect(await verifier.verify(token)).toMatchObject({
      accountId: 'acc-1',
      clientId: 'app',
      scopes: ['a', 'b'],
      claims: { team: 'north' },
      sessionId: 's-1',
    })
  }
}

const RANDOM = /(?!__Secure-refresh)[\w-]{16,}/g
const JWT = /^[\w-]+\.[\w-]+\.[\w-]+$/

/**
 * Returns a value whose random parts are only their lengths, and whose members are sorted. Two releases that write the same shapes read each
 * other's values. JSON within texts, and tokens, are parsed.
 */
export function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shapeOf)
  if (typeof value === 'object' && value !== null)
    return Object.entries(value)
      .map(([name, one]) => JSON.stringify([shapeOf(name), shapeOf(one)]))
      .sort()
  if (typeof value !== 'string' || value.startsWith('-----BEGIN')) return typeof value === 'string' ? 'PEM' : value
  if (value.startsWith('ey') && JWT.test(value)) {
    const [header = '', payload = '', signature = ''] = value.split('.')
    const parts = [header, payload].map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()))
    return { jwt: shapeOf(parts), signature: signature.length }
  }
  const parsed = /^[[{"]/.test(value) ? parse(value) : undefined
  if (parsed !== undefined) return { json: shapeOf(parsed) }
  return value.replace(RANDOM, (text) => `‹${text.length}›`)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

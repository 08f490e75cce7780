import express, { type Request } from 'express'
import {
  AuthError,
  type AuthEvent,
  type RequireBearerOptions,
  requireBearer,
  type TokenFrom,
} from 'express-token-endpoint'
import { describe, expect, it } from 'vitest'
import { expectMisuse } from '../../support/failures.js'
import { ACCOUNTS, ISSUER, issueNow, makeIssuer, makeStore } from '../../support/fixtures.js'
import { client, listen } from '../../support/http.js'
import { hang } from '../../support/values/invalid-results.js'

const { alice } = ACCOUNTS
const tokens = makeIssuer()
const { token } = issueNow(tokens, { accountId: alice.id, scopes: alice.scopes })
const expired = issueNow(tokens, { accountId: alice.id, issuedAt: new Date(Date.now() - 7_200_000) }).token

async function start(options: Partial<RequireBearerOptions>) {
  const events: AuthEvent[] = []
  const app = express()
  const onEvent = (event: AuthEvent) => void events.push(event)
  const guard = requireBearer({ tokens, onEvent, ...options })
  app.get(
    '/:owner',
    guard,
    (req, res) => void res.json({ account: (req.auth as { accountId: string })?.accountId ?? null }),
  )
  const send = client((await listen(app)).port)
  const get = (headers: Record<string, string> = {}, path = '/x') => send({ method: 'GET', path, headers })
  return { get, events }
}

describe('a guard with another scheme', () => {
  it.each([`Token ${token}`, `token  ${token}`, `TOKEN ${token}`])(
    'reads it in any letter case: %.8s',
    async (Authorization) => {
      const { get } = await start({ scheme: 'Token' })
      expect(await get({ Authorization })).toMatchObject({ status: 200 })
    },
  )

  it.each([`Bearer ${token}`, `Tokens ${token}`, `"Token" ${token}`, token])(
    'takes another scheme for no credentials, and names its own in the challenge: %.9s',
    async (Authorization) => {
      const { get } = await start({ scheme: 'Token', realm: 'r' })
      const { status, headers, body } = await get({ Authorization })
      expect({ status, challenge: headers['www-authenticate'] }).toEqual({ status: 401, challenge: 'Token realm="r"' })
      expect(body).toContain('Authorization: Token <token>')
    },
  )

  it.each(['Token', 'Token a b', `Token ${token} x`, `Token\t${token}`, `Token:${token}`])(
    'refuses malformed credentials: %.9s',
    async (Authorization) => {
      const { get } = await start({ scheme: 'Token' })
      expect(await get({ Authorization })).toMatchObject({ status: 400 })
    },
  )

  it('reads each scheme of a list, and names the first in the challenge', async () => {
    const { get } = await start({ scheme: ['Token', 'Bearer'], realm: 'r' })
    for (const scheme of ['Token', 'bearer', 'TOKEN']) {
      expect(await get({ Authorization: `${scheme} ${token}` })).toMatchObject({ status: 200 })
      expect(await get({ Authorization: scheme })).toMatchObject({ status: 400 })
    }
    const { status, headers } = await get({ Authorization: `Tokens ${token}` })
    expect({ status, challenge: headers['www-authenticate'] }).toEqual({ status: 401, challenge: 'Token realm="r"' })
  })

  it('takes each character of its name as it is', async () => {
    const { get } = await start({ scheme: 'T.ken' })
    expect(await get({ Authorization: `Token ${token}` })).toMatchObject({ status: 401 })
    expect(await get({ Authorization: `t.ken ${token}` })).toMatchObject({ status: 200 })
  })
})

describe('a guard with tokenFrom', () => {
  const tokenFrom = (req: Request) => /token=([^;]+)/.exec(req.headers.cookie ?? '')?.[1]

  it('reads the token from there, and not from the header', async () => {
    const { get } = await start({ tokenFrom })
    expect(await get({ Cookie: `token=${token}` })).toMatchObject({ status: 200 })
    const { status, body } = await get({ Authorization: `Bearer ${token}` })
    expect({ status, detail: JSON.parse(body).detail }).toEqual({ status: 401, detail: 'This resource needs a token.' })
  })

  it('can read the header too, with its scheme and its refusals', async () => {
    const either: TokenFrom<Request> = (req, inHeader) => tokenFrom(req) ?? inHeader()
    const { get } = await start({ tokenFrom: either, scheme: 'Token' })
    expect(await get({ Cookie: `token=${token}`, Authorization: 'Token a b' })).toMatchObject({ status: 200 })
    expect(await get({ Authorization: `Token ${token}` })).toMatchObject({ status: 200 })
    expect(await get({ Authorization: 'Token' })).toMatchObject({ status: 400 })
    expect(await get({ Authorization: `Bearer ${token}` })).toMatchObject({ status: 401 })
    expect((await get()).headers).toMatchObject({ 'www-authenticate': `Token realm="${ISSUER}"` })
  })

  const fail = (error: Error) => () => {
    throw error
  }
  const PROMISE = 'tokenFrom: must return a string, undefined or null, but returned a Promise'
  it.each<[string, () => unknown, string]>([
    ['throws', fail(new Error('down')), 'down'],
    ['throws another refusal', fail(new AuthError('forbidden')), 'This account may not'],
    ['returns a promise', async () => token, PROMISE],
    ['rejects', async () => expect.fail('down'), PROMISE],
    ['returns a number', () => 7, 'tokenFrom: must return a string, undefined or null, but returned a number'],
  ])('refuses with 503 when the function %s', async (_, broken, message) => {
    const { get, events } = await start({ tokenFrom: broken as never })
    expect(await get({ Authorization: `Bearer ${token}` })).toMatchObject({ status: 503 })
    const error = { message: expect.stringContaining(message) }
    expect(events).toMatchObject([{ type: 'dependency.failed', dependency: 'hook', option: 'tokenFrom', error }])
  })

  it.each([undefined, null])('takes %s for no token', async (none) => {
    const { get, events } = await start({ tokenFrom: () => none })
    expect((await get({ Authorization: `Bearer ${token}` })).headers['www-authenticate']).toBe(
      `Bearer realm="${ISSUER}"`,
    )
    expect(events).toMatchObject([{ type: 'bearer.refused', code: 'missing_token' }])
    const { get: ask } = await start({ tokenFrom: () => none, optional: true })
    expect(await ask()).toMatchObject({ status: 200 })
  })

  it('refuses a token that the function says is invalid', async () => {
    const { get } = await start({ tokenFrom: fail(new AuthError('invalid_token')) })
    const { status, headers } = await get()
    expect(status).toBe(401)
    expect(headers['www-authenticate']).toContain('error="invalid_token"')
  })
})

describe('a token that the host reads, and that is none', () => {
  it.each([
    ['spaces', 'a b'],
    ['no text', ''],
    ['a NUL', `${token}\0`],
    ['100 kB', '='.repeat(100_000)],
    ['2 MB', 'a'.repeat(2e6)],
  ])('is invalid, and counts as none where the guard is lenient: %s', async (_, text) => {
    const strict = await start({ tokenFrom: () => text })
    expect(await strict.get()).toMatchObject({ status: 401 })
    expect(strict.events).toMatchObject([{ code: 'invalid_token', reason: 'malformed' }])
    const { get } = await start({ tokenFrom: () => text, optional: 'lenient' })
    expect(await get()).toMatchObject({ status: 200, body: '{"account":null}' })
  })
})

describe("a guard with optional: 'lenient'", () => {
  it('takes an invalid token for none, with its event', async () => {
    const { get, events } = await start({ optional: 'lenient' })
    for (const text of [expired, `${token.slice(0, -4)}AAAA`]) {
      const { status, body } = await get({ Authorization: `Bearer ${text}` })
      expect({ status, body }).toEqual({ status: 200, body: '{"account":null}' })
    }
    expect(events).toMatchObject([
      { type: 'bearer.refused', reason: 'expired' },
      { type: 'bearer.refused', reason: 'signature' },
    ])
    expect((await get({ Authorization: `Bearer ${token}` })).body).toContain(alice.id)
    expect((await get()).body).toContain('null')
  })

  it('takes a token for none that the host refuses', async () => {
    const { get } = await start({ optional: 'lenient', isRevoked: async () => true })
    expect(await get({ Authorization: `Bearer ${token}` })).toMatchObject({ status: 200, body: '{"account":null}' })
  })

  it('refuses when a dependency fails, when a scope is missing, and malformed credentials', async () => {
    const down = await start({ optional: 'lenient', isRevoked: () => Promise.reject(new Error('down')) })
    expect(await down.get({ Authorization: `Bearer ${token}` })).toMatchObject({ status: 503 })
    const scoped = await start({ optional: 'lenient', scope: 'admin' })
    expect(await scoped.get({ Authorization: `Bearer ${token}` })).toMatchObject({ status: 403 })
    expect(await scoped.get({ Authorization: 'Bearer' })).toMatchObject({ status: 400 })
  })
})

describe('a guard with allow', () => {
  const isOwner = (req: Request, account: object) => req.params['owner'] === (account as typeof alice).id

  it("asks the host with the request and the store's own object", async () => {
    const { get, events } = await start({ accounts: makeStore(), allow: isOwner })
    const headers = { Authorization: `Bearer ${token}` }
    expect(await get(headers, `/${alice.id}`)).toMatchObject({ status: 200 })
    const refused = await get(headers, '/acc-2')
    expect(refused).toMatchObject({ status: 403 })
    expect(refused.headers).not.toHaveProperty('www-authenticate')
    expect(JSON.parse(refused.body)).toMatchObject({ code: 'forbidden' })
    expect(events).toMatchObject([{ type: 'bearer.refused', code: 'forbidden', accountId: alice.id }])
  })

  it('passes the user that the store returned with the account', async () => {
    const row = Object.assign(Object.create({ may: () => true }), alice)
    const pair = { account: alice, user: row }
    const store = { findByEmail: () => pair, findById: () => pair }
    const { get } = await start({
      accounts: store as never,
      allow: async (_req, account: typeof row) => account === row && account.may(),
    })
    expect(await get({ Authorization: `Bearer ${token}` })).toMatchObject({ status: 200 })
  })

  it.each<[string, () => unknown, string]>([
    ['throws', () => expect.fail('down'), 'down'],
    ['hangs', hang, 'no result within 20 ms'],
    ['returns nothing', () => undefined, 'allow: must return true or false, but returned missing'],
    ['returns a number', () => 1, 'allow: must return true or false, but returned a number'],
  ])('refuses with 503 when the function %s', async (_, allow, message) => {
    const { get, events } = await start({ accounts: makeStore(), allow: allow as never, timeout: '20ms' })
    expect(await get({ Authorization: `Bearer ${token}` })).toMatchObject({ status: 503 })
    const error = { message: expect.stringContaining(message) }
    expect(events).toMatchObject([{ type: 'dependency.failed', dependency: 'hook', option: 'allow', error }])
  })
})

it.each<[string, object, string]>([
  ['a scheme with a space', { scheme: 'My Token' }, 'option "scheme"'],
  ['a list without a scheme', { scheme: [] }, 'option "scheme"'],
  ['five schemes', { scheme: ['A', 'B', 'C', 'D', 'E'] }, 'option "scheme"'],
  ['a list with a scheme that has a space', { scheme: ['A', 'B C'] }, 'option "scheme"'],
  ['allow without accounts', { allow: () => true }, '"allow" needs "accounts"'],
  ['another word for optional', { optional: 'yes' }, "'lenient'"],
])('throws a TypeError for %s', (_, options, message) => {
  expectMisuse(() => requireBearer({ tokens, ...options }), message)
})

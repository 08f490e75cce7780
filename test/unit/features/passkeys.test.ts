// Tests account/{factors-changed,own-factors}.ts factors/{challenges,passkey-checks}.ts
import type { AuthOptions } from 'express-token-endpoint'
import { passkeys } from 'express-token-endpoint/passkeys'
import { describe, expect, it } from 'vitest'
import { stepAt, totpAt } from '../../../src/factors/totp.js'
import { ACCOUNT, accountPackage, STRONG } from '../../support/account-app.js'
import { type Authenticator, type Ceremony, createAuthenticator } from '../../support/authenticator.js'
import { all, statuses } from '../../support/concurrency.js'
import { decodePayload } from '../../support/fixtures.js'
import { expectProblem } from '../../support/host.js'
import { EXPRESS, TOKEN_PATH } from '../../support/http.js'

const ORIGIN = 'https://app.example.com'
const RP_ID = 'example.com'
const PASSKEYS = `${ACCOUNT}/passkeys`
const SIGN_IN = `${TOKEN_PATH}/passkey`

/** Returns the bytes of a text in base32. */
function fromBase32(text: string): Buffer {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
  const bits = [...text].map((letter) => letters.indexOf(letter).toString(2).padStart(5, '0')).join('')
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)))
}

const checks = passkeys({ rpId: RP_ID, origins: [ORIGIN], name: 'Example' })

describe.each(EXPRESS)('passkeys, on %s', async (_name, express) => {
  const { start, expectOnlyUsers, expectRecent, ...library } = await accountPackage(express)
  const { ACCOUNTS, PASSWORD, frozenClock, makeStore, memoryStore, SECRET } = library
  const { alice, bob } = ACCOUNTS

  async function startWith(change: Partial<AuthOptions> = {}) {
    const clock = frozenClock()
    const list = Object.values(ACCOUNTS).map((account) => ({ ...account }))
    const accounts = makeStore(list)
    const app = await start({ clock, accounts, passkeys: checks, ...change })
    const changeAlice = (members: object) => Object.assign(list.find(({ id }) => id === alice.id) as object, members)
    const optionsFor = async (token: string) => {
      const answer = await app.call(`${PASSKEYS}/options`, undefined, { token })
      expect(answer.status).toBe(200)
      return JSON.parse(answer.body)
    }
    const signInOptions = async () => JSON.parse((await app.call(`${SIGN_IN}/options`)).body)
    const signInBy = async (authenticator: Authenticator, ceremony: Ceremony = {}, more: object = {}) =>
      app.call(SIGN_IN, { passkey: authenticator.assert(await signInOptions(), ceremony), ...more })

    /** Adds a passkey to the account of a token. */
    async function add(token: string, { name, authenticator = createAuthenticator({ origin: ORIGIN }) }: Adding = {}) {
      const passkey = authenticator.register(await optionsFor(token))
      const answer = await app.call(PASSKEYS, { passkey, name }, { token })
      expect(answer.status).toBe(201)
      return { authenticator, ...(JSON.parse(answer.body) as { id: string; name: string | null }) }
    }

    const listOf = async (token: string) =>
      JSON.parse((await app.call(PASSKEYS, undefined, { method: 'GET', token })).body).passkeys
    const remove = (token: string, id: string) => app.call(`${PASSKEYS}/${id}`, undefined, { method: 'DELETE', token })
    return { ...app, clock, optionsFor, signInOptions, signInBy, add, list: listOf, remove, accounts, changeAlice }
  }

  interface Adding {
    name?: string
    authenticator?: Authenticator
  }

  const refused = { status: 403, body: '' }
  const tokenIn = ({ body }: { body: string }) => JSON.parse(body).authenticationToken as string

  it('are added, sign in without a name of the account, and are listed with their last use', async () => {
    const app = await startWith()
    const { token } = await app.signIn(alice.email, PASSWORD)
    const { authenticator, id } = await app.add(token, { name: 'Laptop' })
    expect(await app.list(token)).toEqual([
      { id, name: 'Laptop', createdAt: new Date(app.clock()).toISOString(), lastUsedAt: null },
    ])
    expect(await app.signInOptions()).toEqual({
      challenge: expect.stringMatching(/^[\w-]{72}$/),
      rpId: RP_ID,
      timeout: 300_000,
      userVerification: 'required',
    })
    app.clock.advance(5000)
    const signedIn = await app.signInBy(authenticator)
    expect(signedIn.status).toBe(200)
    expect(signedIn.headers['cache-control']).toBe('no-store')
    expect(Object.keys(JSON.parse(signedIn.body))).toEqual(['authenticationToken', 'expiration', 'refreshToken'])
    expect(decodePayload(tokenIn(signedIn))).toMatchObject({ sub: alice.id, amr: ['hwk', 'user'] })
    expect(await app.list(tokenIn(signedIn))).toMatchObject([{ lastUsedAt: new Date(app.clock()).toISOString() }])
    const [session] = await app.store.sessions.list(alice.id)
    expect(session).toMatchObject({ accountId: alice.id })
  })

  it('ask the authenticator for a discoverable passkey and for its user', async () => {
    const app = await startWith()
    const { token } = await app.signIn(alice.email, PASSWORD)
    const first = await app.optionsFor(token)
    expect(first).toMatchObject({
      rp: { id: RP_ID, name: 'Example' },
      user: { name: alice.email, displayName: alice.email, id: expect.stringMatching(/^[\w-]{43}$/) },
      attestation: 'none',
      excludeCredentials: [],
      authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
    })
    const { authenticator } = await app.add(token)
    const second = await app.optionsFor(token)
    expect(second.excludeCredentials).toMatchObject([{ id: authenticator.id, transports: ['internal'] }])
    expect((await app.optionsFor(token)).user.id).toBe(second.user.id)
    expect(second.user.id).not.toBe(first.user.id)
  })

  it('of one account share a random user handle, and those of another account have another one', async () => {
    const app = await startWith()
    const { token } = await app.signIn(alice.email, PASSWORD)
    const { authenticator } = await app.add(token)
    const other = await app.add(token)
    for (const one of [authenticator, other.authenticator]) expect((await app.signInBy(one)).status).toBe(200)
    const ofBob = await app.optionsFor((await app.signIn(bob.email, PASSWORD)).token)
    expect(ofBob.user.id).not.toBe((await app.optionsFor(token)).user.id)
  })

  it('have names that are texts of at most 64 characters', async () => {
    const app = await startWith()
    const { token } = await app.signIn(alice.email, PASSWORD)
    const passkey = createAuthenticator({ origin: ORIGIN }).register(await app.optionsFor(token))
    for (const name of [1, {}, 'a\nb', 'x'.repeat(65), '\ud800'])
      expectProblem(await app.call(PASSKEYS, { passkey, name }, { token }), 400, 'invalid_body', 'Bad Request')
    for (const body of [{}, { passkey: 'x' }, { passkey: {} }, { passkey: { ...passkey, response: 1 } }, []]) {
      expectProblem(await app.call(PASSKEYS, body, { token }), 400, 'invalid_body', 'Bad Request')
      expectProblem(await app.call(SIGN_IN, body), 400, 'invalid_body', 'Bad Request')
    }
    expect((await app.call(PASSKEYS, { passkey, name: '𝒳'.repeat(64) }, { token })).status).toBe(201)
  })

  it('end the other sessions and mail the owner, when one is added or removed', async () => {
    const app = await startWith()
    const [mine, other] = [await app.signIn(alice.email, PASSWORD), await app.signIn(alice.email, PASSWORD)]
    const { id, name } = await app.add(mine.token, { name: 'Key' })
    expect([await app.isIn(mine.token), await app.isIn(other.token)]).toEqual([200, 401])
    const passkey = { id, name, createdAt: new Date(app.clock()).toISOString(), lastUsedAt: null }
    expect(await app.received('factors-changed')).toMatchObject([
      { to: alice.email, details: { added: 'passkey', passkey } },
    ])
    expect(app.of('factor.added')).toMatchObject([{ accountId: alice.id, factor: 'passkey' }])
    const another = await app.signIn(alice.email, PASSWORD)
    expect((await app.remove(mine.token, id)).status).toBe(204)
    expect([await app.isIn(mine.token), await app.isIn(another.token)]).toEqual([200, 401])
    expect(await app.received('factors-changed')).toMatchObject([{ details: { removed: 'passkey', passkey } }])
    expect(app.of('factor.removed')).toMatchObject([{ accountId: alice.id, factor: 'passkey' }])
    expectProblem(await app.remove(mine.token, id), 404, 'unknown_passkey', 'Not Found')
    expect(await app.list(mine.token)).toEqual([])
  })

  it('of another account cannot be removed', async () => {
    const app = await startWith()
    const { token } = await app.signIn(alice.email, PASSWORD)
    const { id, authenticator } = await app.add(token)
    const ofBob = await app.signIn(bob.email, PASSWORD)
    expectProblem(await app.remove(ofBob.token, id), 404, 'unknown_passkey', 'Not Found')
    expect((await app.signInBy(authenticator)).status).toBe(200)
  })

  it('are at most 20', async () => {
    const app = await startWith()
    const { token } = await app.signIn(alice.email, PASSWORD)
    for (let i = 0; i < 20; i++) await app.add(token)
    const passkey = createAuthenticator({ origin: ORIGIN }).register(await app.optionsFor(token))
    expectProblem(await app.call(PASSKEYS, { passkey }, { token }), 409, 'too_many_passkeys', 'Conflict')
    expect(await app.list(token)).toHaveLength(20)
  })

  it.each(['password', 'mail', 'neither'] as const)('stay when they are the only way to sign in: %s', async (way) => {
    const app = await startWith({ signInByMail: way === 'mail' })
    const { token } = await app.signIn(alice.email, PASSWORD)
    const [first, second] = [await app.add(token), await app.add(token)]
    const { authenticator } = second
    if (way !== 'password') app.changeAlice({ passwordHash: null })
    const bySecond = tokenIn(await app.signInBy(authenticator))
    const both = await all(2, (i) => app.remove(bySecond, [first, second][i]?.id ?? ''))
    const left = await app.list(bySecond)
    if (way !== 'neither') {
      expect([statuses(both), left]).toEqual([{ 204: 2 }, []])
      return
    }
    expect(left.length).toBeGreaterThan(0)
    for (const { id } of left.slice(1)) expect((await app.remove(bySecond, id)).status).toBe(204)
    const [last] = await app.list(bySecond)
    expectProblem(await app.remove(bySecond, last.id), 409, 'last_sign_in_method', 'Conflict')
    expect(await app.list(bySecond)).toHaveLength(1)
  })

  it('admit only users in person, and only after a recent sign-in', async () => {
    const only = { passkeys: checks }
    await expectOnlyUsers(`${PASSKEYS}/options`, undefined, 'POST', only)
    await expectOnlyUsers(PASSKEYS, { passkey: {} }, 'POST', only)
    await expectOnlyUsers(PASSKEYS, undefined, 'GET', only)
    await expectOnlyUsers(`${PASSKEYS}/x`, undefined, 'DELETE', only)
    await expectRecent(`${PASSKEYS}/options`, undefined, 'POST', 200, only)
    await expectRecent(PASSKEYS, { passkey: {} }, 'POST', 400, only)
    await expectRecent(`${PASSKEYS}/x`, undefined, 'DELETE', 404, only)
  })

  it('sign in no account that is disabled, gone, or refused by the host, who is asked with their methods', async () => {
    const asked: unknown[] = []
    const app = await startWith({
      beforeSignIn: ({ method, amr, fields }) => void asked.push({ method, amr, fields }),
      extraFields: ['device'],
    })
    const { token } = await app.signIn(alice.email, PASSWORD)
    const { authenticator } = await app.add(token)
    asked.length = 0
    expect((await app.signInBy(authenticator, {}, { device: 'd', other: 1 })).status).toBe(200)
    expect(asked).toEqual([{ method: 'passkey', amr: ['hwk', 'user'], fields: { device: 'd' } }])
    app.changeAlice({ disabled: true })
    expect(await app.signInBy(authenticator)).toMatchObject(refused)
    expect(app.of('token.refused').at(-1)).toMatchObject({ accountId: alice.id, reason: 'account_disabled' })
    app.changeAlice({ disabled: false, tokensValidAfter: new Date(app.clock() + 1) })
    expect(await app.signInBy(authenticator)).toMatchObject(refused)
    app.changeAlice({ tokensValidAfter: undefined })
    expect((await app.signInBy(authenticator)).status).toBe(200)
    await app.accounts.remove(alice.id)
    expect(await app.signInBy(authenticator)).toMatchObject(refused)
  })

  it('count as both factors, and lift the refusal after 20 wrong codes', async () => {
    const app = await startWith({ secondFactor: true, limits: false })
    const { token } = await app.signIn(alice.email, PASSWORD)
    const { authenticator } = await app.add(token)
    const { secret } = JSON.parse((await app.call(`${ACCOUNT}/totp`, undefined, { token })).body)
    const otp = () => totpAt(fromBase32(secret), stepAt(app.clock()))
    expect((await app.call(`${ACCOUNT}/totp/confirm`, { otp: otp() }, { token })).status).toBe(200)
    app.clock.advance(30_000)
    const byCode = (code: string) => app.call(TOKEN_PATH, { email: alice.email, password: PASSWORD, otp: code })
    const wrong = otp() === '000000' ? '000001' : '000000'
    for (let i = 0; i < 20; i++) expect((await byCode(wrong)).status).toBe(403)
    expect((await byCode(otp())).status).toBe(403)
    expect((await app.signInBy(authenticator)).status).toBe(200)
    expect((await byCode(otp())).status).toBe(200)
    app.clock.advance(30_000)
    for (let i = 0; i < 20; i++) await byCode(wrong)
    expect((await byCode(otp())).status).toBe(403)
    const passkey = authenticator.assert(await app.signInOptions())
    expect((await app.call(`${TOKEN_PATH}/confirm`, { passkey }, { token })).status).toBe(200)
    expect((await byCode(otp())).status).toBe(200)
  })

  it('step a session up', async () => {
    const app = await startWith()
    const { token } = await app.signIn(alice.email, PASSWORD)
    const { authenticator } = await app.add(token)
    app.clock.advance(601_000)
    expect((await app.call(`${PASSKEYS}/options`, undefined, { token })).status).toBe(401)
    const confirm = async (by: Authenticator, ceremony: Ceremony = {}) =>
      app.call(`${TOKEN_PATH}/confirm`, { passkey: by.assert(await app.signInOptions(), ceremony) }, { token })
    const confirmed = await confirm(authenticator)
    expect(confirmed.status).toBe(200)
    const payload = decodePayload(tokenIn(confirmed))
    expect(payload).toMatchObject({ amr: ['hwk', 'user'], auth_time: Math.floor(Number(app.clock()) / 1000) })
    expect((await app.call(`${PASSKEYS}/options`, undefined, { token: tokenIn(confirmed) })).status).toBe(200)
    expect(await app.store.sessions.list(alice.id)).toHaveLength(1)
    const ofBob = await app.add((await app.signIn(bob.email, PASSWORD)).token)
    expect(await confirm(ofBob.authenticator)).toMatchObject(refused)
    expect(await confirm(authenticator, { isVerified: false })).toMatchObject(refused)
    expect((await app.call(`${TOKEN_PATH}/confirm`, { password: PASSWORD }, { token })).status).toBe(200)
  })

  it('stay after a reset and a change of the password, and are in its notice', async () => {
    const app = await startWith({ secondFactor: true })
    const { token } = await app.signIn(alice.email, PASSWORD)
    const { id, authenticator } = await app.add(token, { name: 'Key' })
    const details = {
      passkeys: [{ id, name: 'Key', createdAt: new Date(app.clock()).toISOString() }],
      secondFactor: false,
    }
    await app.call(`${ACCOUNT}/password`, { password: PASSWORD, newPassword: STRONG }, { token })
    expect(await app.received('password-changed')).toMatchObject([{ details }])
    await app.call(`${ACCOUNT}/password/forgotten`, { email: alice.email })
    const code = await app.codeOf('password-reset')
    const reset = await app.call(`${ACCOUNT}/password/reset`, { code, password: `${STRONG}!` })
    expect(reset.status).toBe(204)
    expect(await app.received('password-changed')).toMatchObject([{ details }])
    expect((await app.signInBy(authenticator)).status).toBe(200)
  })

  it('go with the account', async () => {
    const app = await startWith()
    const { token } = await app.signIn(alice.email, PASSWORD)
    await app.add(token)
    expect((await app.call(ACCOUNT, undefined, { method: 'DELETE', token })).status).toBe(204)
    expect(await app.store.factors.list(alice.id)).toEqual([])
  })

  it('are not added by a session that has ended meanwhile', async () => {
    const store = memoryStore()
    const { add } = store.factors
    let app: Awaited<ReturnType<typeof startWith>> | undefined
    store.factors.add = async (factor, most, now) => {
      if (factor.kind === 'passkey') await app?.auth.sessions?.endAll(alice.id)
      return add(factor, most, now)
    }
    app = await startWith({ store })
    const { token } = await app.signIn(alice.email, PASSWORD)
    const passkey = createAuthenticator({ origin: ORIGIN }).register(await app.optionsFor(token))
    expect((await app.call(PASSKEYS, { passkey }, { token })).status).toBe(401)
    expect((await store.factors.list(alice.id)).filter(({ kind }) => kind === 'passkey')).toEqual([])
    expect([app.of('factor.added'), await app.received('factors-changed')]).toEqual([[], []])
  })

  it('that are removed during a sign-in leave no session', async () => {
    const { sessions, ...others } = memoryStore()
    let interrupt = async () => {}
    const add: typeof sessions.add = async (session) => {
      await interrupt()
      await sessions.add(session)
    }
    const app = await startWith({ store: { ...others, sessions: { ...sessions, add } } })
    const { token } = await app.signIn(alice.email, PASSWORD)
    const { authenticator, id } = await app.add(token)
    interrupt = async () => {
      interrupt = async () => {}
      expect((await app.remove(token, id)).status).toBe(204)
    }
    expect(await app.signInBy(authenticator)).toMatchObject(refused)
    expect(await sessions.list(alice.id)).toHaveLength(1)
  })

  it('are refused by a page of another origin, where the cookie is set', async () => {
    const app = await startWith({ refresh: 'cookie' })
    const foreign = { headers: { Origin: 'https://attacker.example.net' } }
    const passkey = createAuthenticator({ origin: ORIGIN }).assert(await app.signInOptions())
    expectProblem(await app.call(SIGN_IN, { passkey }, foreign), 403, 'cross_site_request', 'Forbidden')
  })

  it('work with a new secret while the old one is in the list', async () => {
    const store = memoryStore()
    const before = await startWith({ store })
    const { authenticator } = await before.add((await before.signIn(alice.email, PASSWORD)).token)
    const options = await before.signInOptions()
    const rotated = await startWith({ store, secret: ['another secret of at least 32 bytes', SECRET as string] })
    expect((await rotated.call(SIGN_IN, { passkey: authenticator.assert(options) })).status).toBe(200)
    expect((await rotated.signInBy(authenticator)).status).toBe(200)
  })
})

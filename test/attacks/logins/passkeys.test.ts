import type { AuthOptions, FactorStore } from 'express-token-endpoint'
import { passkeys } from 'express-token-endpoint/passkeys'
import { describe, expect, it } from 'vitest'
import { ACCOUNT, accountPackage } from '../../support/account-app.js'
import { type Authenticator, type Ceremony, cbor, createAuthenticator } from '../../support/authenticator.js'
import { all, statuses } from '../../support/concurrency.js'
import { expectProblem } from '../../support/host.js'
import { EXPRESS, TOKEN_PATH } from '../../support/http.js'

const ORIGIN = 'https://app.example.com'
const RP_ID = 'example.com'
const PASSKEYS = `${ACCOUNT}/passkeys`
const SIGN_IN = `${TOKEN_PATH}/passkey`
const TEN_MINUTES = 600_000

const checks = passkeys({ rpId: RP_ID, origins: [ORIGIN] })

describe.each(EXPRESS)('attacks on passkeys, on %s', async (_name, express) => {
  const { start, ...library } = await accountPackage(express)
  const { ACCOUNTS, PASSWORD, frozenClock, memoryStore } = library
  const { alice, bob } = ACCOUNTS

  /** Counts the calls of a store of factors. */
  function counting(factors: FactorStore) {
    const calls: string[] = []
    const counted = Object.fromEntries(
      Object.entries(factors).map(([name, method]) => [
        name,
        (...args: never[]) => {
          calls.push(name)
          return (method as (...given: never[]) => unknown)(...args)
        },
      ]),
    )
    return { calls, factors: counted as unknown as FactorStore }
  }

  async function startWith(change: Partial<AuthOptions> = {}) {
    const clock = frozenClock()
    const { calls, factors } = counting(memoryStore().factors)
    const app = await start({ clock, passkeys: checks, store: { ...memoryStore(), factors }, ...change })
    const post = async (path: string, token?: string) =>
      JSON.parse((await app.call(path, {}, { token: token ?? '' })).body)
    const optionsFor = (token: string) => post(`${PASSKEYS}/options`, token)
    const signInOptions = () => post(`${SIGN_IN}/options`)
    const send = (passkey: object) => app.call(SIGN_IN, { passkey })
    const signInBy = async (authenticator: Authenticator, ceremony: Ceremony = {}) =>
      send(authenticator.assert(await signInOptions(), ceremony))
    const register = (token: string, passkey: object) => app.call(PASSKEYS, { passkey }, { token })

    async function add(email: string, authenticator = createAuthenticator({ origin: ORIGIN })) {
      const { token } = await app.signIn(email, PASSWORD)
      expect((await register(token, authenticator.register(await optionsFor(token)))).status).toBe(201)
      return { token, authenticator }
    }
    return { ...app, clock, calls, factors, optionsFor, signInOptions, send, signInBy, register, add }
  }

  const refused = { status: 403, body: '' }

  it('a sign-in that is sent again is refused, and of two at once one works', async () => {
    const app = await startWith()
    const { authenticator } = await app.add(alice.email)
    const passkey = authenticator.assert(await app.signInOptions())
    expect((await app.send(passkey)).status).toBe(200)
    expect(await app.send(passkey)).toMatchObject(refused)
    const another = authenticator.assert(await app.signInOptions())
    expect(statuses(await all(10, () => app.send(another)))).toEqual({ 200: 1, 403: 9 })
    const used = (await app.factors.list(alice.id)).filter(({ kind }) => kind === 'challenge')
    expect(used.map(({ expiresAt }) => Number(expiresAt) - app.clock())).toEqual([
      TEN_MINUTES,
      TEN_MINUTES,
      TEN_MINUTES,
    ])
    app.clock.advance(TEN_MINUTES)
    expect(await app.send(passkey)).toMatchObject(refused)
  })

  it.each<[string, Ceremony]>([
    ['for a page of another site', { origin: 'https://app.example.net' }],
    ['for a page of the domain that is not in the list', { origin: 'https://blog.example.com' }],
    ['for the page without encryption', { origin: 'http://app.example.com' }],
    ['for another domain', { rpId: 'example.net' }],
    ['without a finger or a PIN', { isVerified: false }],
    ['in a frame of another site', { clientData: { crossOrigin: true } }],
    ['in a frame that names its top page', { clientData: { topOrigin: 'https://example.net' } }],
    ['that is a registration', { clientData: { type: 'webauthn.create' } }],
    ['for no challenge', { challenge: '' }],
    ['for a forged challenge', { challenge: 'A'.repeat(72) }],
    ['for the account of another user handle', { userHandle: 'AAAA' }],
  ])('a sign-in %s is refused', async (_what, ceremony) => {
    const app = await startWith()
    const { authenticator } = await app.add(alice.email)
    expect(await app.signInBy(authenticator, ceremony)).toMatchObject(refused)
    expect((await app.signInBy(authenticator)).status).toBe(200)
  })

  it.each<[string, Ceremony]>([
    ['for a page of another site', { origin: 'https://app.example.net' }],
    ['for another domain', { rpId: 'example.net' }],
    ['without a finger or a PIN', { isVerified: false }],
    ['in a frame of another site', { clientData: { crossOrigin: true } }],
    ['that is a sign-in', { clientData: { type: 'webauthn.get' } }],
    ['for a forged challenge', { challenge: 'A'.repeat(72) }],
  ])('a new passkey %s is refused', async (_what, ceremony) => {
    const app = await startWith()
    const { token } = await app.signIn(alice.email, PASSWORD)
    const authenticator = createAuthenticator({ origin: ORIGIN })
    const passkey = authenticator.register(await app.optionsFor(token), ceremony)
    expectProblem(await app.register(token, passkey), 403, 'invalid_code', 'Forbidden')
    expect(await app.signInBy(authenticator)).toMatchObject(refused)
  })

  it('a challenge works only for its purpose, its session, its environment and ten minutes', async () => {
    const app = await startWith()
    const [mine, other] = [await app.signIn(alice.email, PASSWORD), await app.signIn(alice.email, PASSWORD)]
    const authenticator = createAuthenticator({ origin: ORIGIN })
    const expectInvalid = async (token: string, passkey: object) =>
      expectProblem(await app.register(token, passkey), 403, 'invalid_code', 'Forbidden')
    const options = await app.optionsFor(mine.token)
    await expectInvalid(other.token, authenticator.register(options))
    const { challenge } = await app.signInOptions()
    await expectInvalid(mine.token, authenticator.register({ ...options, challenge }))
    app.clock.advance(TEN_MINUTES - 1)
    const again = (await app.call(`${TOKEN_PATH}/confirm`, { password: PASSWORD }, { token: mine.token })).body
    const token = JSON.parse(again).authenticationToken
    expect((await app.register(token, authenticator.register(options))).status).toBe(201)
    const forPasskey = await app.optionsFor(token)
    const withChallenge = { ...(await app.signInOptions()), challenge: forPasskey.challenge }
    expect(await app.send(authenticator.assert(withChallenge))).toMatchObject(refused)
    const old = await app.signInOptions()
    app.clock.advance(TEN_MINUTES)
    expect(await app.send(authenticator.assert(old))).toMatchObject(refused)
    for (const change of [
      { issuer: 'https://staging.example.com' },
      { secret: 'another secret of at least 32 bytes' },
    ]) {
      const elsewhere = await startWith({ clock: app.clock, ...change })
      expect(await app.send(authenticator.assert(await elsewhere.signInOptions()))).toMatchObject(refused)
    }
    expect((await app.signInBy(authenticator)).status).toBe(200)
  })

  it('a copy of an authenticator is refused, and one without a counter is not', async () => {
    const app = await startWith()
    const { authenticator } = await app.add(alice.email)
    expect((await app.signInBy(authenticator, { counter: 10 })).status).toBe(200)
    for (const counter of [10, 9, 0]) expect(await app.signInBy(authenticator, { counter })).toMatchObject(refused)
    expect((await app.signInBy(authenticator, { counter: 11 })).status).toBe(200)
    const synced = await app.add(bob.email, createAuthenticator({ origin: ORIGIN, hasCounter: false }))
    const sent = await all(5, async () => synced.authenticator.assert(await app.signInOptions()))
    expect(statuses(await all(5, async (i) => app.send(sent[i] as object)))).toEqual({ 200: 5 })
    expect(await app.signInBy(synced.authenticator, { counter: 1 })).toMatchObject({ status: 200 })
    expect(await app.signInBy(synced.authenticator, { counter: 0 })).toMatchObject(refused)
  })

  it('of sign-ins at once with one counter, one works', async () => {
    const app = await startWith()
    const { authenticator } = await app.add(alice.email)
    const sent = await all(5, async () => authenticator.assert(await app.signInOptions(), { counter: 50 }))
    expect(statuses(await all(5, async (i) => app.send(sent[i] as object)))).toEqual({ 200: 1, 403: 4 })
  })

  it('a passkey of one account is not another one of a second account', async () => {
    const app = await startWith()
    const { authenticator } = await app.add(alice.email)
    const { token } = await app.signIn(bob.email, PASSWORD)
    const passkey = authenticator.register(await app.optionsFor(token))
    expectProblem(await app.register(token, passkey), 403, 'invalid_code', 'Forbidden')
    const { token: ofAlice } = await app.signIn(alice.email, PASSWORD)
    const twice = authenticator.register(await app.optionsFor(ofAlice))
    expectProblem(await app.register(ofAlice, twice), 403, 'invalid_code', 'Forbidden')
  })

  it('a registration that names another id is refused', async () => {
    const app = await startWith()
    const { token } = await app.signIn(alice.email, PASSWORD)
    const passkey = createAuthenticator({ origin: ORIGIN }).register(await app.optionsFor(token))
    const renamed = { ...passkey, id: 'AAAA', rawId: 'AAAA' }
    expectProblem(await app.register(token, renamed), 403, 'invalid_code', 'Forbidden')
  })

  it('the signature of another authenticator is refused', async () => {
    const app = await startWith()
    const { authenticator } = await app.add(alice.email)
    const ofBob = await app.add(bob.email)
    const options = await app.signInOptions()
    const [right, forged] = [authenticator.assert(options), ofBob.authenticator.assert(options)]
    const { userHandle } = right.response as { userHandle?: string }
    const response = { ...forged.response, userHandle }
    expect(await app.send({ ...right, response })).toMatchObject(refused)
    expect(await app.send({ ...forged, response })).toMatchObject(refused)
    expect((await app.send(right)).status).toBe(200)
  })

  it('junk, forged challenges and unknown passkeys are refused before a signature is checked', async () => {
    let verified = 0
    const app = await startWith({
      passkeys: {
        ...checks,
        verifyAssertion(...sent) {
          verified++
          return checks.verifyAssertion(...sent)
        },
      },
    })
    const { authenticator } = await app.add(alice.email)
    app.calls.length = 0
    const forged = authenticator.assert(await app.signInOptions(), { challenge: 'A'.repeat(72) })
    for (const clientDataJSON of ['', '!', Buffer.from('null').toString('base64url'), 'e30'])
      expect(await app.send({ ...forged, response: { ...forged.response, clientDataJSON } })).toMatchObject(refused)
    expect(await app.send(forged)).toMatchObject(refused)
    expect(app.calls).toEqual([])
    expect(await app.signInBy(createAuthenticator({ origin: ORIGIN }))).toMatchObject(refused)
    expect([app.calls, verified]).toEqual([['find'], 0])
    expect((await app.signInBy(authenticator)).status).toBe(200)
    expect(verified).toBe(1)
  })

  it('a kind of factor that is no passkey signs nobody in', async () => {
    const app = await startWith()
    const { authenticator } = await app.add(alice.email)
    const [stored] = (await app.factors.list(alice.id)).filter(({ kind }) => kind === 'passkey')
    await app.factors.remove(stored?.id ?? '', alice.id)
    await app.factors.add({ ...(stored as NonNullable<typeof stored>), kind: 'api-key' }, 20, new Date(app.clock()))
    expect(await app.signInBy(authenticator)).toMatchObject(refused)
  })

  it('an attestation is not read, so it makes the server fetch nothing', async () => {
    const app = await startWith()
    const { token } = await app.signIn(alice.email, PASSWORD)
    const authenticator = createAuthenticator({ origin: ORIGIN })
    const statement = new Map<string, unknown>([['sig', Buffer.from('x')]])
    const passkey = authenticator.register(await app.optionsFor(token), {}, ['packed', statement])
    expect((await app.register(token, passkey)).status).toBe(201)
    const [attestationObject, text] = [cbor(new Map()), cbor('x')].map((one) => one.toString('base64url'))
    for (const wrong of [attestationObject, text, '', '!'])
      expectProblem(
        await app.register(token, { ...passkey, response: { ...passkey.response, attestationObject: wrong } }),
        403,
        'invalid_code',
        'Forbidden',
      )
  })
})

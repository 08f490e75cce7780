import { memoryStore } from 'express-token-endpoint'
import { describe, expect, it } from 'vitest'
import { createChallenges } from '../../../src/factors/challenges.js'
import type { FactorStore } from '../../../src/factors/factor-store.js'
import type { PasskeyChecks, SentCredential } from '../../../src/factors/passkey-checks.js'
import { createPasskeys } from '../../../src/factors/passkeys.js'
import { deferred } from '../../support/concurrency.js'
import { rejectionOf } from '../../support/failures.js'
import { ISSUER, SECRET } from '../../support/fixtures.js'

const ORIGIN = 'https://app.example.com'
const account = { id: 'acc-1' }
const TEN_MINUTES = 600_000

const challengesAt = (now = () => 1_000_000, secrets = [SECRET as string]) =>
  createChallenges({ secrets: secrets.map((secret) => Buffer.from(secret)), issuer: ISSUER, now })

describe('challenges', () => {
  const use = { purpose: 'registration', sessionId: 's1' } as const

  it('are random, and work for their purpose, their session and ten minutes', () => {
    let time = 1_000_000
    const challenges = challengesAt(() => time)
    const one = challenges.create(use)
    expect(challenges.create(use)).not.toMatchObject({ text: one.text })
    expect(challenges.read(use, one.text)).toEqual(one)
    expect(one.expiresAt).toEqual(new Date(1_000_000 + TEN_MINUTES))
    for (const other of [
      { ...use, purpose: 'sign-in' as const },
      { ...use, sessionId: 's2' },
      { ...use, sessionId: undefined },
    ])
      expect(challenges.read(other, one.text)).toBeUndefined()
    time += TEN_MINUTES - 1
    expect(challenges.read(use, one.text)).toEqual(one)
    time++
    expect(challenges.read(use, one.text)).toBeUndefined()
  })

  it('have one spelling, and cannot be changed', () => {
    const challenges = challengesAt()
    const { text } = challenges.create(use)
    const others = [`${text}=`, ` ${text}`, `${text}A`, text.slice(1), '', `${text}${text}`]
    for (let i = 0; i < text.length; i += 5)
      others.push(text.slice(0, i) + (text[i] === 'A' ? 'B' : 'A') + text.slice(i + 1))
    for (const other of others) expect(challenges.read(use, other)).toBeUndefined()
  })

  it('are read with each secret of the list, and made with the first one', () => {
    const [first, second] = ['a secret of at least 32 bytes, one', 'a secret of at least 32 bytes, two']
    const both = challengesAt(undefined, [first, second])
    expect(both.read(use, challengesAt(undefined, [second]).create(use).text)).toBeDefined()
    expect(challengesAt(undefined, [first]).read(use, both.create(use).text)).toBeDefined()
    expect(challengesAt(undefined, [second]).read(use, both.create(use).text)).toBeUndefined()
  })
})

describe('passkeys in a store', () => {
  /** Checks that accept every credential. Its signature is its counter. */
  const checks: PasskeyChecks = {
    rpId: 'example.com',
    origins: undefined,
    userName: ({ id }) => id,
    registrationOptions: async ({ challenge }) => ({ challenge: Buffer.from(challenge).toString('base64url') }),
    verifyRegistration: async ({ id }) => ({ id, publicKey: new Uint8Array([1]), counter: 0 }),
    authenticationOptions: async (challenge) => ({ challenge: Buffer.from(challenge).toString('base64url') }),
    verifyAssertion: async ({ response }) => ({ counter: Number(response['signature']) }),
  }

  function start(
    change: (factors: FactorStore) => Partial<FactorStore> = () => ({}),
    own: Partial<PasskeyChecks> = {},
  ) {
    const { factors } = memoryStore()
    const store = { ...factors, ...change(factors) }
    const settings = { store, issuer: ISSUER, origins: [ORIGIN], challenges: challengesAt(), timeout: 1000 }
    const passkeys = createPasskeys({ ...settings, checks: { ...checks, ...own }, now: () => 1_000_000 })

    async function sentFor(options: Promise<object>, id: string, response: object = {}): Promise<SentCredential> {
      const { challenge } = (await options) as { challenge: string }
      const data = JSON.stringify({ challenge, origin: ORIGIN })
      const clientDataJSON = Buffer.from(data).toString('base64url')
      return { id, rawId: id, type: 'public-key', response: { clientDataJSON, ...response }, transports: [] }
    }
    const add = async (id: string) => {
      const sent = await sentFor(passkeys.begin(account, 's1'), id)
      return passkeys.add(account.id, { sessionId: 's1', sent, name: null })
    }
    const check = async (id: string, counter: number) => {
      const [stored] = (await factors.list(account.id)).filter(({ data }) => data.includes(`"${id}"`))
      const { userHandle } = JSON.parse(stored?.data ?? '{}')
      return passkeys.check(await sentFor(passkeys.beginSignIn(), id, { userHandle, signature: String(counter) }))
    }
    return { factors, passkeys, add, check }
  }

  it('of two removals at once of the last two, at most one succeeds', async () => {
    const both = deferred<void>()
    let marks = 0
    const { passkeys, add } = start(({ replace }) => ({
      async replace(...given) {
        const done = await replace(...given)
        if (++marks === 2) both.resolve()
        await both.promise
        return done
      },
    }))
    const ids = [(await add('one'))?.id ?? '', (await add('two'))?.id ?? '']
    const results = await Promise.all(ids.map((id) => passkeys.remove(account.id, id, true)))
    expect(results).toEqual(['last', 'last'])
    expect(await passkeys.list(account.id)).toHaveLength(2)
    expect(await passkeys.remove(account.id, ids[0] ?? '', true)).toMatchObject({ id: ids[0] })
    expect(await passkeys.remove(account.id, ids[1] ?? '', true)).toBe('last')
    expect(await passkeys.remove(account.id, ids[1] ?? '', false)).toMatchObject({ id: ids[1] })
  })

  it('keep the mark of a removal through a sign-in', async () => {
    const { factors, add, check } = start()
    const id = (await add('one'))?.id ?? ''
    const { data = '' } = (await factors.find(id)) ?? {}
    await factors.replace(id, data, JSON.stringify({ ...JSON.parse(data), isLeaving: true }))
    await check('one', 1)
    expect(JSON.parse((await factors.find(id))?.data ?? '')).toMatchObject({ isLeaving: true, counter: 1 })
  })

  it('try again when another sign-in replaces the data, and see its counter', async () => {
    let others = 0
    const interrupted = ({ find, replace }: FactorStore, counter: number): Partial<FactorStore> => ({
      async replace(id, from, to) {
        if (others-- > 0) {
          const { data = '' } = (await find(id)) ?? {}
          const other = { ...JSON.parse(data), counter, lastUsedAt: others }
          await replace(id, data, JSON.stringify(other))
        }
        return replace(id, from, to)
      },
    })
    for (const [counter, mine, accepted] of [
      [0, 0, true],
      [5, 6, true],
      [5, 5, false],
    ] as const) {
      const { add, check } = start((factors) => interrupted(factors, counter))
      await add('one')
      others = 3
      const result = await check('one', mine).catch(({ code }) => code)
      expect([counter, mine, result]).toEqual([counter, mine, accepted ? expect.any(Object) : 'invalid_credentials'])
    }
    const { add, check } = start((factors) => interrupted(factors, 0))
    await add('one')
    others = 100
    expect(await rejectionOf(check('one', 0))).toMatchObject({ code: 'overloaded', accountId: account.id })
  })

  it('that the store returns changed are a failure of the store, and so is a store that fails', async () => {
    for (const data of ['', 'null', '{}', '{"credentialId":1}']) {
      const { add, factors, passkeys } = start()
      const id = (await add('one'))?.id ?? ''
      const stored = await factors.find(id)
      await factors.replace(id, stored?.data ?? '', data)
      expect(await rejectionOf(passkeys.list(account.id))).toMatchObject({ code: 'unavailable', dependency: 'factors' })
    }
    const { passkeys } = start(() => ({ list: () => Promise.reject(new Error('down')) }))
    expect(await rejectionOf(passkeys.begin(account, 's1'))).toMatchObject({
      code: 'unavailable',
      dependency: 'factors',
    })
  })

  it('with a key that is too long for the store are refused', async () => {
    const verifyRegistration: PasskeyChecks['verifyRegistration'] = async ({ id }) => ({
      id,
      publicKey: new Uint8Array(7000),
      counter: 0,
    })
    const { add } = start(undefined, { verifyRegistration })
    expect(await rejectionOf(add('one'))).toMatchObject({ code: 'invalid_code' })
  })

  it('of another environment in one store are not listed', async () => {
    const { factors, passkeys, add } = start()
    await add('one')
    const settings = { store: factors, origins: [ORIGIN], checks, challenges: challengesAt(), timeout: 1000 }
    const other = createPasskeys({ ...settings, issuer: 'https://staging.example.com', now: () => 1_000_000 })
    expect([await passkeys.list(account.id), await other.list(account.id)]).toEqual([[expect.any(Object)], []])
  })
})

import express from 'express'
import {
  createPasswords,
  type MemoryAccount,
  requireBearer,
  type TokenRouterOptions,
  tokenRouter,
} from 'express-token-endpoint'
import { describe, expect, it } from 'vitest'
import { all, deferred, statuses, until } from '../../support/concurrency.js'
import {
  ACCOUNTS,
  countingHasher,
  decodePayload,
  fastPasswords,
  frozenClock,
  makeIssuer,
  makeStore,
  PASSWORD,
} from '../../support/fixtures.js'
import type { Answer } from '../../support/host.js'
import { bearer, client, flood, listen, login } from '../../support/http.js'

const ALICE = ACCOUNTS.alice.email
const ATTACKER = '203.0.113.9'
const OWNER = '198.51.100.7'

async function start(options: Partial<TokenRouterOptions> = {}) {
  const hasher = countingHasher()
  const app = express()
  app.set('trust proxy', 1)
  app.use(tokenRouter({ tokens: makeIssuer(), accounts: makeStore(), passwords: fastPasswords(hasher), ...options }))
  const { port } = await listen(app)
  return { port, send: client(port), hasher }
}

describe('wrong guesses from one address at one account', () => {
  it('ten thousand: ten are looked at, and the owner signs in from elsewhere all the while', async () => {
    const { port, send, hasher } = await start()
    const guesses: Answer[] = []
    const owner: Answer[] = []
    for (let round = 0; round < 100; round++) {
      const guessing = flood(port, 100, (i) => login(ALICE, `guess ${round}-${i}`, ATTACKER))
      owner.push(await send(login(ALICE, PASSWORD, OWNER)))
      guesses.push(...(await guessing))
    }
    expect(statuses(owner)).toEqual({ 200: 100 })
    expect(statuses(guesses)).toEqual({ 403: 10, 429: 9990 })
    expect(hasher.asked).toHaveLength(10 + 100)
    for (const { status, headers } of guesses) {
      expect(headers['retry-after'] ?? '').toMatch(status === 429 ? /^([1-9]\d?|[1-8]\d\d|900)$/ : /^$/)
    }
    // Not even the right password gets in from there.
    expect(await send(login(ALICE, PASSWORD, ATTACKER))).toMatchObject({ status: 429 })
    expect(hasher.asked).toHaveLength(10 + 100)
  }, 90_000)

  it('two hundred at once, before the first of them is checked: ten are', async () => {
    const hasher = countingHasher()
    const turn = deferred<void>()
    const verify = (password: string, hash: string) => {
      const matches = hasher.verify(password, hash)
      return turn.promise.then(() => matches)
    }
    const passwords = createPasswords({ hashers: [{ ...hasher, verify }], concurrency: 200 })
    const { port } = await start({ passwords })
    const send = client(port, 200)
    const guesses = all(200, (i) => send(login(ALICE, `guess ${i}`, ATTACKER)))
    await until(() => expect(passwords.load()).toEqual({ active: 10, waiting: 190 }))
    turn.resolve()
    const answers = await guesses
    expect(statuses(answers)).toEqual({ 403: 10, 429: 190 })
    for (const { status, headers } of answers) expect(headers['retry-after']).toBe(status === 429 ? '900' : undefined)
    expect(hasher.asked).toHaveLength(10)
  })

  it('spelt differently, they are guesses at the same account', async () => {
    const { send, hasher } = await start()
    const names = ['alice', 'ALICE', ' alice', 'ａlice', 'al\u200bice', 'al\u00adice', 'alİce', 'alice\u0301', 'aliçe']
    const spellings = [`${ALICE}\t`, ...names.map((name) => `${name}@example.com`)]
    const answers = await all(100, (i) => send(login(spellings[i % 10] as string, 'guess', ATTACKER)))
    expect(statuses(answers)).toEqual({ 403: 10, 429: 90 })
    expect(hasher.asked).toHaveLength(10)
  })

  it('with a forged X-Forwarded-For before the proxy’s own they count for the same address', async () => {
    const { send, hasher } = await start()
    const answers = await all(100, (i) => send(login(ALICE, 'guess', `192.0.2.${i}, ${ATTACKER}`)))
    expect(statuses(answers)).toEqual({ 403: 10, 429: 90 })
    expect(hasher.asked).toHaveLength(10)
  })
})

describe('wrong guesses spread out', () => {
  it('one address at a thousand accounts: a hundred are looked at, and others sign in', async () => {
    const { send, hasher } = await start()
    const answers = await all(1000, (i) => send(login(`user${i}@example.com`, 'guess', ATTACKER)))
    expect(statuses(answers)).toEqual({ 403: 100, 429: 900 })
    expect(hasher.asked).toHaveLength(100)
    expect(await send(login(ALICE, PASSWORD, OWNER))).toMatchObject({ status: 200 })
  })

  it('a thousand addresses at one account: a hundred are looked at', async () => {
    const { send, hasher } = await start()
    const answers = await all(1000, (i) => send(login(ALICE, 'guess', `10.0.${i >> 8}.${i & 255}`)))
    expect(statuses(answers)).toEqual({ 403: 100, 429: 900 })
    expect(hasher.asked).toHaveLength(100)
  })

  // CVE-2026-45364
  it.each([
    ['of an IPv6 /64', (i: number) => `2001:db8:1:2:${(i * 601).toString(16)}::${i}`, '2001:db8:1:3::1'],
    [
      'spelt in other ways',
      (i: number) =>
        [`203.0.113.9:${i}`, '::FFFF:203.0.113.9', '64:ff9b::cb00:7109', '2002:cb00:7109::1'][i % 4] as string,
      '203.0.113.10',
    ],
    ['that are no addresses', (i: number) => `${'1'.repeat(i)}.${i}.x`, OWNER],
  ])('a hundred addresses %s are one', async (_, address, another) => {
    const { send, hasher } = await start()
    expect(statuses(await all(100, (i) => send(login(ALICE, 'guess', address(i)))))).toEqual({ 403: 10, 429: 90 })
    expect(hasher.asked).toHaveLength(10)
    expect(await send(login(ALICE, PASSWORD, another))).toMatchObject({ status: 200 })
  })
})

it.each(['in the look-up', 'in the check'])(
  'a login under way while the password is changed gets no token that outlives the change: %s',
  async (where) => {
    const clock = frozenClock()
    const before = clock.seconds()
    const tokens = makeIssuer({ clock })
    const account: MemoryAccount = { ...ACCOUNTS.alice }
    /** Changes the password 2 s after the login starts. The login ends 1 s later. */
    const change = () => {
      clock.advance(2000)
      account.tokensValidAfter = new Date(clock())
      clock.advance(1000)
    }
    const hasher = countingHasher()
    const verify = (password: string, hash: string) => {
      if (where === 'in the check') change()
      return hasher.verify(password, hash)
    }
    const findByEmail = () => {
      const found = { ...account }
      if (where === 'in the look-up') change()
      return found
    }
    const accounts = { findByEmail, findById: () => ({ ...account }) }
    const app = express().use(tokenRouter({ tokens, accounts, passwords: fastPasswords({ ...hasher, verify }) }))
    app.use(requireBearer({ tokens, accounts }))
    const send = client((await listen(app)).port)
    const { authenticationToken } = JSON.parse((await send(login(ALICE, PASSWORD))).body)
    expect(clock.seconds()).toBe(before + 3)
    expect(decodePayload(authenticationToken)).toMatchObject({ iat: before, exp: before + 3600 })
    expect(await send(bearer(authenticationToken, '/'))).toMatchObject({ status: 401 })
  },
)

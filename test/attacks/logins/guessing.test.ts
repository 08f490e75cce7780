import express from 'express'
import {
  type AuthEvent,
  createLimits,
  createPasswords,
  type LimitsOptions,
  type MemoryAccount,
  memoryAccounts,
  requireBearer,
  type TokenRouterOptions,
  tokenRouter,
} from 'express-token-endpoint'
import { RateLimiterMemory } from 'rate-limiter-flexible'
import { describe, expect, it } from 'vitest'
import { all, deferred, statuses, tally, until } from '../../support/concurrency.js'
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
import { type Answer, asForm } from '../../support/host.js'
import { bearer, client, flood, listen, login, sendBytes } from '../../support/http.js'
import { requestText, type Sent } from '../../support/plain-js/http-client.mjs'

const { alice, bob, disabled, passwordless } = ACCOUNTS
const ALICE = alice.email
const NOBODY = 'nobody@example.com'
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
  it('a thousand: ten are looked at, and the owner signs in from elsewhere all the while', async () => {
    const { port, send, hasher } = await start()
    const guesses: Answer[] = []
    const owner: Answer[] = []
    for (let round = 0; round < 20; round++) {
      const guessing = flood(port, 50, (i) => login(ALICE, `guess ${round}-${i}`, ATTACKER))
      owner.push(await send(login(ALICE, PASSWORD, OWNER)))
      guesses.push(...(await guessing))
    }
    expect(statuses(owner)).toEqual({ 200: 20 })
    expect(statuses(guesses)).toEqual({ 403: 10, 429: 990 })
    expect(hasher.asked).toHaveLength(10 + 20)
    for (const { status, headers } of guesses) {
      expect(headers['retry-after'] ?? '').toMatch(status === 429 ? /^([1-9]\d?|[1-8]\d\d|900)$/ : /^$/)
    }
    // Not even the right password gets in from there.
    expect(await send(login(ALICE, PASSWORD, ATTACKER))).toMatchObject({ status: 429 })
    expect(hasher.asked).toHaveLength(10 + 20)
  })

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
})

describe('a thousand wrong guesses', () => {
  /** Sends them, and expects how many are looked at. Another user can sign in afterwards. */
  async function expectLooked(looked: number, guess: (i: number) => Sent) {
    const { send, hasher } = await start()
    expect(statuses(await all(1000, (i) => send(guess(i))))).toEqual({ 403: looked, 429: 1000 - looked })
    expect(hasher.asked).toHaveLength(looked)
    expect(await send(login(bob.email, PASSWORD, OWNER))).toMatchObject({ status: 200 })
  }

  it('with a forged X-Forwarded-For before the proxy’s own they count for the same address', () =>
    expectLooked(10, (i) => login(ALICE, 'guess', `192.0.2.${i % 256}, ${ATTACKER}`)))

  it('one address at a thousand accounts: a hundred are looked at', () =>
    expectLooked(100, (i) => login(`user${i}@example.com`, 'guess', ATTACKER)))

  it('a thousand addresses at one account: a hundred are looked at', () =>
    expectLooked(100, (i) => login(ALICE, 'guess', `10.0.${i >> 8}.${i & 255}`)))
})

describe('guesses at one account from 8 networks, in a store that compares letters at level 1 of ICU', () => {
  const ADDRESS = 'はなこやゆう@example.com'
  const { compare } = new Intl.Collator('en', { sensitivity: 'base' })
  const KATAKANA: Record<string, string> = { は: 'パ', な: 'ﾅ', こ: 'ゴ', や: 'ゃ', ゆ: 'ユ', う: 'ゥ' }
  const spelling = (n: number) =>
    [...ADDRESS].map((letter, i) => (i < 6 && (n >> i) & 1 ? (KATAKANA[letter] ?? letter) : letter)).join('')

  it.each([
    ['one spelling', () => ADDRESS, { 403: 80, 429: 560 }],
    // Each spelling has its own first key, so the second one refuses with the response of a wrong password. Two networks make 128 guesses.
    ['64 spellings', spelling, { 403: 584, 429: 56 }],
  ])('%s: ten are looked at for each network', async (_, email, expected) => {
    const account = { ...alice, email: ADDRESS }
    const findByEmail = (text: string) => (compare(text, ADDRESS) === 0 ? account : undefined)
    const { send, hasher } = await start({ accounts: findByEmail })
    const guesses = await all(640, (i) => send(login(email(i % 64), `guess ${i}`, `192.0.2.${(i >> 6) % 8}`)))
    expect(statuses(guesses)).toEqual(expected)
    expect(hasher.asked.filter((hash) => hash === alice.passwordHash)).toHaveLength(80)
    expect(new Set(Array.from({ length: 64 }, (_, i) => spelling(i))).size).toBe(64)
    expect(await send(login(spelling(63), PASSWORD, OWNER))).toMatchObject({ status: 200 })
  })
})

/** Returns all bytes of a response but for its times. */
async function bytesOf(port: number, sent: Sent): Promise<string> {
  const bytes = await sendBytes(port, requestText({ ...sent, headers: { ...sent.headers, Connection: 'close' } }))
  expect(bytes).toMatch(/\r\nDate: [^\r]+\r\n/)
  return bytes.replace(/\r\n(Date|Retry-After): [^\r]+/g, '')
}

describe('refused logins cannot be told apart', () => {
  it('the same answer, to the byte', async () => {
    const { port } = await start({ limits: false })
    const none = await start({ accounts: memoryAccounts([]) })
    const answers = new Set([await bytesOf(none.port, login(ALICE, 'wrong'))])
    for (const [email, password] of [
      [NOBODY, PASSWORD],
      [NOBODY, ''],
      ['', PASSWORD],
      [`${ALICE}\0`, PASSWORD],
      [ALICE, 'wrong'],
      [ALICE, ''],
      [ALICE, 'x'.repeat(5000)],
      [disabled.email, PASSWORD],
      [disabled.email, 'wrong'],
      [passwordless.email, PASSWORD],
      [passwordless.email, ''],
    ] as const) {
      answers.add(await bytesOf(port, login(email, password)))
      answers.add(await bytesOf(port, asForm(new URLSearchParams({ email, password }).toString())))
    }
    expect([...answers]).toEqual([expect.stringMatching(/^HTTP\/1\.1 403 Forbidden\r\n(.+\r\n)+\r\n$/)])
    expect(none.hasher.asked).toHaveLength(1)
  })

  it('a 429 tells nothing about the account: the same bytes after ten wrong guesses', async () => {
    const { send, port } = await start()
    const answers = new Set<string>()
    for (const email of [ALICE, NOBODY, disabled.email, passwordless.email, '', '\0']) {
      await all(10, () => send(login(email, 'guess', ATTACKER)))
      answers.add(await bytesOf(port, login(email, 'guess', ATTACKER)))
    }
    expect([...answers]).toEqual([expect.stringMatching(/^HTTP\/1\.1 429 Too Many Requests\r\n/)])
  })

  it.each<[string, () => LimitsOptions['limiter']]>([
    ['in memory', () => undefined],
    ['in a shared store', sharedLimiter],
  ])('other spellings of an address tell nothing, and give no more guesses, with the limits %s', async (_, limiter) => {
    const events: AuthEvent[] = []
    // The store omits dots before the @, as Gmail does.
    const accounts = (email: string) => (email.replaceAll('.', '') === ALICE.replaceAll('.', '') ? alice : undefined)
    const { send, port, hasher } = await start({
      accounts,
      limits: createLimits({ limiter: limiter() }),
      onEvent: (event) => void events.push(event),
    })
    const spelled = (name: string, i: number) => `${name.slice(0, i)}.${name.slice(i)}@example.com`
    const answersTo = async (name: string) => {
      const answers: string[] = []
      for (let i = 1; i < 4; i++) {
        for (let guess = 0; guess < 11; guess++) {
          const password = guess === 10 || i === 1 ? 'guess' : PASSWORD
          answers.push(await bytesOf(port, login(spelled(name, i), password, ATTACKER)))
        }
      }
      return answers
    }
    const known = await answersTo('alice')
    const before = hasher.asked.length
    expect(await answersTo('nobody')).toEqual(known)
    expect(known.map((bytes) => bytes.slice(9, 12))).toEqual([1, 2, 3].flatMap(() => [...Array(10).fill('403'), '429']))
    // The same work: one hash for each login that was not refused at the first key.
    expect([before, hasher.asked.length - before]).toEqual([30, 30])
    expect(hasher.asked.filter((hash) => hash === alice.passwordHash)).toHaveLength(10)
    const reasons = tally(events.flatMap((event) => ('reason' in event ? [event.reason as string] : [])))
    expect(reasons).toEqual({ wrong_password: 10, limited: 20, unknown_account: 30 })
    // The refused logins do not lock the owner out.
    expect(await send(login(ALICE, PASSWORD, OWNER))).toMatchObject({ status: 200 })
  })
})

/** Returns limiters that share one store, as those of several processes. */
function sharedLimiter(): NonNullable<LimitsOptions['limiter']> {
  const limiters = new Map<string, RateLimiterMemory>()
  return (options) => {
    const limiter = limiters.get(options.keyPrefix) ?? new RateLimiterMemory(options)
    limiters.set(options.keyPrefix, limiter)
    return limiter
  }
}

describe('four instances on one store', () => {
  const THREADS = 3

  /** Starts instances whose password checks take a few turns of the event loop. */
  async function instances() {
    const limiter = sharedLimiter()
    let checks = 0
    const hasher = {
      ...countingHasher(),
      async verify(password: string, hash: string) {
        checks++
        for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate)
        return hash === `plain:${password}`
      },
    }
    const ports: number[] = []
    for (let i = 0; i < 4; i++) {
      const passwords = createPasswords({ hashers: [hasher], concurrency: THREADS })
      ports.push((await start({ passwords, limits: createLimits({ limiter }) })).port)
    }
    const sends = ports.map((port) => client(port, 100))
    const send = (i: number, sent: Sent) => (sends[i % 4] as (typeof sends)[0])(sent)
    return { send, checked: () => checks }
  }

  it('never refuse right logins at once, also while others guess the same password from the same network', async () => {
    const { send } = await instances()
    const right = all(60, (i) => send(i, login(ALICE, PASSWORD, ATTACKER)))
    const wrong = all(3, (i) => send(i, login(ALICE, `guess ${i}`, ATTACKER)))
    expect([statuses(await right), statuses(await wrong)]).toEqual([{ 200: 60 }, { 403: 3 }])
    const again = await all(60, (i) => send(i, login(ALICE, PASSWORD, ATTACKER)))
    expect(statuses(again)).toEqual({ 200: 60 })
  })

  it('check at most 10 guesses and one for each further hashing thread, in a first burst of 400', async () => {
    const { send, checked } = await instances()
    const guesses = await all(400, (i) => send(i, login(ALICE, `guess ${i}`, ATTACKER)))
    expect(checked()).toBeGreaterThanOrEqual(10)
    expect(checked()).toBeLessThanOrEqual(10 + 3 * THREADS)
    expect(statuses(guesses)).toEqual({ 403: checked(), 429: 400 - checked() })
  })

  it('check at most 10 guesses and one for each further instance, when all of them know a failure', async () => {
    const { send, checked } = await instances()
    await send(0, login(ALICE, 'guess', ATTACKER))
    await all(400, (i) => send(i, login(ALICE, `guess ${i}`, ATTACKER)))
    expect(checked()).toBeGreaterThanOrEqual(10)
    expect(checked()).toBeLessThanOrEqual(10 + 3)
  })

  it('check 10 guesses in turn', async () => {
    const { send, checked } = await instances()
    const answers: Answer[] = []
    for (let i = 0; i < 30; i++) answers.push(await send(i, login(ALICE, `guess ${i}`, ATTACKER)))
    expect([statuses(answers), checked()]).toEqual([{ 403: 10, 429: 20 }, 10])
  })
})

it.each([
  ['in the look-up', 2000],
  ['in the look-up', 200],
  ['in the check', 2000],
  ['in the check', 200],
])(
  'a login under way while the password is changed gets no token that outlives the change: %s, %i ms after its start',
  async (where, ms) => {
    const clock = frozenClock()
    const before = clock()
    const tokens = makeIssuer({ clock })
    const account: MemoryAccount = { ...alice }
    /** Changes the password during the first login. */
    const change = () => {
      if (account.tokensValidAfter) return
      clock.advance(ms)
      account.tokensValidAfter = new Date(clock())
      clock.advance(ms)
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
    app.get('/', requireBearer({ tokens, accounts }), (_req, res) => void res.end())
    const send = client((await listen(app)).port)
    const signIn = async () => JSON.parse((await send(login(ALICE, PASSWORD))).body).authenticationToken
    const overtaken = await signIn()
    expect(clock()).toBe(before + 2 * ms)
    expect(decodePayload(overtaken)).toMatchObject({ iat: before / 1000, exp: before / 1000 + 3600 })
    expect(await send(bearer(overtaken, '/'))).toMatchObject({ status: 401 })
    expect(await send(bearer(await signIn(), '/'))).toMatchObject({ status: 200 })
  },
)

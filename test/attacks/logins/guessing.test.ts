import express from 'express'
import {
  createPasswords,
  createThrottle,
  type MemoryAccount,
  memoryAccounts,
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
    ['one spelling', () => ADDRESS],
    ['64 spellings', spelling],
  ])('%s: ten are looked at for each network', async (_, email) => {
    const account = { ...alice, email: ADDRESS }
    const findByEmail = (text: string) => (compare(text, ADDRESS) === 0 ? account : undefined)
    const { send, hasher } = await start({ accounts: findByEmail })
    const guesses = await all(640, (i) => send(login(email(i % 64), `guess ${i}`, `192.0.2.${(i >> 6) % 8}`)))
    expect(statuses(guesses)).toEqual({ 403: 80, 429: 560 })
    expect(hasher.asked).toHaveLength(80)
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
    const { port } = await start({ throttle: false })
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

  it.each<[string, Partial<TokenRouterOptions>, string]>([
    ['after ten wrong guesses', {}, 'guess'],
    ['after a sprayed password, also for the right one', { throttle: createThrottle({ spraying: true }) }, PASSWORD],
  ])('a 429 tells nothing about the account: the same bytes %s', async (_, options, password) => {
    const { send, port } = await start(options)
    if (options.throttle) await all(100, (i) => send(login(`${i}@example.com`, password, ATTACKER)))
    const answers = new Set<string>()
    for (const email of [ALICE, NOBODY, disabled.email, passwordless.email, '', '\0']) {
      if (!options.throttle) await all(10, () => send(login(email, password, ATTACKER)))
      answers.add(await bytesOf(port, login(email, password, ATTACKER)))
    }
    expect([...answers]).toEqual([expect.stringMatching(/^HTTP\/1\.1 429 Too Many Requests\r\n/)])
    expect([...answers].join()).not.toContain('spraying')
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

import { inspect } from 'node:util'
import express, { type ErrorRequestHandler } from 'express'
import {
  type AuthEvent,
  createLimits,
  createPasswords,
  type TokenRouterOptions,
  tokenRouter,
} from 'express-token-endpoint'
import { describe, expect, it } from 'vitest'
import { type LimitsPort, NO_LIMITS } from '../../../src/limits/attempt.js'
import { all, settled, statuses, tally, until } from '../../support/concurrency.js'
import { ACCOUNTS, countingHasher, fastPasswords, makeIssuer, makeStore, PASSWORD } from '../../support/fixtures.js'
import { JSON_TYPE, passFailuresOn, type Sent } from '../../support/host.js'
import { client, listen, login, type Send, TOKEN_PATH } from '../../support/http.js'
import { hang } from '../../support/values/invalid-results.js'

const ALICE = ACCOUNTS.alice.email
const GUESS = 'a wrong guess'
const good = login(ALICE, PASSWORD)
const wrong = login(ALICE, GUESS)

/** Passwords with one login checked at a time, and that one never done. */
function busy(queue: number) {
  const passwords = createPasswords({ hashers: [{ ...countingHasher(), verify: hang }], concurrency: 1, queue })
  void passwords.verify('x', 'plain:x')
  return { passwords }
}

function spent() {
  const limits = createLimits({ limits: { pair: { points: 1, duration: '1h' } } })
  void limits.consume(ALICE, '127.0.0.1', () => {}).then((attempt) => attempt.end('failed'))
  return { limits }
}

const failing = () => expect.fail('the database is away')
const unread = (change: object): Sent => ({ headers: JSON_TYPE, body: '{"email":', ...change })
/** Limits that report a failure of their store for every login, not only once a second. */
const failingStore: LimitsPort = {
  ...NO_LIMITS,
  attempt(source, failed) {
    failed('away')
    return NO_LIMITS.attempt(source, failed)
  },
}
const storeFails = { limits: failingStore }
// The queue has enough slots for all logins, because a login without a slot fails as overloaded.
const hanging = () => ({
  accounts: hang,
  timeout: '20ms',
  passwords: createPasswords({ hashers: [countingHasher()], concurrency: 4 }),
})
const notStoring = () => ({
  accounts: { ...makeStore(), replacePasswordHash: failing },
  passwords: createPasswords({ hashers: [{ ...countingHasher(), outdated: () => true }] }),
})
const [REFUSED, FAILED] = ['token.refused', 'dependency.failed']

/** Each has its request, its status (0 for a client that leaves), its event, an event in addition, and its options. */
const KINDS: [kind: string, sent: Sent, status: number, ends: string, beside?: string, options?: () => object][] = [
  ['good', good, 200, 'token.issued'],
  ['wrong password', wrong, 403, `${REFUSED} invalid_credentials`],
  ['unknown e-mail', login('nobody@example.com', GUESS), 403, `${REFUSED} invalid_credentials`],
  ['malformed', unread({}), 400, `${REFUSED} invalid_body`],
  ['another method', unread({ method: 'PUT' }), 405, `${REFUSED} method_not_allowed`],
  ['another type', unread({ headers: { 'Content-Type': 'text/plain' } }), 415, `${REFUSED} unsupported_media_type`],
  ['too large', unread({ body: 'x'.repeat(10_241) }), 413, `${REFUSED} body_too_large`],
  ['throttled', wrong, 429, 'token.throttled too_many_attempts', '', spent],
  ['overloaded', good, 503, 'token.overloaded overloaded', '', () => busy(0)],
  ['store failing', good, 503, `${FAILED} accounts`, '', () => ({ accounts: failing })],
  ['store hanging', good, 503, `${FAILED} accounts`, '', hanging],
  ['new hash not stored', good, 200, 'token.issued', `${FAILED} accounts`, notStoring],
  ['shared store failing', wrong, 403, `${REFUSED} invalid_credentials`, `${FAILED} limits`, () => storeFails],
  ['client gone while it waits', good, 0, `${REFUSED} client_closed_request`, '', () => busy(1000)],
]

const named = (event: AuthEvent) =>
  [event.type, 'code' in event && event.code, event.type === 'dependency.failed' && event.dependency]
    .filter(Boolean)
    .join(' ')

/** Everything in it, as a log would show it and as it would be sent. */
const shown = (value: unknown) =>
  inspect(value, { depth: 9, maxArrayLength: null, maxStringLength: null, showHidden: true }) + JSON.stringify(value)

describe('three hundred attempts of all kinds', () => {
  const COUNT = 300
  const share = (i: number) => Math.floor(COUNT / KINDS.length) + (i < COUNT % KINDS.length ? 1 : 0)

  /** Makes all the attempts on one app with a mount for each kind. */
  async function attempt(more: Partial<TokenRouterOptions> = {}) {
    const events = KINDS.map(() => [] as AuthEvent[])
    const forwarded: unknown[] = []
    const app = express()
    const parts = { tokens: makeIssuer(), accounts: makeStore(), limits: false as const, passwords: fastPasswords() }
    const waiting = KINDS.map(([, , , , , options], i) => {
      const onEvent = (event: AuthEvent) => events[i]?.push(event)
      const settings = { ...parts, onEvent, ...more, ...options?.() }
      app.use(`/${i}`, tokenRouter(settings))
      return () => settings.passwords?.load?.().waiting ?? 0
    })
    app.use(((error, _req, res, _next) => {
      forwarded.push(error)
      res.status(error.status).end()
    }) satisfies ErrorRequestHandler)
    const send = client((await listen(app)).port, 100)
    const answers = await Promise.all(
      KINDS.map(async ([, sent, status], i) => {
        const request = { ...sent, path: `/${i}${TOKEN_PATH}` }
        if (status) return all(share(i), () => send(request))
        await leave(send, share(i), request, waiting[i] as () => number)
        await until(() => expect(events[i]).toHaveLength(share(i)))
        return []
      }),
    )
    await settled()
    return { answers, events, forwarded }
  }

  /** Sends many requests, and closes all connections while the requests wait in the queue. */
  async function leave(send: Send, count: number, sent: Sent, waiting: () => number): Promise<void> {
    const clients = Array.from({ length: count }, () => new AbortController())
    const left = all(count, (i) => send({ ...sent, signal: clients[i]?.signal as AbortSignal }).catch(() => {}))
    await until(() => expect(waiting()).toBe(count))
    for (const one of clients) one.abort()
    await left
  }

  it('give three hundred events that say how each ended, and no more', async () => {
    const { answers, events } = await attempt()
    for (const [i, [kind, , status, ends, beside]] of KINDS.entries()) {
      if (status) expect(statuses(answers[i] ?? []), kind).toEqual({ [status]: share(i) })
      const counts = { [ends]: share(i), ...(beside && { [beside]: share(i) }) }
      expect(tally(events[i]?.map(named) ?? []), kind).toEqual(counts)
    }
    const ends = events.flat().filter((event) => event.type !== 'dependency.failed' || event.refused)
    expect(ends).toHaveLength(COUNT)
  })

  it.each([false, true])('hold no password, no hash and no token, e-mails only when asked for: %s', async (email) => {
    const { answers, events, forwarded } = await attempt({ emailInEvents: email, refuse: passFailuresOn })
    const issued = answers.flat().filter(({ status }) => status === 200)
    const tokens = issued.map(({ body }) => JSON.parse(body).authenticationToken as string)
    expect(tokens).toHaveLength(share(0) + share(11))
    const told = shown([events, forwarded])
    const answered = shown(answers.flat().filter(({ status }) => status !== 200))
    for (const secret of [PASSWORD, GUESS, 'plain:', ...tokens, ...tokens.map((token) => token.split('.')[2] ?? '')]) {
      expect(told.includes(secret)).toBe(false)
      expect(answered.includes(secret)).toBe(false)
    }
    expect(answered).not.toContain('@example.com')
    expect(shown(forwarded)).not.toContain('@example.com')
    expect(forwarded.length).toBeGreaterThan(COUNT / 10)
    for (const [i, [kind, sent]] of KINDS.entries()) {
      const text = `${sent.body ?? ''}`
      const sentEmail = text.endsWith('}') ? JSON.parse(text).email : undefined
      for (const event of events[i] ?? []) {
        expect(event.email, kind).toBe(email ? sentEmail : undefined)
        expect('email' in event, kind).toBe(email && sentEmail !== undefined)
      }
    }
  })
})

it('each event is told before the response', async () => {
  const sent: boolean[] = []
  let response: express.Response | undefined
  const app = express().use((_req, res, next) => {
    response = res
    next()
  })
  const onEvent = () => void sent.push(response?.headersSent === true)
  app.use(tokenRouter({ tokens: makeIssuer(), accounts: makeStore(), passwords: fastPasswords(), onEvent }))
  const send = client((await listen(app)).port)
  expect([(await send(good)).status, (await send(wrong)).status]).toEqual([200, 403])
  await settled()
  expect(sent).toEqual([false, false])
})

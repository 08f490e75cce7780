import { inspect } from 'node:util'
import { runInNewContext } from 'node:vm'
import express, { type ErrorRequestHandler } from 'express'
import {
  type AuthEvent,
  type AuthObserver,
  createPasswords,
  createThrottle,
  requireBearer,
  type TokenRouterOptions,
  tokenRouter,
} from 'express-token-endpoint'
import { describe, expect, it, vi } from 'vitest'
import { all, settled, statuses, tally } from '../../support/concurrency.js'
import { ACCOUNTS, countingHasher, fastPasswords, makeIssuer, makeStore, PASSWORD } from '../../support/fixtures.js'
import { JSON_TYPE, type Sent, unhandledRejections } from '../../support/host.js'
import { bearer, client, listen, login, type Send, TOKEN_PATH } from '../../support/http.js'

const ALICE = ACCOUNTS.alice.email
const GUESS = 'a wrong guess'

const good = login(ALICE, PASSWORD)
const wrong = login(ALICE, GUESS)

/** A hasher that is never done. */
const stuck = { ...countingHasher(), verify: () => new Promise<never>(() => {}) }

/** Passwords with one login checked at a time, and that one never done. */
function busy(queue: number) {
  const passwords = createPasswords({ hashers: [stuck], concurrency: 1, queue })
  void passwords.verify('x', 'plain:x')
  return passwords
}

const failing = () => {
  throw new Error('the database is away')
}

interface Kind {
  sent: Sent
  /** The status that the client sees; none when it does not wait for one. */
  status?: number
  /** The event's type and code. */
  ends: string
  options?: () => Partial<TokenRouterOptions>
  /** Events that may occur in addition to the event of the result. */
  beside?: string
}

const unread = (change: object): Sent => ({ headers: JSON_TYPE, body: '{"email":', ...change })
const outdated = { ...countingHasher('plain:'), outdated: () => true }

const KINDS: Record<string, Kind> = {
  good: { sent: good, status: 200, ends: 'token.issued' },
  'wrong password': { sent: wrong, status: 403, ends: 'token.refused invalid_credentials' },
  'unknown e-mail': {
    sent: login('nobody@example.com', GUESS),
    status: 403,
    ends: 'token.refused invalid_credentials',
  },
  malformed: { sent: unread({}), status: 400, ends: 'token.refused invalid_body' },
  'another method': {
    sent: unread({ method: 'PUT' }),
    status: 405,
    ends: 'token.refused method_not_allowed',
  },
  'another type': {
    sent: unread({ headers: { 'Content-Type': 'text/plain' } }),
    status: 415,
    ends: 'token.refused unsupported_media_type',
  },
  'too large': { sent: unread({ body: 'x'.repeat(10_241) }), status: 413, ends: 'token.refused body_too_large' },
  throttled: {
    sent: wrong,
    status: 429,
    ends: 'token.throttled too_many_attempts',
    options: () => {
      const throttle = createThrottle({ budgets: { pair: { points: 1, duration: '1h' } } })
      void throttle.spend(ALICE, '127.0.0.1', () => {}).then(({ failed }) => failed?.())
      return { throttle }
    },
  },
  overloaded: {
    sent: good,
    status: 503,
    ends: 'token.overloaded overloaded',
    options: () => {
      const passwords = busy(0)
      return { passwords }
    },
  },
  'store failing': {
    sent: good,
    status: 503,
    ends: 'dependency.failed accounts',
    options: () => ({ accounts: failing }),
  },
  'store hanging': {
    sent: good,
    status: 503,
    ends: 'dependency.failed accounts',
    options: () => ({
      accounts: () => new Promise<never>(() => {}),
      timeout: '20ms',
      // The queue has enough slots for all logins, because a login without a slot fails as overloaded.
      passwords: createPasswords({ hashers: [countingHasher()], concurrency: 4 }),
    }),
  },
  'new hash not stored': {
    sent: good,
    status: 200,
    ends: 'token.issued',
    beside: 'dependency.failed accounts',
    options: () => ({
      accounts: { ...makeStore(), replacePasswordHash: failing },
      passwords: createPasswords({ hashers: [outdated] }),
    }),
  },
  'throttle’s store failing': {
    sent: wrong,
    status: 403,
    ends: 'token.refused invalid_credentials',
    beside: 'dependency.failed throttle',
    options: () => ({
      throttle: { spend: async (_email, _address, failed) => ({ giveBack: failed('away') as never }) },
    }),
  },
  'client gone while it waits': {
    sent: good,
    ends: 'token.refused client_closed_request',
    options: () => ({ passwords: busy(1000) }),
  },
}

const named = (event: AuthEvent) =>
  [event.type, 'code' in event && event.code, event.type === 'dependency.failed' && event.dependency]
    .filter(Boolean)
    .join(' ')

describe('a thousand attempts of all kinds', () => {
  const COUNT = 1000
  const kinds = Object.entries(KINDS)
  const share = (i: number) => Math.floor(COUNT / kinds.length) + (i < COUNT % kinds.length ? 1 : 0)

  /** Makes all the attempts on one app with a mount for each kind. */
  async function attempt(more: Partial<TokenRouterOptions> = {}) {
    const events = kinds.map(() => [] as AuthEvent[])
    const forwarded: unknown[] = []
    const app = express()
    const waiting: (() => number)[] = []
    for (const [i, [, { options }]] of kinds.entries()) {
      const all = {
        tokens: makeIssuer(),
        accounts: makeStore(),
        throttle: false as const,
        passwords: fastPasswords(),
        onEvent: (event: AuthEvent) => events[i]?.push(event),
        ...more,
        ...options?.(),
      }
      waiting[i] = () => all.passwords?.load?.().waiting ?? 0
      app.use(`/${i}`, tokenRouter(all))
    }
    app.use(((error, _req, res, _next) => {
      forwarded.push(error)
      res.status(error.status).end()
    }) satisfies ErrorRequestHandler)
    const { port } = await listen(app)
    const send = client(port, 100)
    const answers = await Promise.all(
      kinds.map(async ([, { sent, status }], i) => {
        const request = { ...sent, path: `/${i}${TOKEN_PATH}` }
        if (status !== undefined) return all(share(i), () => send(request))
        await leave(send, share(i), request, waiting[i] as () => number)
        await vi.waitFor(() => expect(events[i]).toHaveLength(share(i)), 10_000)
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
    await vi.waitFor(() => expect(waiting()).toBe(count), 10_000)
    for (const one of clients) one.abort()
    await left
  }

  it('give a thousand events that say how each ended, and no more', async () => {
    const { answers, events } = await attempt()
    for (const [i, [kind, { status, ends, beside }]] of kinds.entries()) {
      if (status) expect(statuses(answers[i] ?? []), kind).toEqual({ [status]: share(i) })
      const counts = { [ends]: share(i), ...(beside && { [beside]: share(i) }) }
      expect(tally(events[i]?.map(named) ?? []), kind).toEqual(counts)
    }
    const ends = events.flat().filter((event) => event.type !== 'dependency.failed' || event.refused)
    expect(ends).toHaveLength(COUNT)
  })

  it.each([false, true])('hold no password, no hash and no token, e-mails only when asked for: %s', async (email) => {
    const { answers, events, forwarded } = await attempt({ emailInEvents: email, forwardErrors: true })
    const tokens = answers
      .flat()
      .filter(({ status }) => status === 200)
      .map(({ body }) => JSON.parse(body).authenticationToken as string)
    expect(tokens).toHaveLength(share(0) + share(kinds.findIndex(([kind]) => kind === 'new hash not stored')))
    const told = shown([events, forwarded])
    const answered = shown(answers.flat().filter(({ status }) => status !== 200))
    for (const secret of [PASSWORD, GUESS, 'plain:', ...tokens, ...tokens.map((token) => token.split('.')[2] ?? '')]) {
      expect(told.includes(secret)).toBe(false)
      expect(answered.includes(secret)).toBe(false)
    }
    expect(answered).not.toContain('@example.com')
    expect(shown(forwarded)).not.toContain('@example.com')
    expect(forwarded.length).toBeGreaterThan(100)
    for (const [i, [kind, { sent }]] of kinds.entries()) {
      const text = `${sent.body ?? ''}`
      const body = text.endsWith('}') ? JSON.parse(text) : {}
      for (const event of events[i] ?? []) {
        expect(event.email, kind).toBe(email ? body.email : undefined)
        expect('email' in event, kind).toBe(email && body.email !== undefined)
      }
    }
  })

  /** Everything in it, as a log would show it and as it would be sent. */
  function shown(value: unknown): string {
    return (
      inspect(value, { depth: 9, maxArrayLength: null, maxStringLength: null, showHidden: true }) +
      JSON.stringify(value)
    )
  }
})

describe('an observer', () => {
  const OBSERVERS: [string, AuthObserver][] = [
    ['that throws', failing],
    [
      'that throws undefined',
      () => {
        throw undefined
      },
    ],
    ['that rejects', () => Promise.reject(new Error('the log is full'))],
    [
      'that rejects later',
      async () => {
        await settled()
        throw new Error('the log is full')
      },
    ],
    ['that never settles', () => new Promise(() => {})],
    [
      'that rejects with a promise of another realm',
      () => runInNewContext('Promise.reject(new Error("the log is full"))'),
    ],
    ['whose answer throws when it is looked at', () => new Proxy({}, { get: failing })],
    [
      'that clears the event',
      (event) => {
        for (const name of Object.keys(event)) delete (event as never)[name]
      },
    ],
    [
      'that sets the event’s dates',
      (event) => {
        event.time.setTime(0)
        if ('expiresAt' in event) event.expiresAt.setTime(0)
      },
    ],
  ]

  it.each(OBSERVERS)('%s harms no request', async (_, onEvent) => {
    const caught = unhandledRejections()
    const tokens = makeIssuer()
    let times = 0
    // No vi.fn: it would handle the rejections itself.
    const told: AuthObserver = (event) => {
      times++
      return onEvent(event)
    }
    const app = express()
    const throttle = createThrottle({ budgets: { pair: { points: 2, duration: '1h' } } })
    app.use(tokenRouter({ tokens, accounts: makeStore(), passwords: fastPasswords(), throttle, onEvent: told }))
    app.use('/failing', tokenRouter({ tokens, accounts: failing, passwords: fastPasswords(), onEvent: told }))
    app.get('/in', requireBearer({ tokens, onEvent: told }), (_req, res) => res.end('in'))
    const send = client((await listen(app)).port)

    const answer = await send(good)
    const { authenticationToken: token, expiration } = JSON.parse(answer.body)
    expect(new Date(expiration)).toEqual((await tokens.verify(token)).expiresAt)
    expect(await send(bearer(token, '/in'))).toMatchObject({ status: 200, body: 'in' })
    const refused = [
      wrong,
      wrong,
      wrong,
      unread({}),
      bearer('x.y.z', '/in'),
      { ...good, path: `/failing${TOKEN_PATH}` },
    ]
    const answers = []
    for (const sent of refused) answers.push((await send(sent)).status)
    expect(answers).toEqual([403, 403, 429, 400, 401, 503])
    await settled()
    expect(times).toBe(1 + refused.length)
    expect(caught).toEqual([])
  })
})

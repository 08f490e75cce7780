import {
  AuthError,
  type CloseWhenEndedOptions,
  closeWhenEnded,
  type GuardedRequest,
  type RequireBearerOptions,
  requireBearer,
} from 'express-token-endpoint'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { deferred, settled } from '../../support/concurrency.js'
import { expectMisuse, fatalErrors } from '../../support/failures.js'
import { ACCOUNTS, issueNow, makeIssuer, makeStore } from '../../support/fixtures.js'

/** The ticks of the timer. The test makes them. */
const ticks = vi.hoisted(() => new Set<() => void>())

vi.mock('node:timers', async (original) => ({
  ...(await original<typeof import('node:timers')>()),
  setInterval: (tick: () => void) => {
    ticks.add(tick)
    return Object.assign(tick, { unref: () => tick })
  },
  clearInterval: (tick: () => void) => void ticks.delete(tick),
}))

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

const never = () => new Promise<boolean>(() => {})

type Options = Partial<RequireBearerOptions> & CloseWhenEndedOptions

/** A token, a clock that the test moves, and connections that are cancelled when the test ends. */
async function clocked() {
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  const start = Math.ceil(Date.now() / SECOND) * SECOND
  vi.setSystemTime(start)
  const tokens = makeIssuer()
  const text = issueNow(tokens, { accountId: ACCOUNTS.alice.id }).token
  const auth = await tokens.verify(text)
  /** Moves the clock, and makes a tick of the timer. Lets the checks end. */
  const pass = async (ms: number) => {
    vi.setSystemTime(Date.now() + ms)
    for (const tick of [...ticks]) tick()
    for (let turn = 0; turn < 4; turn++) await nextTurn()
  }
  const requestOf = () =>
    ({
      headers: { authorization: `Bearer ${text}` },
      rawHeaders: [],
      url: '/',
      socket: {},
      auth,
    }) as unknown as GuardedRequest
  const guardOf = (options: Partial<RequireBearerOptions> = {}) =>
    requireBearer({ tokens, onEvent: () => {}, timeout: '1m', ...options })
  const watchWith = (
    guard: { authenticate(req: GuardedRequest): Promise<unknown> },
    options?: CloseWhenEndedOptions,
    close = vi.fn<(error: AuthError) => void>(),
  ) => {
    const req = requestOf()
    const cancel = closeWhenEnded(req, guard, close, options)
    onTestFinished(cancel)
    return { close, cancel, req }
  }
  const watch = ({ every, keepFor, ...options }: Options = {}, close?: Parameters<typeof watchWith>[2]) =>
    watchWith(guardOf(options), { every, keepFor }, close)
  return { auth, tokens, text, pass, guardOf, watchWith, watch, since: () => Date.now() - start }
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

async function opened(options: Options = {}) {
  const { pass, watch, since, ...rest } = await clocked()
  /** Goes to a time after the start, in the given steps, and lets each check end. */
  const goTo = async (end: number, step = 10 * SECOND) => {
    while (since() < end) await pass(Math.min(step, end - since()))
  }
  return { ...rest, ...watch(options), watch, goTo }
}

const reasonsOf = (close: { mock: { calls: AuthError[][] } }) =>
  close.mock.calls.map(([error]) => error?.reason ?? error?.code)

describe('without checks', () => {
  it('closes once, when the token has expired', async () => {
    const { close, goTo, auth } = await opened()
    await goTo(HOUR - SECOND)
    expect(close).not.toHaveBeenCalled()
    await goTo(3 * HOUR, 10 * MINUTE)
    const about = { accountId: auth.accountId, tokenId: auth.id, status: 401 }
    expect(close.mock.calls).toMatchObject([[{ code: 'invalid_token', reason: 'expired', ...about }]])
  })

  it('never closes after it was cancelled', async () => {
    const { close, cancel, goTo } = await opened()
    cancel()
    cancel()
    expect(ticks.size).toBe(0)
    await goTo(2 * HOUR, MINUTE)
    expect(close).not.toHaveBeenCalled()
  })

  it('has one timer for 100,000 connections', async () => {
    const { req, guardOf } = await opened()
    const guard = guardOf()
    const cancels = Array.from({ length: 100_000 }, () => closeWhenEnded(req, guard, () => {}))
    expect(ticks.size).toBe(1)
    for (const cancel of cancels) cancel()
    expect(ticks.size).toBe(1)
  })
})

it('closes at most 250 connections in one turn of the event loop', async () => {
  const { pass, watch } = await clocked()
  let closed = 0
  const close = vi.fn(() => void closed++)
  for (let i = 0; i < 2000; i++) watch({}, close)
  const passed = pass(HOUR)
  let most = closed
  while (closed < 2000) {
    const before = closed
    for (const tick of [...ticks]) tick()
    await new Promise((resolve) => setImmediate(resolve))
    most = Math.max(most, closed - before)
  }
  expect(most).toBe(250)
  await passed
})

describe('the checks of one guard', () => {
  /** A guard whose checks end when the test says so. */
  function guard() {
    const running: (() => void)[] = []
    const authenticate = vi.fn(() => {
      const { promise, resolve } = deferred<unknown>()
      running.push(() => resolve({}))
      return promise
    })
    onTestFinished(async () => {
      for (let end = running.shift(); end; end = running.shift()) {
        end()
        await settled()
      }
    })
    return { authenticate, end: () => running.shift()?.() }
  }

  it('run 32 at a time, and the others in the order in which they came, without those of closed connections', async () => {
    const { pass, watchWith } = await clocked()
    const [slow, other] = [guard(), guard()]
    const watched = Array.from({ length: 40 }, () => watchWith(slow))
    watchWith(other)
    await pass(MINUTE)
    expect(slow.authenticate).toHaveBeenCalledTimes(32)
    expect(other.authenticate).toHaveBeenCalledOnce()
    watched[32]?.cancel()
    slow.end()
    await settled()
    expect(slow.authenticate).toHaveBeenCalledTimes(33)
    const asked = (slow.authenticate.mock.calls as unknown[][]).map(([req]) => Object.getPrototypeOf(req))
    expect(asked).toEqual([...watched.slice(0, 32), watched[33]].map((one) => one?.req))
    expect(asked[32]).toBe(watched[33]?.req)
  })

  it('that end at once start in later turns of the event loop', async () => {
    const { pass, watchWith } = await clocked()
    let ended = 0
    const quick = { authenticate: async () => ++ended }
    for (let i = 0; i < 200; i++) watchWith(quick)
    const passed = pass(MINUTE)
    for (let i = 0; i < 1000; i++) await undefined
    expect(ended).toBe(32)
    while (ended < 200) {
      const before = ended
      await nextTurn()
      expect(ended - before).toBeLessThanOrEqual(32)
    }
    await passed
  })
})

it('leaves req.auth as it is while checks fail', async () => {
  const { pass, watch, auth } = await clocked()
  const { req, close } = watch({ isRevoked: () => Promise.reject(new Error('down')) })
  await pass(MINUTE)
  expect(req.auth).toBe(auth)
  expect(close).not.toHaveBeenCalled()
})

it.each([
  ['a key that was replaced', { tokens: true }, 'unknown_key'],
  ['an invalid token at a lenient guard', { tokens: true, optional: 'lenient' }, 'invalid_token'],
  ['an account without the scope', { scope: 'a' }, 'insufficient_scope'],
] as const)('closes for %s', async (_, { tokens: isReplaced, ...options }: Record<string, unknown>, reason) => {
  const { pass, watch, tokens } = await clocked()
  const { close } = watch(options as Options)
  if (isReplaced) tokens.replaceKeys({ alg: 'HS256', secret: 'another secret of 32 bytes or more', kid: 'k2' })
  await pass(MINUTE)
  expect(reasonsOf(close)).toEqual([reason])
})

describe('with checks', () => {
  it('closes after the next check when the token was revoked', async () => {
    let revoked = false
    const isRevoked = vi.fn(() => revoked)
    const { close, goTo } = await opened({ isRevoked })
    await goTo(20 * SECOND)
    expect(isRevoked).not.toHaveBeenCalled()
    await goTo(10 * MINUTE)
    // A check every 30 s, which takes one tick of 10 s.
    expect(isRevoked.mock.calls.length).toBeGreaterThanOrEqual(15)
    expect(isRevoked.mock.calls.length).toBeLessThanOrEqual(20)
    expect(close).not.toHaveBeenCalled()
    revoked = true
    await goTo(10 * MINUTE + 40 * SECOND)
    expect(reasonsOf(close)).toEqual(['revoked'])
    const { length } = isRevoked.mock.calls
    await goTo(HOUR)
    expect(isRevoked).toHaveBeenCalledTimes(length)
    expect(close).toHaveBeenCalledOnce()
  })

  it.each([
    ['deleted', [], 'unknown_account'],
    ['disabled', [{ ...ACCOUNTS.alice, disabled: true }], 'account_disabled'],
    ['signed out everywhere', [{ ...ACCOUNTS.alice, tokensValidAfter: new Date('2100-01-01') }], 'superseded'],
  ])('closes when the account was %s', async (_, accounts, reason) => {
    const { close, goTo } = await opened({ accounts: makeStore(accounts), every: '5m' })
    await goTo(4 * MINUTE)
    expect(close).not.toHaveBeenCalled()
    await goTo(6 * MINUTE)
    expect(reasonsOf(close)).toEqual([reason])
  })

  /** A revocation check that fails on demand. */
  function failing() {
    const check = { down: false, isRevoked: () => (check.down ? Promise.reject(new Error('down')) : false) }
    return check
  }

  it('stays open while checks fail for less than keepFor, and closes when they fail for longer', async () => {
    const check = failing()
    const { close, goTo } = await opened({ isRevoked: check.isRevoked, keepFor: '2m' })
    for (const [down, until] of [
      [true, 100 * SECOND],
      [false, 10 * MINUTE],
      [true, 12 * MINUTE],
    ] as const) {
      check.down = down
      await goTo(until)
      expect(close).not.toHaveBeenCalled()
    }
    await goTo(13 * MINUTE)
    const cause = new Error('down')
    expect(close.mock.calls).toMatchObject([[{ code: 'unavailable', dependency: 'revocation', cause }]])
  })

  it('checks first after the machine was asleep', async () => {
    const { close, goTo } = await opened({ isRevoked: () => false })
    await goTo(30 * MINUTE, 30 * MINUTE)
    await goTo(31 * MINUTE)
    await goTo(50 * MINUTE, 19 * MINUTE)
    await goTo(51 * MINUTE)
    expect(close).not.toHaveBeenCalled()
  })

  it.each<[string, boolean, number]>([
    ['revoked', true, 30 * MINUTE],
    ['expired', false, 2 * HOUR],
  ])(
    'closes after the machine was asleep when the token is %s: revoked %s, after %i ms',
    async (reason, revoked, ms) => {
      const { close, goTo } = await opened({ isRevoked: () => revoked })
      await goTo(ms, ms)
      expect(reasonsOf(close)).toEqual([reason])
    },
  )

  it.each([false, true])('never closes after it was cancelled during a check, whose result is: %s', async (revoked) => {
    const { promise, resolve } = deferred<boolean>()
    const isRevoked = vi.fn(() => promise)
    const { close, cancel, goTo } = await opened({ isRevoked })
    await goTo(MINUTE)
    expect(isRevoked).toHaveBeenCalledOnce()
    cancel()
    resolve(revoked)
    await settled()
    expect(ticks.size).toBe(0)
    await goTo(2 * HOUR, MINUTE)
    expect(isRevoked).toHaveBeenCalledOnce()
    expect(close).not.toHaveBeenCalled()
  })

  it('closes when a check has neither failed nor ended for keepFor', async () => {
    const { close, goTo } = await opened({ isRevoked: never, every: '1s', keepFor: '2s', timeout: '1m' })
    await goTo(2 * SECOND, SECOND)
    expect(close).not.toHaveBeenCalled()
    await goTo(3 * SECOND, SECOND)
    expect(close.mock.calls).toEqual([[new AuthError('unavailable')]])
  })
})

describe('against slow stores, floods and clocks', () => {
  const passSeconds = async (seconds: number, pass: (ms: number) => Promise<void>) => {
    for (let i = 0; i < seconds; i++) await pass(SECOND)
  }

  it('checks one store while another never responds', async () => {
    const { pass, watch } = await clocked()
    const isRevoked = vi.fn(() => false)
    for (const given of [...Array(200).fill(never), isRevoked]) watch({ isRevoked: given, every: '1s', timeout: '1m' })
    await passSeconds(5, pass)
    expect(isRevoked.mock.calls.length).toBeGreaterThanOrEqual(3)
  })

  it('makes what close throws after a check an uncaught exception, as after the expiration', async () => {
    const { pass, watch } = await clocked()
    const fatal = fatalErrors()
    const options = { isRevoked: () => true, every: '1s' } as const
    const throwing = vi.fn(() => expect.fail('close'))
    watch(options, throwing)
    const { close } = watch(options)
    await passSeconds(2, pass)
    expect(fatal).toEqual(['uncaughtException: close'])
    expect(close).toHaveBeenCalledOnce()
  })

  it('checks within the interval after the clock was set back', async () => {
    const { pass, watch } = await clocked()
    let revoked = false
    const { close } = watch({ isRevoked: () => revoked, every: '5s' })
    await passSeconds(6, pass)
    await pass(-5 * SECOND)
    revoked = true
    await passSeconds(7, pass)
    expect(reasonsOf(close)).toEqual(['revoked'])
  })
})

it.each<[unknown[], string | RegExp]>([
  [[{ method: 'GET', url: '/a?b' }, undefined], /^authOf: GET \/a has no verified token/],
  [[undefined, undefined], /must be a guard/],
  [[undefined, { authenticate: 1 }, () => {}], /must be a guard/],
  [[undefined, { authenticate() {} }], /must be a function/],
  [[undefined, { authenticate() {} }, () => {}, { every: '1ms' }], /^closeWhenEnded: option "every" must be/],
  [[undefined, { authenticate() {} }, () => {}, { accounts: {} }], /unknown option "accounts"/],
])('names a wrong argument or option: %#', async ([req, ...args], says) => {
  const { auth } = await clocked()
  expectMisuse(() => closeWhenEnded(...([req ?? { auth }, ...args] as Parameters<typeof closeWhenEnded>)), says)
})

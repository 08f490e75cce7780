// Tests guard/sockets/{check-slots,every-second}.ts

import { AuthError, type CloseWhenEndedOptions, closeWhenEnded, type VerifiedToken } from 'express-token-endpoint'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { runCheck } from '../../../../src/guard/sockets/check-slots.js'
import { deferred, settled } from '../../../support/concurrency.js'
import { expectMisuse, fatalErrors } from '../../../support/failures.js'
import { ACCOUNTS, frozenClock, issueNow, makeIssuer, makeStore } from '../../../support/fixtures.js'

describe('the checks of all connections', () => {
  /** Checks that record their start, and end when the test says so. */
  function checks() {
    const started: string[] = []
    const running = new Map<string, () => void>()
    const ask = (owner: object, name: string) =>
      runCheck(owner, () => {
        const { promise, resolve } = deferred<void>()
        started.push(name)
        running.set(name, resolve)
        return promise
      })
    /** Ends a check, and lets the next ones start. */
    async function end(name: string) {
      running.get(name)?.()
      running.delete(name)
      await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
    }
    onTestFinished(async () => {
      while (running.size > 0) for (const name of running.keys()) await end(name)
    })
    return { started, running, ask, end }
  }

  const names = (owner: string, from: number, to: number) =>
    Array.from({ length: to - from }, (_, i) => `${owner} ${from + i}`)

  it('runs at most 32 checks of one owner and 64 in total, and the others in the order in which they came', async () => {
    const { started, running, ask, end } = checks()
    const [slow, other, third] = [{}, {}, {}]
    for (let i = 0; i < 40; i++) ask(slow, `slow ${i}`)
    expect(started).toEqual(names('slow', 0, 32))
    for (let i = 0; i < 40; i++) ask(other, `other ${i}`)
    ask(third, 'third 0')
    expect(started.slice(32)).toEqual(names('other', 0, 32))
    for (const name of ['slow 0', 'slow 1', 'slow 2', 'third 0', 'other 0']) await end(name)
    // The owners take turns.
    expect(started.slice(64)).toEqual(['slow 32', 'third 0', 'slow 33', 'slow 34', 'other 32'])
    expect(running.size).toBe(64)
  })

  it('keeps a check that was removed from starting, and counts one that runs until it ends', async () => {
    const { started, ask, end } = checks()
    const owner = {}
    const removals = Array.from({ length: 35 }, (_, i) => ask(owner, `check ${i}`))
    for (const remove of [removals[0], removals[32], removals[32]]) remove?.()
    expect(started).toHaveLength(32)
    await end('check 0')
    expect(started.slice(32)).toEqual(['check 33'])
    removals[34]?.()
    await end('check 1')
    expect(started).toHaveLength(33)
  })

  it('starts checks that end at once in later turns of the event loop', async () => {
    let ended = 0
    const owner = {}
    for (let i = 0; i < 200; i++) runCheck(owner, async () => void ended++)
    for (let i = 0; i < 1000; i++) await Promise.resolve()
    expect(ended).toBe(32)
    while (ended < 200) {
      const before = ended
      await new Promise((resolve) => setImmediate(resolve))
      expect(ended - before).toBeLessThanOrEqual(32)
    }
  })
})

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

/** A token, a clock that the test moves, and connections that are cancelled when the test ends. */
async function clocked() {
  const start = frozenClock()()
  let now = start
  const clock = () => now
  const issuer = makeIssuer({ clock })
  const auth: VerifiedToken = await issuer.verify(issueNow(issuer, { accountId: ACCOUNTS.alice.id }).token)
  /** Moves the clock, and makes a tick of the timer. Lets the checks end. */
  const pass = async (ms: number) => {
    now += ms
    for (const tick of [...ticks]) tick()
    for (let turn = 0; turn < 4; turn++) await new Promise((resolve) => setImmediate(resolve))
  }
  const watch = (options: CloseWhenEndedOptions = {}, close = vi.fn<(error: AuthError) => void>()) => {
    const cancel = closeWhenEnded(auth, close, { clock, ...options })
    onTestFinished(cancel)
    return { close, cancel }
  }
  return { auth, clock, pass, watch, since: () => now - start }
}

async function opened(options: CloseWhenEndedOptions = {}) {
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
    const { auth } = await opened()
    const cancels = Array.from({ length: 100_000 }, () => closeWhenEnded(auth, () => {}))
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

it.each([
  ['NaN', () => Number.NaN],
  ['text', () => '2030-01-01' as never],
  ['an error', () => expect.fail('clock')],
])('closes once when the clock returns %s, and leaves the other connections open', async (_, broken) => {
  const { auth, goTo, watch, close: other } = await opened()
  let clock: () => number | Date = () => auth.issuedAt
  const { close } = watch({ clock: () => clock(), isRevoked: () => false })
  clock = broken
  await goTo(2 * SECOND, SECOND)
  expect(close.mock.calls).toMatchObject([[{ code: 'unavailable', dependency: 'internal', cause: expect.any(Error) }]])
  expect(other).not.toHaveBeenCalled()
  expect(() => closeWhenEnded(auth, close, { clock: broken })).toThrow()
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
    await pass(-24 * HOUR)
    revoked = true
    await passSeconds(7, pass)
    expect(reasonsOf(close)).toEqual(['revoked'])
  })
})

it.each<[unknown[], string | RegExp]>([
  [[{}, () => {}], /must be a verified token/],
  [[undefined], /must be a function/],
  [[() => {}, { every: '1ms' }], /^closeWhenEnded: option "every" must be/],
  [[() => {}, { isRevoked: true }], /"isRevoked" must be a function \(auth\) => boolean, but is true/],
  [[() => {}, { interval: 1 }], /unknown option "interval"/],
])('names a wrong argument or option: %#', async (args, says) => {
  const { auth } = await clocked()
  const all = typeof args[0] === 'object' ? args : [auth, ...args]
  expectMisuse(() => closeWhenEnded(...(all as Parameters<typeof closeWhenEnded>)), says)
})

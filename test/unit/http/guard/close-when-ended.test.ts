import { type AuthError, type CloseWhenEndedOptions, closeWhenEnded, type VerifiedToken } from 'express-token-endpoint'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { deferred, settled } from '../../../support/concurrency.js'
import { expectMisuse, fatalErrors } from '../../../support/failures.js'
import { ACCOUNTS, frozenClock, makeIssuer, makeStore } from '../../../support/fixtures.js'

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

/** Calls `closeWhenEnded`, and cancels when the test ends. */
function watch(auth: VerifiedToken, close: (error: AuthError) => void, options?: CloseWhenEndedOptions) {
  const cancel = closeWhenEnded(auth, close, options)
  onTestFinished(cancel)
  return cancel
}

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

async function opened(options: CloseWhenEndedOptions = {}) {
  const start = frozenClock()()
  let now = start
  const time = () => now
  const issuer = makeIssuer({ clock: time })
  const auth = await issuer.verify(issuer.issue({ accountId: ACCOUNTS.alice.id }).token)
  const close = vi.fn<(error: AuthError) => void>()
  const cancel = watch(auth, close, { clock: time, ...options })
  /** Goes to a time after the start, in the given steps, and lets each check end. */
  const goTo = async (end: number, step = 10 * SECOND) => {
    while (now < start + end) {
      now = Math.min(now + step, start + end)
      for (const tick of [...ticks]) tick()
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  return { auth, close, cancel, goTo, start }
}

const reasonOf = (close: { mock: { calls: AuthError[][] } }) =>
  close.mock.calls.map(([error]) => [error?.code, error?.reason])

describe('without checks', () => {
  it('closes once, when the token has expired', async () => {
    const { close, goTo, auth } = await opened()
    await goTo(HOUR - SECOND)
    expect(close).not.toHaveBeenCalled()
    await goTo(3 * HOUR, 10 * MINUTE)
    expect(reasonOf(close)).toEqual([['invalid_token', 'expired']])
    expect(close.mock.calls[0]?.[0]).toMatchObject({ accountId: auth.accountId, tokenId: auth.id, status: 401 })
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
  const { auth, goTo, start } = await opened()
  let now = start
  let closed = 0
  for (let i = 0; i < 2000; i++) watch(auth, () => void closed++, { clock: () => now })
  now += HOUR
  const ticking = goTo(SECOND, SECOND)
  let most = closed
  while (closed < 2000) {
    const before = closed
    for (const tick of [...ticks]) tick()
    await new Promise((resolve) => setImmediate(resolve))
    most = Math.max(most, closed - before)
  }
  expect(most).toBe(250)
  await ticking
})

it.each([
  ['NaN', () => Number.NaN],
  ['an invalid Date', () => new Date('')],
  ['text', () => '2030-01-01' as never],
  ['nothing', () => undefined as never],
  ['an error', () => expect.fail('clock')],
])('closes once when the clock returns %s, and leaves the other connections open', async (_, broken) => {
  const { auth, goTo, close: other } = await opened()
  let clock: () => number | Date = () => auth.issuedAt
  const close = vi.fn<(error: AuthError) => void>()
  watch(auth, close, { clock: () => clock(), isRevoked: () => false })
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
    expect(reasonOf(close)).toEqual([['invalid_token', 'revoked']])
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
    expect(reasonOf(close)).toEqual([['invalid_token', reason]])
  })

  it('stays open while checks fail for less than keepFor, and closes when they fail for longer', async () => {
    let down = true
    const isRevoked = () => {
      if (down) throw new Error('down')
      return false
    }
    const { close, goTo } = await opened({ isRevoked, keepFor: '2m' })
    await goTo(100 * SECOND)
    down = false
    await goTo(10 * MINUTE)
    expect(close).not.toHaveBeenCalled()
    down = true
    await goTo(12 * MINUTE)
    expect(close).not.toHaveBeenCalled()
    await goTo(13 * MINUTE)
    expect(reasonOf(close)).toEqual([['unavailable', undefined]])
    expect(close.mock.calls[0]?.[0]).toMatchObject({ dependency: 'revocation', cause: new Error('down') })
  })

  it.each([100, 120, 140, 160, 180, 200])(
    'stays open for a minute of failures that begin after %i s',
    async (seconds) => {
      let down = false
      const isRevoked = () => {
        if (down) throw new Error('down')
        return false
      }
      const { close, goTo } = await opened({ isRevoked, keepFor: '2m' })
      await goTo(seconds * SECOND)
      down = true
      await goTo((seconds + 60) * SECOND)
      expect(close).not.toHaveBeenCalled()
      await goTo((seconds + 160) * SECOND)
      expect(reasonOf(close)).toEqual([['unavailable', undefined]])
    },
  )

  it('closes too when checks never end', async () => {
    const { close, goTo } = await opened({
      isRevoked: () => new Promise<boolean>(() => {}),
      keepFor: '1m',
      timeout: '1ms',
    })
    await goTo(4 * MINUTE)
    expect(reasonOf(close)).toEqual([['unavailable', undefined]])
  })

  it('checks first after the machine was asleep', async () => {
    const { close, goTo } = await opened({ isRevoked: () => false })
    await goTo(30 * MINUTE, 30 * MINUTE)
    await goTo(31 * MINUTE)
    await goTo(50 * MINUTE, 19 * MINUTE)
    await goTo(51 * MINUTE)
    expect(close).not.toHaveBeenCalled()
    const asleep = await opened({ isRevoked: () => true })
    await asleep.goTo(30 * MINUTE, 30 * MINUTE)
    expect(reasonOf(asleep.close)).toEqual([['invalid_token', 'revoked']])
    const expired = await opened({ isRevoked: () => false })
    await expired.goTo(2 * HOUR, 2 * HOUR)
    expect(reasonOf(expired.close)).toEqual([['invalid_token', 'expired']])
    const expires = await opened({ isRevoked: () => false })
    await expires.goTo(HOUR, HOUR)
    expect(reasonOf(expires.close)).toEqual([['invalid_token', 'expired']])
  })

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

  it.each([HOUR, 2 * HOUR])('closes for the expiration after a failed check and a sleep until %i ms', async (end) => {
    const { close, goTo } = await opened({ isRevoked: () => Promise.reject(new Error('down')) })
    await goTo(40 * SECOND)
    await goTo(end, end)
    expect(reasonOf(close)).toEqual([['invalid_token', 'expired']])
  })

  it('closes after the machine was asleep when the check then never ends', async () => {
    const { close, goTo } = await opened({ isRevoked: () => new Promise<boolean>(() => {}), timeout: '1ms' })
    await goTo(30 * MINUTE, 30 * MINUTE)
    await goTo(34 * MINUTE)
    expect(close).not.toHaveBeenCalled()
    await goTo(36 * MINUTE)
    expect(reasonOf(close)).toEqual([['unavailable', undefined]])
  })

  it('closes when a check has neither failed nor ended for keepFor', async () => {
    const isRevoked = () => new Promise<boolean>(() => {})
    const { close, goTo } = await opened({ isRevoked, every: '1s', keepFor: '2s', timeout: '1m' })
    await goTo(2 * SECOND, SECOND)
    expect(close).not.toHaveBeenCalled()
    await goTo(3 * SECOND, SECOND)
    expect(reasonOf(close)).toEqual([['unavailable', undefined]])
  })

  it('closes at the expiration too', async () => {
    const { close, goTo } = await opened({ isRevoked: () => false })
    await goTo(HOUR)
    expect(reasonOf(close)).toEqual([['invalid_token', 'expired']])
  })

  it('runs at most 32 checks of one function at the same time', async () => {
    let running = 0
    const release: (() => void)[] = []
    const isRevoked = () => {
      running++
      return new Promise<boolean>((resolve) => {
        release.push(() => {
          running--
          resolve(false)
        })
      })
    }
    const { auth, goTo, start } = await opened()
    let now = start
    const clock = () => now
    const cancels = Array.from({ length: 100 }, () => watch(auth, () => {}, { isRevoked, clock }))
    now += MINUTE
    await goTo(MINUTE)
    expect(running).toBe(32)
    for (const cancel of cancels) cancel()
    while (release.length > 0) {
      release.shift()?.()
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(running).toBe(0)
  })
})

describe('against slow stores, floods and clocks', () => {
  /** Makes ticks of one second each. */
  async function pass(seconds: number, advance: (ms: number) => void) {
    for (let i = 0; i < seconds; i++) {
      advance(SECOND)
      for (const tick of [...ticks]) tick()
      for (let turn = 0; turn < 4; turn++) await new Promise((resolve) => setImmediate(resolve))
    }
  }

  async function clocked() {
    const { auth, start } = await opened()
    let now = start
    const advance = (ms: number) => {
      now += ms
    }
    return { auth, advance, clock: () => now }
  }

  it('checks one store while another never responds', async () => {
    const { auth, advance, clock } = await clocked()
    const hanging = () => new Promise<boolean>(() => {})
    const isRevoked = vi.fn(() => false)
    const cancels = [...Array(200).fill(hanging), isRevoked].map((given) =>
      watch(auth, () => {}, { isRevoked: given, every: '1s', timeout: '1m', clock }),
    )
    await pass(5, advance)
    expect(isRevoked.mock.calls.length).toBeGreaterThanOrEqual(3)
    for (const cancel of cancels) cancel()
  })

  it('makes what close throws after a check an uncaught exception, as after the expiration', async () => {
    const { auth, advance, clock } = await clocked()
    const fatal = fatalErrors()
    const close = vi.fn()
    const options = { isRevoked: () => true, every: '1s', clock } as const
    watch(
      auth,
      () => {
        throw new Error('close')
      },
      options,
    )
    watch(auth, close, options)
    await pass(2, advance)
    expect(fatal).toEqual(['uncaughtException: close'])
    expect(close).toHaveBeenCalledOnce()
  })

  it('checks within the interval after the clock was set back', async () => {
    const { auth, advance, clock } = await clocked()
    const close = vi.fn()
    let revoked = false
    watch(auth, close, { isRevoked: () => revoked, every: '5s', clock })
    await pass(6, advance)
    advance(-24 * HOUR)
    revoked = true
    await pass(7, advance)
    expect(reasonOf(close)).toEqual([['invalid_token', 'revoked']])
  })

  it('closes in time after the clock was set back', async () => {
    const { auth, advance, clock } = await clocked()
    const close = vi.fn()
    watch(auth, close, { clock })
    advance(HOUR - 10 * SECOND)
    await pass(1, advance)
    advance(-24 * HOUR)
    await pass(12, advance)
    expect(reasonOf(close)).toEqual([['invalid_token', 'expired']])
  })
})

describe('misuse', () => {
  it('of the arguments and the options is a TypeError', async () => {
    const { auth } = await opened()
    expectMisuse(() => closeWhenEnded({} as never, () => {}), /must be a verified token/)
    expectMisuse(() => closeWhenEnded(auth, undefined as never), /must be a function/)
    expectMisuse(() => closeWhenEnded(auth, () => {}, { every: '1ms' }), /^closeWhenEnded: option "every" must be/)
    expectMisuse(
      () => closeWhenEnded(auth, () => {}, { isRevoked: true as never }),
      /"isRevoked" must be a function \(auth\) => boolean, but is true/,
    )
    expectMisuse(() => closeWhenEnded(auth, () => {}, { interval: 1 } as never), /unknown option "interval"/)
  })
})

import { inspect } from 'node:util'
import { type AuthEvent, isAuthError, type Mail } from 'express-token-endpoint'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { emitter } from '../../../src/events/emitter.js'
import type { CodeMailKind } from '../../../src/mail/mail.js'
import { createMailer, lifetimeOf, type MailerSettings, type MailRequest } from '../../../src/mail/mailer.js'
import { deferred, settled } from '../../support/concurrency.js'
import { fatalErrors } from '../../support/failures.js'
import { hang } from '../../support/values/invalid-results.js'

const waits: number[] = []
vi.mock('node:timers/promises', () => ({ setTimeout: async (ms: number) => void waits.push(ms) }))

const CODE = 'the-secret-code'
const MAIL: Mail = { kind: 'sign-in', to: 'alice@example.com', code: CODE, tenant: undefined }
const NOTICE = { kind: 'password-changed', to: 'alice@example.com', details: {}, tenant: undefined } as const
const ABOUT = { address: '192.0.2.1' }
const REQUEST: MailRequest = {
  kind: 'sign-in',
  email: 'alice@example.com',
  tenant: undefined,
  network: 'home',
  about: ABOUT,
}

beforeEach(() => {
  waits.length = 0
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] })
  vi.advanceTimersByTime(1) // lru-cache takes the very first instant for no time at all
})
afterEach(() => void vi.useRealTimers())

/** Creates mails, and records them, their events and what `defer` gets. */
function create(settings: Partial<MailerSettings> = {}) {
  const [mails, events, pending]: [Mail[], AuthEvent[], Promise<void>[]] = [[], [], []]
  const mailer = createMailer({
    send: (mail) => void mails.push(mail),
    defer: (promise) => pending.push(promise),
    emit: emitter((event) => void events.push(event)),
    timeout: 5000,
    ...settings,
  })
  /** Asks for a mail. Returns the code of the refusal. */
  function ask(change: Partial<MailRequest> = {}, work = (deliver: (mail: Mail) => Promise<void>) => deliver(MAIL)) {
    try {
      return mailer.accept({ ...REQUEST, ...change }, work)
    } catch (error) {
      return isAuthError(error) ? error : expect.fail()
    }
  }
  const codeOf = (change: Partial<MailRequest> = {}) => ask(change)?.code
  return { ...mailer, mails, events, pending, ask, codeOf }
}

/** Creates requests of different networks for different addresses. */
const other = (i: number) => ({ network: `network ${i}`, email: `${i}@example.com` })

describe('a request for a mail', () => {
  it('begins after the response, at a random time within a second', async () => {
    const mailer = create()
    const work = vi.fn(async () => {})
    for (let i = 0; i < 100; i++) mailer.ask(other(i), work)
    expect(work).not.toHaveBeenCalled()
    await Promise.all(mailer.pending)
    expect(work).toHaveBeenCalledTimes(100)
    for (const ms of waits) expect(ms).toBeLessThan(1000)
    expect(new Set(waits).size).toBeGreaterThan(30)
  })

  it('gives defer a promise of the whole work', async () => {
    const sent = deferred<void>()
    const mailer = create({ send: () => sent.promise })
    mailer.ask()
    const [done] = mailer.pending
    let isDone = false
    void done?.then(() => {
      isDone = true
    })
    await settled()
    expect(isDone).toBe(false)
    sent.resolve()
    await done
  })

  it('begins without defer too', async () => {
    const mailer = create({ defer: undefined })
    mailer.ask()
    await settled()
    expect([mailer.mails, mailer.events]).toEqual([[MAIL], []])
  })

  it.each<[string, CodeMailKind, number]>([
    ['three of one kind in an hour', 'sign-up', 3600],
    ['three of one kind in an hour', 'password-reset', 3600],
    ['three of one kind in an hour', 'new-address', 3600],
    ['three sign-ins in ten minutes', 'sign-in', 600],
  ])('is limited by the exact text of the address: %s (%s)', (_what, kind, window) => {
    const mailer = create()
    for (let i = 0; i < 3; i++) expect(mailer.ask({ kind })).toBeUndefined()
    const refusal = mailer.ask({ kind, network: 'elsewhere' })
    expect(refusal).toMatchObject({ code: 'too_many_attempts', status: 429 })
    expect(refusal?.headers['Retry-After']).toBe(String(window))
    expect(refusal?.message).toContain('mails')
    expect(mailer.codeOf({ kind, email: REQUEST.email.toUpperCase() })).toBeUndefined()
    expect(mailer.codeOf({ kind, tenant: 'north' })).toBeUndefined()
    expect(mailer.codeOf({ kind: kind === 'sign-up' ? 'sign-in' : 'sign-up' })).toBeUndefined()
    vi.advanceTimersByTime(window * 1000)
    expect(mailer.codeOf({ kind, network: 'elsewhere' })).toBe('too_many_attempts')
    vi.advanceTimersByTime(1)
    expect(mailer.codeOf({ kind, network: 'elsewhere' })).toBeUndefined()
    expect(lifetimeOf(kind)).toBe(window * 1000)
  })

  it('is limited by the network: ten in an hour, over all kinds and addresses', () => {
    const mailer = create()
    const kinds = ['sign-up', 'password-reset', 'new-address', 'sign-in'] as const
    for (let i = 0; i < 10; i++)
      expect(mailer.codeOf({ kind: kinds[i % 4] as CodeMailKind, email: `${i}@example.com` })).toBeUndefined()
    const refusal = mailer.ask({ email: 'x@example.com' })
    expect(refusal).toMatchObject({ code: 'too_many_attempts', headers: { 'Retry-After': '3600' } })
    expect(mailer.codeOf({ email: 'x@example.com', tenant: 'north' })).toBe('too_many_attempts')
    expect(mailer.codeOf({ email: 'x@example.com', network: 'elsewhere' })).toBeUndefined()
    vi.advanceTimersByTime(3_600_001)
    expect(mailer.codeOf({ email: 'x@example.com' })).toBeUndefined()
  })

  it('counts nothing when it is refused', () => {
    const mailer = create()
    for (let i = 0; i < 20; i++) mailer.codeOf()
    for (let i = 0; i < 7; i++) expect(mailer.codeOf({ email: `${i}@example.com` })).toBeUndefined()
    expect(mailer.codeOf({ email: 'x@example.com' })).toBe('too_many_attempts')
  })

  it('is refused for all when 1,000 wait, and is not counted then', async () => {
    const mailer = create({ send: hang, timeout: 1_000_000 })
    for (let i = 0; i < 1000; i++) expect(mailer.codeOf(other(i))).toBeUndefined()
    for (const change of [other(1000), other(0), REQUEST])
      for (let i = 0; i < 4; i++) expect(mailer.ask(change)).toMatchObject({ code: 'overloaded', status: 503 })
    await vi.advanceTimersByTimeAsync(1_060_000)
    for (let i = 0; i < 3; i++) expect(mailer.codeOf(other(1000))).toBeUndefined()
  })

  it('keeps its place only while its work runs', async () => {
    const mailer = create()
    for (let i = 0; i < 2500; i++) {
      expect(mailer.codeOf(other(i))).toBeUndefined()
      if (i % 500 === 499) await settled()
    }
  })

  it('counts mails to an account in addition, whatever the spelling, and refuses nobody', () => {
    const { mayMail } = create()
    const ask = (kind: CodeMailKind, tenant?: string, id = 'acc-1') => mayMail(kind, tenant, id)
    expect([1, 2, 3, 4].map(() => ask('password-reset'))).toEqual([true, true, true, false])
    expect([ask('sign-in'), ask('password-reset', 'north'), ask('password-reset', undefined, 'acc-2')]).toEqual([
      true,
      true,
      true,
    ])
    vi.advanceTimersByTime(3_600_001)
    expect(ask('password-reset')).toBe(true)
  })
})

describe('a failure after the response', () => {
  it.each<[string, MailerSettings['send']]>([
    [
      'throws',
      () => {
        throw new Error('down')
      },
    ],
    ['rejects', () => Promise.reject(new Error('down'))],
  ])('is an event when the mailer %s, without the code', async (_what, send) => {
    const mailer = create({ send })
    mailer.ask()
    mailer.notify(NOTICE, 'acc-1', ABOUT)
    await Promise.all(mailer.pending)
    const failed = { type: 'dependency.failed', dependency: 'hook', option: 'mail', refused: false, ...ABOUT }
    expect(mailer.events).toMatchObject([failed, failed])
    expect((mailer.events[0] as { error: Error }).error.message).toBe('down')
    expect(inspect(mailer.events, { depth: 9 })).not.toContain(CODE)
  })

  it('is an event when the mailer hangs', async () => {
    const mailer = create({ send: hang })
    mailer.ask()
    await settled()
    await vi.advanceTimersByTimeAsync(4999)
    expect(mailer.events).toEqual([])
    await vi.advanceTimersByTimeAsync(1)
    expect(mailer.events).toMatchObject([{ type: 'dependency.failed', option: 'mail', refused: false }])
    expect(inspect(mailer.events, { depth: 9 })).not.toContain(CODE)
    await Promise.all(mailer.pending)
  })

  it('is an event when the work fails, and one of this package is internal', async () => {
    const mailer = create()
    mailer.ask({}, async () => {
      throw new Error('a bug')
    })
    await Promise.all(mailer.pending)
    expect(mailer.events).toMatchObject([{ type: 'dependency.failed', dependency: 'internal', refused: false }])
  })

  it.each<[string, NonNullable<MailerSettings['defer']>]>([
    [
      'throws',
      () => {
        throw new Error('down')
      },
    ],
    ['rejects', () => Promise.reject(new Error('down'))],
  ])('is an event when defer %s, and the mail is sent', async (_what, defer) => {
    const [mailer, errors] = [create({ defer }), fatalErrors()]
    expect(mailer.ask()).toBeUndefined()
    await settled()
    expect(mailer.mails).toEqual([MAIL])
    expect(mailer.events).toMatchObject([{ dependency: 'hook', option: 'defer', error: { message: 'down' } }])
    expect(errors).toEqual([])
  })
})

describe('a notice', () => {
  const send = (mailer: ReturnType<typeof create>, id = 'acc-1') => mailer.notify(NOTICE, id, ABOUT)

  it('has no limit', async () => {
    const mailer = create()
    for (let i = 0; i < 50; i++) {
      send(mailer)
      await Promise.all(mailer.pending)
      await settled()
    }
    expect(mailer.mails).toEqual(Array(50).fill(NOTICE))
    expect(mailer.events).toEqual([])
  })

  it('does not wait for a random time, because it follows a change', async () => {
    const mailer = create()
    send(mailer)
    await settled()
    expect([mailer.mails, waits]).toEqual([[NOTICE], []])
  })

  it('has its own places for each account, and an event where they are used up', async () => {
    const mailer = create({ send: hang })
    for (let i = 0; i < 20; i++) send(mailer)
    expect(mailer.events).toEqual([])
    send(mailer)
    expect(mailer.events).toMatchObject([{ type: 'dependency.failed', option: 'mail', refused: false, ...ABOUT }])
    expect(String((mailer.events[0] as { error: unknown }).error)).toContain('password-changed')
    send(mailer, 'acc-2')
    expect(mailer.events).toHaveLength(1)
  })

  it('has other places than requests', () => {
    const mailer = create({ send: hang })
    for (let i = 0; i < 1000; i++) mailer.codeOf(other(i))
    send(mailer)
    expect(mailer.events).toEqual([])
  })

  it.each([
    ['60 s after the time limit', hang, 65_000],
    ['its mail ends', () => new Promise((resolve) => setTimeout(resolve, 20_000)), 20_000],
  ])('keeps its place while a mailer hangs, until %s', async (_what, slow, until) => {
    const mailer = create({ send: slow })
    for (let i = 0; i < 20; i++) send(mailer)
    await settled()
    await vi.advanceTimersByTimeAsync(until - 1)
    const before = mailer.events.length
    send(mailer)
    expect(mailer.events).toHaveLength(before + 1)
    await vi.advanceTimersByTimeAsync(1)
    send(mailer)
    expect(mailer.events).toHaveLength(before + 1)
  })
})

describe('a reminder of a used up limit', () => {
  const ALICE = { id: 'acc-1', email: REQUEST.email }
  const DAY = 86_400_000

  function remind(mailer: ReturnType<typeof create>, change: Partial<MailRequest> = {}, found: object | null = ALICE) {
    const find = vi.fn(async () => (found ?? undefined) as never)
    mailer.remind({ ...REQUEST, ...change }, find)
    return find
  }

  it('goes to the stored address of the account, once a day', async () => {
    const mailer = create()
    for (let i = 0; i < 3; i++) {
      remind(mailer)
      await Promise.all(mailer.pending)
    }
    const blocked = { kind: 'sign-in-blocked', to: ALICE.email, details: {}, tenant: undefined }
    expect([mailer.mails, waits.length]).toEqual([[blocked], 1])
    vi.advanceTimersByTime(DAY)
    expect(remind(mailer)).not.toHaveBeenCalled()
    vi.advanceTimersByTime(1)
    remind(mailer)
    await Promise.all(mailer.pending)
    expect(mailer.mails).toEqual([blocked, blocked])
  })

  it('is one for all spellings of the address, also at the same time', async () => {
    const mailer = create()
    for (const email of ['Alice@example.com', 'ALICE@example.com', REQUEST.email]) remind(mailer, { email })
    await Promise.all(mailer.pending)
    expect(mailer.mails).toHaveLength(1)
    remind(mailer, { tenant: 'north' })
    await Promise.all(mailer.pending)
    expect(mailer.mails).toHaveLength(2)
  })

  it.each([
    ['an unknown address', null],
    ['an account without an address', { id: 'acc-1', email: null }],
  ])('sends nothing for %s, and looks it up once', async (_what, found) => {
    const mailer = create()
    const finds = []
    for (let i = 0; i < 3; i++) {
      finds.push(remind(mailer, {}, found))
      await Promise.all(mailer.pending)
    }
    expect([mailer.mails, mailer.events, finds.filter((one) => one.mock.calls.length > 0)]).toEqual([
      [],
      [],
      [finds[0]],
    ])
  })

  it('is tried again after a look-up that failed', async () => {
    const mailer = create()
    mailer.remind(REQUEST, () => Promise.reject(new Error('down')))
    await Promise.all(mailer.pending)
    expect(mailer.events).toHaveLength(1)
    remind(mailer)
    await Promise.all(mailer.pending)
    expect(mailer.mails).toHaveLength(1)
  })

  it('takes at most 100 places of one network, and refuses nobody', () => {
    const mailer = create({ send: hang })
    for (let i = 0; i < 150; i++) remind(mailer, { email: `${i}@example.com` })
    expect(mailer.pending).toHaveLength(100)
    remind(mailer, { network: 'elsewhere' })
    expect(mailer.pending).toHaveLength(101)
  })
})

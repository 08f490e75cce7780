// Tests sessions/{add-session,checked-store,find-session,last-used,session,store-option}.ts

import type { AuthEvent, NewSession, Session, SessionOwner, SessionStore } from 'express-token-endpoint'
import { describe, expect, it } from 'vitest'
import { all, deferred, settled, until } from '../../support/concurrency.js'
import { expectMisuse, refusalOf, rejectionOf } from '../../support/failures.js'
import { frozenClock } from '../../support/fixtures.js'
import { polluted } from '../../support/pollution.js'
import { createSessions, memorySessions, type SessionsOptions } from '../../support/sessions.js'
import { hang } from '../../support/values/invalid-results.js'

const HOUR = 3_600_000

/** Creates sessions in memory, whose store can be replaced in part. */
function setUp(options: SessionsOptions = {}, replaced: Partial<SessionStore> = {}) {
  const clock = frozenClock()
  const events: AuthEvent[] = []
  const store = { ...memorySessions(), ...replaced }
  const sessions = createSessions(store, { clock, onEvent: (event) => events.push(event), ...options })
  const start = (id: string, accountId = 'acc-1', more: Partial<NewSession> = {}) =>
    sessions.start({ id, accountId, expiresAt: new Date(clock() + HOUR), ...more })
  const idsOf = async (accountId = 'acc-1') => (await sessions.list(accountId)).map(({ id }) => id)
  const told = () => events.splice(0).map(({ time: _, ...event }) => event)
  return { clock, store, sessions, start, idsOf, told }
}

const down = () => Promise.reject(new Error('down'))

describe('a session', () => {
  it('has the facts of its token and of its client, without other members, such as the token', async () => {
    const { clock, sessions, start, told } = setUp()
    const now = new Date(clock())
    const client = { address: '192.0.2.1', userAgent: 'curl/8', label: 'Laptop' }
    await start('a', 'acc-1', { ...client, token: 'eyJ.secret' } as object)
    const expiresAt = new Date(clock() + HOUR)
    const session = { id: 'a', accountId: 'acc-1', createdAt: now, expiresAt, lastUsedAt: now, ...client }
    expect(await sessions.list('acc-1')).toEqual([session])
    expect(told()).toEqual([
      { type: 'session.started', accountId: 'acc-1', tokenId: 'a', expiresAt, address: '192.0.2.1' },
    ])
    await start('b', 'acc-2')
    expect(await sessions.list('acc-2')).toMatchObject([{ address: null, userAgent: null, label: null }])
    clock.advance(1000)
    await start('c')
    expect((await sessions.list('acc-1'))[0]).toMatchObject({ id: 'c', createdAt: new Date(clock()) })
  })

  it.each([
    ['control characters', 'a\0b\r\nc\u001bd', 'abcd'],
    ['marks of another direction of writing', 'a\u202eb\u2066c', 'abc'],
    ['halves of a surrogate pair', '\ud83da\ude00', 'a'],
    ['nothing of an emoji', 'Ann’s 💻 "x"', 'Ann’s 💻 "x"'],
    ['nothing but control characters, which leaves no text', '\0\u0007', null],
    ['lines and paragraphs of Unicode', 'a\u2028b\u2029c', 'abc'],
    ['text that nobody sees, which leaves none', ' \u2800\u3164\u115f\uffa0\u034f\ufe0f\u{e0041}\u00a0\u2003', null],
    ['spaces before it is cut', `${' '.repeat(64)}Ann`, 'Ann'],
    ['spaces where it is cut', `${'a'.repeat(63)} b`, 'a'.repeat(63)],
    ['what follows 256 characters that nobody sees', `${'\u200b'.repeat(256)}Ann`, null],
    ['spaces at its ends', '\u200b Ann’s phone\u3000', 'Ann’s phone'],
    ['more than 64 characters, of a long text too', '💻'.repeat(1e6), '💻'.repeat(64)],
  ])('loses %s', async (_what, label, kept) => {
    const { sessions, start } = setUp()
    await start('a', 'acc-1', { label, address: label, userAgent: label && `${label}${'x'.repeat(300)}` })
    const [session] = await sessions.list('acc-1')
    expect(session).toMatchObject({ label: kept, address: kept })
    expect([...(session?.userAgent ?? '')]).toHaveLength(Math.min(256, [...(kept ?? '')].length + 300))
  })

  it.each([
    ['no object', undefined, 'a session must be an object, but is missing'],
    ['no id', { accountId: 'acc-1', expiresAt: new Date() }, '"id" must be a non-empty string'],
    ['an empty id', { id: '', accountId: 'acc-1', expiresAt: new Date() }, '"id" must be a non-empty string'],
    ['an id with a space', { id: 'a b', accountId: 'acc-1', expiresAt: new Date() }, '"id" must be printable ASCII'],
    ['a long id', { id: 'a'.repeat(256), accountId: 'acc-1', expiresAt: new Date() }, '"id" must be printable ASCII'],
    ['an empty account', { id: 'a', accountId: '', expiresAt: new Date() }, '"accountId" must be a non-empty string'],
    ['a text as time', { id: 'a', accountId: 'acc-1', expiresAt: '2026-03-01' }, '"expiresAt" must be a valid Date'],
    [
      'a number as label',
      { id: 'a', accountId: 'b', expiresAt: new Date(), label: 1 },
      '"label" must be a string or null',
    ],
  ])('with %s is a TypeError', async (_what, session, says) => {
    const { sessions, idsOf } = setUp()
    const error = await sessions.start(session as NewSession).catch((thrown) => thrown)
    expectMisuse(() => {
      throw error
    }, `sessions.start: ${says}`)
    expect(await idsOf()).toEqual([])
  })
})

describe('isEnded', () => {
  it('is false for a live session, and true for an unknown one and for one that was ended', async () => {
    const { sessions, start, told } = setUp()
    await start('a')
    expect(await sessions.isEnded({ id: 'a', accountId: 'acc-1' })).toBe(false)
    expect(await sessions.isEnded({ id: 'b', accountId: 'acc-1' })).toBe(true)
    told()
    expect(await sessions.end({ accountId: 'acc-1', id: 'a' }, 'a', '192.0.2.9')).toBe(true)
    expect(await sessions.isEnded({ id: 'a', accountId: 'acc-1' })).toBe(true)
    const ended = { type: 'session.ended', accountId: 'acc-1', reason: 'signed_out', tokenId: 'a' }
    expect(told()).toEqual([{ ...ended, address: '192.0.2.9' }])
  })

  it('rejects when the store returns a session of another account', async () => {
    const { sessions, start } = setUp()
    await start('a', 'acc-2')
    await expect(sessions.isEnded({ id: 'a', accountId: 'acc-1' })).rejects.toThrow(
      'sessions: find returned a session of a different account',
    )
  })

  it.each([
    ['a text', 'a', 'a session must be an object'],
    ['a time as text', { id: 'a', accountId: 'acc-1', lastUsedAt: '2026-03-01' }, '"lastUsedAt" must be a valid Date'],
    ['an inherited account', Object.create({ id: 'a' }), '"accountId" must be a non-empty string'],
  ])('rejects when the store returns %s', async (_what, found, says) => {
    const { sessions } = setUp({}, { find: () => found as never })
    await expect(sessions.isEnded({ id: 'a', accountId: 'acc-1' })).rejects.toThrow(`sessions: find: ${says}`)
  })
})

describe('the end of a session', () => {
  it('leaves the sessions of other accounts, and says that there is no such session', async () => {
    const { sessions, start, idsOf, told } = setUp()
    await start('mine')
    await start('theirs', 'acc-2')
    told()
    for (const id of ['theirs', 'unknown', '', 'a\0', 'x'.repeat(1e5), { $ne: null } as never]) {
      expect(await sessions.end({ accountId: 'acc-1', id: 'mine' }, id)).toBe(false)
    }
    expect([await idsOf('acc-2'), told()]).toEqual([['theirs'], []])
    expect(await sessions.end({ accountId: 'acc-1' }, 'mine')).toBe(true)
    const ended = { type: 'session.ended', accountId: 'acc-1', reason: 'ended', tokenId: 'mine', address: undefined }
    expect(told()).toEqual([ended])
  })

  it('asks the store once for the session of another account and for an unknown one, and never for an invalid id', async () => {
    const calls: string[] = []
    const { sessions, start, store } = setUp()
    await start('theirs', 'acc-2')
    const spied = createSessions(
      Object.fromEntries(
        Object.entries(store).map(([name, method]) => [
          name,
          (...args: never[]) => {
            calls.push(name)
            return (method as (...args: never[]) => unknown)(...args)
          },
        ]),
      ) as unknown as SessionStore,
    )
    for (const id of ['theirs', 'unknown', '', 'a\0', 'x'.repeat(256), 7 as never])
      await spied.end({ accountId: 'acc-1' }, id)
    expect(calls).toEqual(['find', 'find'])
    expect(await sessions.list('acc-2')).toHaveLength(1)
  })

  it.each([
    ['of one session', 'a'],
    ['of another session', 'b'],
  ])('several times at once %s has one event, and one caller learns of it', async (_what, current) => {
    const { sessions, start, told } = setUp({}, { find: async (id) => ({ ...(await live), id }) })
    const live = start('a').then(async () => (await sessions.list('acc-1'))[0] as Session)
    await live
    told()
    expect((await all(5, () => sessions.end({ accountId: 'acc-1', id: current }, 'a'))).filter(Boolean)).toEqual([true])
    expect(told()).toMatchObject([{ type: 'session.ended', tokenId: 'a' }])
  })

  it('of all sessions at once has one event, and none for an account without sessions', async () => {
    const { sessions, start, told } = setUp()
    await start('a')
    await start('b')
    told()
    await all(3, () => sessions.endOthers({ accountId: 'acc-1', id: 'b' }))
    await all(3, () => sessions.endAll('acc-1'))
    await sessions.endAll('acc-2')
    expect(told()).toMatchObject([{ reason: 'others' }, { reason: 'all' }])
  })

  it.each([undefined, 1, 'OK'])('is unavailable when the store returns %o instead of a boolean', async (result) => {
    const returns = (() => result) as never
    const { sessions, start, told } = setUp({}, { remove: returns, removeAll: returns })
    await start('a')
    told()
    for (const [method, end] of [
      ['remove', () => sessions.end({ accountId: 'acc-1' }, 'a')],
      ['removeAll', () => sessions.endOthers({ accountId: 'acc-1', id: 'a' })],
      ['removeAll', () => sessions.endAll('acc-1')],
    ] as const) {
      const { code, dependency, cause } = await refusalOf(end())
      expect([code, dependency]).toEqual(['unavailable', 'sessions'])
      expect((cause as Error).message).toContain(`sessions: ${method} must return true or false`)
    }
    expect(told()).toEqual([])
  })

  it('endOthers keeps the current session, and endAll keeps none', async () => {
    const { sessions, start, idsOf, told } = setUp()
    for (const id of ['a', 'b', 'c']) await start(id)
    await start('d', 'acc-2')
    told()
    await sessions.endOthers({ id: 'b', accountId: 'acc-1' })
    expect(await idsOf()).toEqual(['b'])
    await sessions.endAll('acc-1')
    expect([await idsOf(), await idsOf('acc-2')]).toEqual([[], ['d']])
    const ended = { type: 'session.ended', accountId: 'acc-1', address: undefined }
    expect(told()).toStrictEqual([
      { ...ended, reason: 'others' },
      { ...ended, reason: 'all' },
    ])
  })

  it.each(['', undefined, null, 7, { $ne: null }])('never asks the store for the account %o', async (accountId) => {
    const asked: unknown[] = []
    const note = (...args: unknown[]) => asked.push(args) > 0
    const { sessions } = setUp({}, { list: note as never, removeAll: note, remove: note, find: note as never })
    const owner = { id: 'a', accountId: accountId as string }
    for (const [says, call] of [
      ['list: the account id must be a non-empty string', () => sessions.list(accountId as string)],
      ['endAll: the account id must be a non-empty string', () => sessions.endAll(accountId as string)],
      ['endOthers: the account id must be a non-empty string', () => sessions.endOthers(owner)],
      ['end: the account id must be a non-empty string', () => sessions.end(owner, 'a')],
      ['endOthers: pass req.auth', () => sessions.endOthers({ accountId: 'acc-1', id: accountId as string })],
    ] as const) {
      const error = await rejectionOf(call())
      expectMisuse(() => {
        throw error
      }, `sessions.${says}`)
    }
    expect(asked).toEqual([])
  })
})

describe('the issuers of the app', () => {
  const owner = { accountId: 'acc-1', id: 'a' }
  const [own, other] = ['https://api.example.com', 'https://partner.example'].map((issuer) => ({ ...owner, issuer }))

  it('have sessions, and a token of another issuer can neither use nor end one', async () => {
    const issuers = ['https://old.example', 'https://api.example.com']
    const { sessions, start, idsOf, told } = setUp({ issuers })
    for (const id of ['a', 'b', 'c']) await start(id)
    told()
    expect([await sessions.isEnded(other as SessionOwner), await sessions.end(other as SessionOwner, 'a')]).toEqual([
      true,
      false,
    ])
    await expect(sessions.endOthers(other as SessionOwner)).rejects.toThrow(
      'sessions.endOthers: pass req.auth of a token that your app issued, because it identifies the session to keep',
    )
    expect([await idsOf(), told()]).toEqual([['c', 'b', 'a'], []])
    expect([await sessions.isEnded(own as SessionOwner), await sessions.end(own as SessionOwner, 'b')]).toEqual([
      false,
      true,
    ])
    expect([await sessions.isEnded(owner), await sessions.end({ accountId: 'acc-1' }, 'c')]).toEqual([false, true])
    await sessions.endOthers(own as SessionOwner)
    expect(await idsOf()).toEqual(['a'])
  })

  it('are read from the owner itself, also while Object.prototype has foreign members', async () => {
    const { sessions, start, idsOf } = setUp({ issuers: ['https://api.example.com'] })
    for (const id of ['a', 'b', 'c']) await start(id)
    const account = { accountId: 'acc-1' }
    const foreign = { issuer: 'https://partner.example', id: 'b' }
    expect(await polluted(foreign, () => sessions.end(account, 'a'))).toBe(true)
    await expect(polluted(foreign, () => sessions.endOthers(account as SessionOwner))).rejects.toThrow(TypeError)
    expect(await idsOf()).toEqual(['c', 'b'])
  })
})

describe('the maximum per account', () => {
  it('ends the oldest session, also of two with the same time', async () => {
    const { clock, start, idsOf, told } = setUp({ maxPerAccount: 2 })
    for (const id of ['a', 'b', 'c']) await start(id)
    expect(await idsOf()).toEqual(['c', 'b'])
    clock.advance(1)
    await start('d', 'acc-1', { address: '192.0.2.1' })
    await start('e', 'acc-2')
    expect([await idsOf(), await idsOf('acc-2')]).toEqual([['d', 'c'], ['e']])
    const ended = { type: 'session.ended', accountId: 'acc-1', reason: 'maximum' }
    expect(told().filter(({ type }) => type === 'session.ended')).toEqual([
      { ...ended, tokenId: 'a', address: undefined },
      { ...ended, tokenId: 'b', address: '192.0.2.1' },
    ])
  })

  it('holds for sign-ins at once, however the store mixes them, and some of them stay', async () => {
    let calls = 0
    const turn = async () => {
      for (let turns = (++calls * 31) % 7; turns > 0; turns--) await new Promise(setImmediate)
    }
    const memory = memorySessions()
    const slow = Object.fromEntries(
      Object.entries(memory).map(([name, method]) => [
        name,
        async (...args: never[]) => {
          await turn()
          const result: unknown = (method as (...args: never[]) => unknown)(...args)
          await turn()
          return result
        },
      ]),
    )
    const { start, idsOf, told } = setUp({ maxPerAccount: 3 }, slow)
    await all(20, (i) => start(`s${i}`))
    expect(await idsOf()).toHaveLength(3)
    expect(memory.list('acc-1')).toHaveLength(3)
    const ended = told().flatMap((event) => (event.type === 'session.ended' ? [event.tokenId] : []))
    expect([ended.length, new Set(ended).size]).toEqual([17, 17])
  })

  it('orders sessions of the same time by their ids, however the store lists them, and lists all that are live, also above the maximum', async () => {
    const { sessions, start, store, idsOf } = setUp({ maxPerAccount: 3 })
    await start('b')
    const [session] = (await sessions.list('acc-1')) as [Session]
    for (const id of ['c', '0', 'a']) await store.add({ ...session, id })
    expect(await idsOf()).toEqual(['c', 'b', 'a', '0'])
    await start('d')
    expect(await idsOf()).toEqual(['d', 'c', 'b'])
  })

  it('ends no session that has just started, also when the clock of another process is ahead', async () => {
    const { clock, store, start, idsOf, sessions } = setUp({ maxPerAccount: 2 })
    const ahead = createSessions(store, { maxPerAccount: 2, clock: () => clock() + HOUR })
    const expiresAt = new Date(clock() + 2 * HOUR)
    for (const id of ['a', 'b']) await ahead.start({ id, accountId: 'acc-1', expiresAt })
    await start('c')
    expect(await idsOf()).toEqual(['c', 'b'])
    await ahead.start({ id: 'd', accountId: 'acc-1', expiresAt })
    await start('e')
    expect(await idsOf()).toEqual(['e', 'd'])
    expect((await sessions.list('acc-1'))[0]?.lastUsedAt).toEqual(new Date(clock()))
  })

  it('does not count expired sessions, which are not listed', async () => {
    const { clock, start, idsOf } = setUp({ maxPerAccount: 2 }, { remove: down })
    await start('a')
    clock.advance(HOUR - 1)
    expect(await idsOf()).toEqual(['a'])
    clock.advance(1)
    expect(await idsOf()).toEqual([])
    await start('b')
    await start('c')
    expect(await idsOf()).toEqual(['c', 'b'])
  })
})

describe('a session that has expired', () => {
  const owner = { id: 'a', accountId: 'acc-1' }

  it('has ended for guards from its end on, although the store still has it', async () => {
    const { sessions, start, clock, store } = setUp()
    await start('a')
    clock.advance(HOUR - 1)
    expect(await sessions.isEnded(owner)).toBe(false)
    clock.advance(1)
    expect(await sessions.isEnded(owner)).toBe(true)
    expect(await store.find('a')).toBeDefined()
  })

  it('stays live where the store returns no end, and a wrong end is a fault of the store', async () => {
    const memory = memorySessions()
    let end: unknown
    const find = async (id: string) => ({ ...(await memory.find(id)), expiresAt: end }) as never
    const { sessions, start, clock } = setUp({}, { ...memory, find })
    await start('a')
    clock.advance(2 * HOUR)
    for (const none of [undefined, null]) {
      end = none
      expect(await sessions.isEnded(owner)).toBe(false)
    }
    end = new Date(Number.NaN)
    await expect(sessions.isEnded(owner)).rejects.toThrow('sessions: find: "expiresAt" must be a valid Date')
  })
})

describe('a store that fails', () => {
  it.each([
    ['rejects', down],
    ['throws', () => expect.fail('down')],
    ['hangs', hang],
  ])('and %s makes every method unavailable', async (_how, fails) => {
    const failing = { add: fails, find: fails, list: fails, removeAll: fails }
    const { sessions, start, told } = setUp({ timeout: '1ms' }, failing)
    for (const call of [
      () => start('a'),
      () => sessions.list('acc-1'),
      () => sessions.end({ accountId: 'acc-1' }, 'a'),
      () => sessions.endOthers({ accountId: 'acc-1', id: 'a' }),
      () => sessions.endAll('acc-1'),
    ]) {
      expect(await refusalOf(call())).toMatchObject({ code: 'unavailable', dependency: 'sessions' })
    }
    expect(told()).toEqual([])
  })

  it('and returns what is not an array of sessions of this account, makes the list unavailable', async () => {
    const { start, store } = setUp()
    await start('a', 'acc-2')
    for (const [returned, says] of [
      [undefined, ' must return an array'],
      [{}, ' must return an array'],
      [[undefined, {}], ': "id" must be a non-empty string'],
      [await store.list('acc-2'), ' returned a session of a different account'],
    ] as const) {
      const { sessions } = setUp({}, { list: () => returned as never })
      const { code, dependency, cause } = await refusalOf(sessions.list('acc-1'))
      expect([code, dependency]).toEqual(['unavailable', 'sessions'])
      expect((cause as Error).message).toContain(`sessions: list${says}`)
    }
  })

  it('and finds or lists null or undefined instead of a session, has no such session', async () => {
    const { idsOf, sessions } = setUp({}, { list: () => [null, undefined] as never, find: () => null })
    expect(await sessions.end({ accountId: 'acc-1' }, 'a')).toBe(false)
    expect(await idsOf()).toEqual([])
  })

  it('starts no session when the surplus could not be ended', async () => {
    const { start, told } = setUp({ maxPerAccount: 1 }, { remove: down })
    await start('a')
    told()
    expect(await refusalOf(start('b'))).toMatchObject({ code: 'unavailable' })
    expect(told()).toEqual([])
  })
})

it('keeps what it returned from changing a stored session', async () => {
  const { sessions, start } = setUp()
  await start('a')
  const [session] = await sessions.list('acc-1')
  session?.expiresAt.setTime(0)
  expect(await sessions.list('acc-1')).toHaveLength(1)
})

describe('a sign-in that fails', () => {
  it('leaves no session when the store cannot list', async () => {
    const { store, start } = setUp({}, { list: down })
    await expect(start('a')).rejects.toMatchObject({ code: 'unavailable' })
    expect(await store.find('a')).toBeFalsy()
  })

  it.each<[string, (added: ReturnType<typeof deferred<void>>) => void, string[]]>([
    ['adds it after the time limit', ({ resolve }) => resolve(), ['b', 'b']],
    ['fails after the time limit', ({ reject }) => reject(new Error('down')), ['b', 'b']],
    ['never answers', () => {}, ['b']],
  ])('leaves no session, and ends none, when the store %s', async (_how, settle, forgotten) => {
    const memory = memorySessions()
    const [slow, removed] = [deferred<void>(), [] as string[]]
    const add = async (session: Session) => {
      if (session.id === 'b') await slow.promise.finally(() => memory.add(session))
      else memory.add(session)
    }
    const remove = (id: string, accountId: string) => removed.push(id) > 0 && memory.remove(id, accountId)
    const { start, idsOf, told } = setUp({ timeout: '20ms', maxPerAccount: 1 }, { ...memory, add, remove })
    await start('a')
    await expect(start('b')).rejects.toMatchObject({ code: 'unavailable', dependency: 'sessions' })
    settle(slow)
    await settled()
    expect([await idsOf(), removed, told().length]).toEqual([['a'], forgotten, 1])
  })

  it.each<[string, boolean[], string[], string[]]>([
    ['is not sent, and then ends none', [false], ['a'], []],
    ['is not sent any more, and reports the one that has ended', [true, false], [], ['session.ended']],
    ['is sent', [true, true], ['b'], ['session.ended', 'session.started']],
  ])('stays only for a token that %s', async (_what, wanted, ids, events) => {
    const { sessions, start, idsOf, told } = setUp({ maxPerAccount: 1 })
    await start('a')
    told()
    const session = { id: 'b', accountId: 'acc-1', expiresAt: new Date(8e12) }
    const code = await sessions.start(session, () => wanted.shift() === true).catch((error) => error.code)
    expect(code).toBe(ids[0] === 'b' ? undefined : 'client_closed_request')
    await settled()
    expect([await idsOf(), told().map(({ type }) => type), wanted]).toEqual([ids, events, []])
  })
})

describe('the use of a session', () => {
  const asked = { id: 'a', accountId: 'acc-1' }
  const lastUse = async ({ sessions }: ReturnType<typeof setUp>) => (await sessions.list('acc-1'))[0]?.lastUsedAt

  it('is written after one minute, in another turn of the event loop', async () => {
    const set = setUp()
    const start = new Date(set.clock())
    await set.start('a')
    set.clock.advance(59_999)
    await set.sessions.isEnded(asked)
    await settled()
    expect(await lastUse(set)).toEqual(start)
    set.clock.advance(1)
    await set.sessions.isEnded(asked)
    expect(await lastUse(set)).toEqual(start)
    await settled()
    expect(await lastUse(set)).toEqual(new Date(set.clock()))
  })

  it('is written once by many requests, also while the store returns the old time', async () => {
    const touched: Date[] = []
    const set = setUp({}, { touch: (_id, time) => touched.push(time) })
    await set.start('a')
    set.clock.advance(60_000)
    await all(100, () => set.sessions.isEnded(asked))
    await settled()
    set.clock.advance(59_999)
    await all(100, () => set.sessions.isEnded(asked))
    await settled()
    expect(touched).toHaveLength(1)
    set.clock.advance(1)
    await set.sessions.isEnded(asked)
    await settled()
    expect(touched).toHaveLength(2)
  })

  it('is written again after the clock was set back, and once a minute then too', async () => {
    const touched: Date[] = []
    const set = setUp({}, { touch: (_id, time) => touched.push(time) })
    await set.start('a', 'acc-1', { expiresAt: new Date(set.clock() + 100 * HOUR) })
    set.clock.advance(-HOUR)
    const use = async () => {
      await all(3, () => set.sessions.isEnded(asked))
      await settled()
    }
    await use()
    set.clock.advance(59_999)
    await use()
    expect(touched).toHaveLength(1)
    set.clock.advance(-HOUR)
    await use()
    expect(touched).toHaveLength(2)
  })

  it('has at most 4 writes of one account under way, and overdue ones are among them', async () => {
    let gate = deferred<void>()
    const touched: string[] = []
    const set = setUp({ timeout: '1ms' }, { touch: (id) => touched.push(id) && gate.promise })
    const ids = Array.from({ length: 10 }, (_, i) => `s${i}`)
    for (const id of ids) await set.start(id)
    await set.start('theirs', 'acc-2')
    set.clock.advance(60_000)
    const useAll = async () => {
      for (const id of ids) await set.sessions.isEnded({ id, accountId: 'acc-1' })
      await set.sessions.isEnded({ id: 'theirs', accountId: 'acc-2' })
      await settled()
    }
    await useAll()
    const failures: unknown[] = []
    await until(() => {
      failures.push(...set.told().filter(({ type }) => type === 'dependency.failed'))
      expect(failures).toHaveLength(5)
    })
    await useAll()
    expect(touched).toEqual(['s0', 's1', 's2', 's3', 'theirs'])
    gate.resolve()
    gate = { ...gate, promise: Promise.resolve() }
    await settled()
    await useAll()
    expect(touched.slice(5)).toEqual(['s4', 's5', 's6', 's7'])
    await settled()
    await useAll()
    expect(touched.slice(9)).toEqual(['s8', 's9'])
  })

  it('has at most 64 writes under way, and 10,000 in a minute, and then continues', async () => {
    let writes = 0
    let gate = deferred<void>()
    const set = setUp({ timeout: '1m' }, { touch: () => ++writes && gate.promise })
    const ids = Array.from({ length: 10_100 }, (_, i) => `s${i}`)
    await set.start('first')
    const [session] = await set.sessions.list('acc-1')
    for (const id of ids) await set.store.add({ ...(session as Session), id, accountId: id })
    set.clock.advance(60_000)
    const useAll = async () => {
      for (const id of ids) await set.sessions.isEnded({ id, accountId: id })
      await settled()
    }
    await useAll()
    expect(writes).toBe(64)
    gate.resolve()
    gate = { ...gate, promise: Promise.resolve() }
    for (const id of ids) {
      await set.sessions.isEnded({ id, accountId: id })
      await new Promise(setImmediate)
    }
    expect(writes).toBe(10_000)
    set.clock.advance(60_000)
    await useAll()
    expect(writes).toBe(10_064)
  })

  it('that cannot be written is reported, and admits the request', async () => {
    const set = setUp({}, { touch: down })
    await set.start('a')
    set.clock.advance(60_000)
    set.told()
    expect(await set.sessions.isEnded(asked)).toBe(false)
    await settled()
    const failed = { type: 'dependency.failed', dependency: 'sessions', refused: false, address: undefined }
    expect(set.told()).toStrictEqual([{ ...failed, error: new Error('down') }])
  })
})

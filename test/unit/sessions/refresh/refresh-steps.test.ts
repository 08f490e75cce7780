// Tests sessions/refresh/{password-tags,refresh-steps}.ts

import type { AuthEvent, Duration, SessionStore } from 'express-token-endpoint'
import { describe, expect, it, vi } from 'vitest'
import { deferred, settled } from '../../../support/concurrency.js'
import { refusalOf } from '../../../support/failures.js'
import { memorySessions, sessionsAndSteps } from '../../../support/sessions.js'
import { hang } from '../../../support/values/invalid-results.js'

const FACTS = { sessionId: 'a', generation: 0 }
const [NOW, DAY] = [1_767_225_600_000, 86_400_000]

async function open(change: Partial<SessionStore> = {}, more: { longest?: Duration; timeout?: Duration } = {}) {
  const account: { hash: string | null | undefined } = { hash: 'new hash' }
  const store = { ...memorySessions(), ...change }
  const events: AuthEvent[] = []
  const time = { now: NOW }
  const { refreshSteps = expect.fail('no refresh') } = sessionsAndSteps(store, {
    clock: () => time.now,
    onEvent: (event) => void events.push(event),
    refresh: { idle: '10d', longest: more.longest },
    hashOf: async () => account.hash,
    timeout: more.timeout,
  })
  const { refresh, expiresAt } = refreshSteps.begin(true)
  // A store that another call has opened has the session.
  if (((await change.list?.('acc-1')) ?? []).length === 0)
    await store.add({
      id: 'a',
      accountId: 'acc-1',
      createdAt: new Date(NOW),
      lastUsedAt: new Date(NOW),
      expiresAt,
      address: null,
      userAgent: null,
      label: null,
      refresh,
    })
  const found = async () => (await refreshSteps.find(FACTS)) ?? expect.fail('no session')
  return { store, refreshSteps, events, time, found, account }
}

describe('the session of a refresh token', () => {
  it('is over at its longest time, which another process has shortened since the sign-in', async () => {
    const { store } = await open()
    const { refreshSteps, time } = await open(store, { longest: '10d' })
    const shorter = await open(
      { ...store, find: async (id) => ({ ...(await store.find(id)), expiresAt: new Date(8e15) }) as never },
      { longest: '10d' },
    )
    expect(await refreshSteps.find(FACTS)).toBeDefined()
    for (const [at, isFound] of [
      [10 * DAY - 1, true],
      [10 * DAY, false],
    ] as const) {
      time.now = shorter.time.now = NOW + at
      expect((await shorter.refreshSteps.find(FACTS)) !== undefined).toBe(isFound)
    }
  })

  it('is unavailable when the store has lost its state, and is not found by a sign-in if it began without refresh', async () => {
    const { refreshSteps, store } = await open()
    await store.add({ ...((await store.find('a')) as never as object), id: 'old', refresh: null } as never)
    const presented = { sessionId: 'old', generation: 0 }
    for (const find of [refreshSteps.find, refreshSteps.findEvenExpired]) {
      const refusal = await refusalOf(find(presented))
      expect(refusal).toMatchObject({ code: 'unavailable', dependency: 'sessions' })
      expect(String(refusal.cause)).toContain('"refresh" must be the string that the store received, unchanged')
    }
    expect(await refreshSteps.findWithRefresh('old')).toBeUndefined()
    expect(await refreshSteps.findWithRefresh('a')).toMatchObject({ id: 'a' })
    await refreshSteps.announceHash({ accountId: 'acc-1', from: 'old hash', to: 'new hash' })
    await refreshSteps.keepAfterChange('old', 'acc-1')
    expect((await store.find('old'))?.refresh).toBeNull()
  })

  it('is unavailable when the store does not respond in time', async () => {
    const { refreshSteps } = await open({ find: hang }, { timeout: '1ms' })
    const refusal = await refusalOf(refreshSteps.find(FACTS))
    expect(refusal).toMatchObject({ code: 'unavailable', cause: { message: 'no result within 1 ms' } })
  })

  it('is unavailable when the store returns another session than it was given', async () => {
    const { refreshSteps } = await open({
      find: () => ({ accountId: 'acc-1', lastUsedAt: new Date(), refresh: 'x' }) as never,
    })
    const refusal = await refusalOf(refreshSteps.find(FACTS))
    expect(refusal).toMatchObject({ code: 'unavailable', dependency: 'sessions' })
    expect(String(refusal.cause)).toContain('sessions: find: "createdAt" must be a valid Date')
  })
})

describe('the terms of a session', () => {
  const unchanged = {
    message: expect.stringContaining('"terms" must be the string that the store received, unchanged'),
  }
  const hashes = { current: 'hash', announced: undefined }

  it('must be in the store before the token of the sign-in is sent', async () => {
    const { refreshSteps } = await open()
    for (const [terms, isStored] of [
      [undefined, true],
      [null, true],
      ['dGVybXM', false],
    ] as const) {
      const confirmed = refreshSteps.confirmSignIn({ id: 'a', terms }, hashes)
      if (isStored) expect(await confirmed).toBeUndefined()
      else expect(await refusalOf(confirmed)).toMatchObject({ code: 'unavailable', cause: unchanged })
    }
  })

  it('of a refresh token must be in the store before the next one is sent, and its retry then works', async () => {
    const memory = memorySessions()
    let isLost = true
    const { refreshSteps, found, time } = await open({
      ...memory,
      replace: (id, from, { terms, ...to }) =>
        memory.replace(id, from, { ...to, ...(!isLost && terms !== undefined && { terms }) }),
    })
    const presented = { ...FACTS, terms: 'dGVybXM' }
    const rotate = async () => refreshSteps.rotate(await found(), presented, null)
    for (const wait of [0, 1000, 60_000, 60_000]) {
      time.now += wait
      expect(await refusalOf(rotate() as Promise<unknown>)).toMatchObject({
        code: 'unavailable',
        dependency: 'sessions',
        cause: unchanged,
      })
    }
    isLost = false
    expect(await rotate()).toMatchObject({ terms: 'dGVybXM', state: { generation: 2 } })
    expect(await memory.find('a')).toMatchObject({ terms: 'dGVybXM' })
  })

  it('of a refresh token open nothing when the session ends just after they were stored', async () => {
    const memory = memorySessions()
    const { refreshSteps, found } = await open({
      ...memory,
      async replace(id, from, to) {
        const isReplaced = memory.replace(id, from, to)
        await memory.removeAll('acc-1')
        return isReplaced
      },
    })
    expect(await refreshSteps.rotate(await found(), { ...FACTS, terms: 'dGVybXM' }, null)).toBe('ended')
  })
})

describe('a change of a session', () => {
  it('is overloaded after 16 changes of others at the same moment', async () => {
    let calls = 0
    const { refreshSteps, found } = await open({
      replace() {
        calls++
        return false
      },
    })
    expect(
      await refusalOf(refreshSteps.rotate(await found(), { sessionId: 'a', generation: 0 }, null) as Promise<unknown>),
    ).toMatchObject({
      code: 'overloaded',
    })
    expect(calls).toBe(16)
  })

  it('is unavailable when the store does not say whether it changed the session', async () => {
    const { refreshSteps, found } = await open({ replace: () => undefined as never })
    const refusal = await refusalOf(
      refreshSteps.rotate(await found(), { sessionId: 'a', generation: 0 }, null) as Promise<unknown>,
    )
    expect(refusal).toMatchObject({ code: 'unavailable', dependency: 'sessions' })
    expect(String(refusal.cause)).toContain('sessions: replace must return true or false')
  })

  it('is unavailable when the store does not respond in time', async () => {
    const { refreshSteps, found } = await open({ replace: hang }, { timeout: '1ms' })
    expect(
      await refusalOf(refreshSteps.rotate(await found(), { sessionId: 'a', generation: 0 }, null) as Promise<unknown>),
    ).toMatchObject({
      code: 'unavailable',
    })
  })

  it('is not tried again after the time limit', async () => {
    const isSwapped = deferred<boolean>()
    const replace = vi.fn(() => isSwapped.promise)
    const { refreshSteps, found, store } = await open({ replace }, { timeout: '1ms' })
    const refusal = await refusalOf(
      refreshSteps.rotate(await found(), { sessionId: 'a', generation: 0 }, null) as Promise<unknown>,
    )
    expect(refusal).toMatchObject({ code: 'unavailable' })
    const looked = vi.spyOn(store, 'find')
    isSwapped.resolve(false)
    await settled()
    expect(looked).toHaveBeenCalledTimes(1)
    expect(replace).toHaveBeenCalledTimes(1)
  })

  it('is stored once for two refreshes with the same token, one after the other', async () => {
    const { refreshSteps, found, store } = await open()
    const first = await refreshSteps.rotate(await found(), { sessionId: 'a', generation: 0 }, null)
    const stored = await store.find('a')
    expect(await refreshSteps.rotate(await found(), { sessionId: 'a', generation: 0 }, null)).toMatchObject({
      state: (first as { state: object }).state,
    })
    expect(await store.find('a')).toBe(stored)
  })

  it('of the password stays when it comes between the look-up of the account and the refresh', async () => {
    const { refreshSteps, found } = await open()
    await refreshSteps.confirmSignIn({ id: 'a' }, { current: 'old hash', announced: undefined })
    const before = await found()
    await refreshSteps.keepAfterChange('a', 'acc-1')
    await refreshSteps.rotate(before, { sessionId: 'a', generation: 0 }, 'old hash')
    expect(refreshSteps.hasOtherPassword(await found(), 'new hash')).toBe(false)
  })

  it('accepts the old and the announced hash, and no other, before and after the announced one is stored', async () => {
    const { refreshSteps, found } = await open()
    await refreshSteps.confirmSignIn({ id: 'a' }, { current: 'old hash', announced: undefined })
    await refreshSteps.announceHash({ accountId: 'acc-1', from: 'old hash', to: 'new hash' })
    const others = async () => {
      const session = await found()
      return ['old hash', 'new hash', 'another hash', null].map((hash) => refreshSteps.hasOtherPassword(session, hash))
    }
    expect(await others()).toEqual([false, false, true, true])
    await refreshSteps.rotate(await found(), { sessionId: 'a', generation: 0 }, 'old hash')
    expect(await others()).toEqual([false, false, true, true])
    await refreshSteps.rotate(await found(), { sessionId: 'a', generation: 1 }, 'new hash')
    expect(await others()).toEqual([true, false, true, true])
  })

  it('that has another password than a login accepts no hash which the login announces', async () => {
    const { refreshSteps, found, store } = await open()
    await refreshSteps.confirmSignIn({ id: 'a' }, { current: 'current hash', announced: undefined })
    const before = store.find('a')
    await refreshSteps.announceHash({ accountId: 'acc-1', from: 'former hash', to: 'new hash' })
    expect(store.find('a')).toBe(before)
    expect(refreshSteps.hasOtherPassword(await found(), 'new hash')).toBe(true)
  })

  it('accepts three announced hashes, refuses the next one for an hour, and accepts it then', async () => {
    const { refreshSteps, found, time } = await open()
    await refreshSteps.confirmSignIn({ id: 'a' }, { current: 'old hash', announced: undefined })
    const announce = (to: string) => refreshSteps.announceHash({ accountId: 'acc-1', from: 'old hash', to })
    for (const to of ['1', '2', '3', '3']) await announce(to)
    const accepted = async () => {
      const session = await found()
      return ['old hash', '1', '2', '3', '4'].filter((hash) => !refreshSteps.hasOtherPassword(session, hash))
    }
    time.now += 3_599_999
    expect(await refusalOf(announce('4'))).toMatchObject({ code: 'overloaded' })
    expect(await accepted()).toEqual(['old hash', '1', '2', '3'])
    time.now++
    await announce('4')
    expect(await accepted()).toEqual(['old hash', '4'])
  })

  it('keeps an announced hash in a session that accepts any hash, as an earlier release has left it after a change', async () => {
    const { refreshSteps, found, account } = await open()
    const before = await found()
    await refreshSteps.announceHash({ accountId: 'acc-1', from: 'old hash', to: 'new hash' })
    await refreshSteps.rotate(before, { sessionId: 'a', generation: 0 }, 'old hash')
    expect(refreshSteps.hasOtherPassword(await found(), 'new hash')).toBe(false)
    account.hash = 'changed hash'
    await refreshSteps.keepAfterChange('a', 'acc-1')
    await refreshSteps.rotate(await found(), { sessionId: 'a', generation: 1 }, 'changed hash')
    expect(refreshSteps.hasOtherPassword(await found(), 'new hash')).toBe(true)
  })

  it('accepts in its own session the hash that its sign-in has announced, and may be stored later', async () => {
    const { refreshSteps, found } = await open()
    await refreshSteps.confirmSignIn({ id: 'a' }, { current: 'old hash', announced: 'new hash' })
    const session = await found()
    expect(['old hash', 'new hash', 'x'].map((hash) => refreshSteps.hasOtherPassword(session, hash))).toEqual([
      false,
      false,
      true,
    ])
  })

  it('of the password accepts only the hash that the account has then, before and after the next refresh', async () => {
    const { refreshSteps, found, account } = await open()
    await refreshSteps.confirmSignIn({ id: 'a' }, { current: 'old hash', announced: 'better hash' })
    account.hash = 'second hash'
    await refreshSteps.keepAfterChange('a', 'acc-1')
    const accepted = async () => {
      const session = await found()
      return ['old hash', 'better hash', 'second hash', 'third hash', null].filter(
        (hash) => !refreshSteps.hasOtherPassword(session, hash),
      )
    }
    expect(await accepted()).toEqual(['second hash'])
    await refreshSteps.rotate(await found(), FACTS, 'second hash')
    expect(await accepted()).toEqual(['second hash'])
    account.hash = null
    await refreshSteps.keepAfterChange('a', 'acc-1')
    expect(await accepted()).toEqual([null])
  })

  it('of the password changes nothing for an account that is gone, and in a session of another account', async () => {
    const { refreshSteps, store, account } = await open()
    const before = await store.find('a')
    await refreshSteps.keepAfterChange('a', 'acc-2')
    account.hash = undefined
    await refreshSteps.keepAfterChange('a', 'acc-1')
    expect(await store.find('a')).toBe(before)
  })

  it('of a session that has ended changes nothing', async () => {
    const { refreshSteps, store } = await open()
    store.remove('a', 'acc-1')
    await refreshSteps.keepAfterChange('a', 'acc-1')
    expect(await store.find('a')).toBeUndefined()
  })
})

describe('the end of a session', () => {
  it('has one event, with the address, of two calls at once', async () => {
    const { refreshSteps, events, found } = await open()
    const session = await found()
    await Promise.all([1, 2].map(() => refreshSteps.end(session, 'reused', '192.0.2.1')))
    expect(events).toEqual([
      expect.objectContaining({
        type: 'session.ended',
        reason: 'reused',
        sessionId: 'a',
        accountId: 'acc-1',
        address: '192.0.2.1',
      }),
    ])
  })
})

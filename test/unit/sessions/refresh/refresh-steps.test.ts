import type { AuthEvent, Duration, Session, SessionStore } from 'express-token-endpoint'
import { describe, expect, it, vi } from 'vitest'
import { deferred, settled } from '../../../support/concurrency.js'
import { refusalOf } from '../../../support/failures.js'
import { memorySessions, sessionsAndSteps } from '../../../support/sessions.js'
import { hang } from '../../../support/values/invalid-results.js'

const FACTS = { sessionId: 'a', generation: 0 }
const [NOW, DAY] = [1_767_225_600_000, 86_400_000]

async function open(change: Partial<SessionStore> = {}, more: { longest?: Duration; timeout?: Duration } = {}) {
  const store = { ...memorySessions(), ...change }
  const events: AuthEvent[] = []
  const time = { now: NOW }
  const { refreshSteps = expect.fail('no refresh') } = sessionsAndSteps(store, {
    clock: () => time.now,
    onEvent: (event) => void events.push(event),
    refresh: { idle: '10d', longest: more.longest },
    timeout: more.timeout,
  })
  const { refresh, expiresAt } = refreshSteps.begin(true)
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
  return { store, refreshSteps, events, time, found }
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

  it('has none when it began without refresh', async () => {
    const { refreshSteps, store } = await open()
    await store.add({ ...((await store.find('a')) as never as object), id: 'old', refresh: null } as never)
    expect(await refreshSteps.find({ sessionId: 'old', generation: 0 })).toBeUndefined()
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
    await refreshSteps.notePassword({ id: 'a', accountId: 'acc-1' }, { current: 'old hash', replaced: undefined })
    const before = await found()
    await refreshSteps.keepAfterChange('a')
    await refreshSteps.rotate(before, { sessionId: 'a', generation: 0 }, 'old hash')
    expect(refreshSteps.hasOtherPassword(await found(), 'new hash')).toBe(false)
  })

  it('that has another password than a sign-in is not kept by the new hash of that sign-in', async () => {
    const { refreshSteps, found, store } = await open()
    const other = { ...(store.find('a') as Session), id: 'b' }
    store.add(other)
    await refreshSteps.notePassword({ id: 'a', accountId: 'acc-1' }, { current: 'old password', replaced: undefined })
    const hash = { current: 'new hash', replaced: 'old hash' }
    await refreshSteps.notePassword({ id: 'b', accountId: 'acc-1' }, hash)
    expect(refreshSteps.hasOtherPassword(await found(), 'new hash')).toBe(true)
  })

  it('of a session that has ended changes nothing', async () => {
    const { refreshSteps, store } = await open()
    store.remove('a', 'acc-1')
    await refreshSteps.keepAfterChange('a')
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

// Tests concurrency/expiring-map.ts

import type { Session } from 'express-token-endpoint'
import { expect, it } from 'vitest'
import { withMaps } from '../../support/concurrency.js'
import { memorySessions } from '../../support/sessions.js'

const session = (id: string, from: number, to: number, accountId = `acc-${id}`): Session => ({
  id,
  accountId,
  createdAt: new Date(from),
  expiresAt: new Date(to),
  lastUsedAt: new Date(from),
  address: null,
  userAgent: null,
  label: null,
})

it('drops expired sessions while new ones come, so that it does not grow for ever', async () => {
  const store = memorySessions()
  // Each second a sign-in, and each session lives for 100 s.
  const ids = Array.from({ length: 2000 }, (_, i) => String(i))
  for (const id of ids) await store.add(session(id, Number(id) * 1000, Number(id) * 1000 + 100_000))
  const kept = ids.filter((id) => store.find(id))
  expect(kept.length).toBeLessThan(150)
  expect(kept.slice(-100)).toEqual(ids.slice(-100))
  expect(ids.filter((id) => (store.list(`acc-${id}`) as Session[]).length > 0)).toEqual(kept)
})

it('keeps the stored session when another one has its id', async () => {
  const store = memorySessions()
  await store.add(session('a', 0, 1000))
  expect(() => store.add(session('a', 1, 2000, 'acc-other'))).toThrow('memoryStore: the store already has this session')
  expect(store.find('a')).toEqual(session('a', 0, 1000))
  expect(store.list('acc-other')).toEqual([])
})

it('drops at most 4 expired sessions when a new one comes, from the millisecond of their expiration', async () => {
  const store = memorySessions()
  const ids = Array.from({ length: 8 }, (_, i) => String(i))
  for (const id of ids) await store.add(session(id, 0, 1000))
  await store.add(session('live', 1000, 2000))
  expect(ids.filter((id) => store.find(id))).toEqual(ids.slice(4))
})

it('keeps nothing of an account whose sessions have ended, also when one of them is touched late', async () => {
  const { made: store, maps } = withMaps(memorySessions)
  for (const id of ['a', 'b', 'c']) await store.add(session(id, 0, 1000, 'acc-1'))
  expect(maps.map(({ size }) => size)).toEqual([3, 1])
  await store.remove('a', 'acc-1')
  await store.removeAll('acc-1')
  await store.touch('a', new Date(1))
  expect(maps.map(({ size }) => size)).toEqual([0, 0])
})

it('ends all sessions that have not been dropped, with their times', async () => {
  const store = memorySessions()
  await store.add(session('a', 0, 1000, 'acc-1'))
  await store.add(session('b', 1, 1000, 'acc-1'))
  await store.touch('a', new Date(7))
  expect(store.list('acc-1')).toEqual([
    { ...session('a', 0, 1000, 'acc-1'), lastUsedAt: new Date(7) },
    session('b', 1, 1000, 'acc-1'),
  ])
  await store.removeAll('acc-1')
  expect([store.list('acc-1'), store.find('a')]).toEqual([[], undefined])
})

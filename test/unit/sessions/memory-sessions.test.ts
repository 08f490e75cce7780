import { memorySessions, type Session } from 'express-token-endpoint'
import { expect, it } from 'vitest'

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

import express from 'express'
import { type Budget, createThrottle, tokenRouter } from 'express-token-endpoint'
import { beforeEach, expect, it, vi } from 'vitest'
import { createPasswords } from '../../src/accounts/passwords.js'
import { client, deferred, login } from '../hostile/support.js'
import { ACCOUNTS, countingHasher, makeIssuer, makeStore, PASSWORD } from '../support/fixtures.js'
import { listen } from '../support/http.js'

const ALICE = ACCOUNTS.alice.email
const pacer = vi.hoisted(() => ({ settings: [] as unknown[], asked: 0, wait: 0, waits: [] as number[] }))
const time = vi.hoisted(() => ({ passes: Promise.resolve() as Promise<void> }))

vi.mock('../../src/http/pacer.js', () => ({
  createPacer: (...settings: unknown[]) => {
    pacer.settings = settings
    return () => {
      pacer.asked++
      return pacer.wait
    }
  },
}))
vi.mock('node:timers/promises', () => ({
  setTimeout: (ms: number) => {
    pacer.waits.push(ms)
    return time.passes
  },
}))

beforeEach(() => {
  Object.assign(pacer, { asked: 0, wait: 0, waits: [] })
  time.passes = Promise.resolve()
})

const ONE: Budget = { points: 1, duration: '1h' }

async function start() {
  const turn = deferred<void>()
  const hasher = { ...countingHasher(), verify: () => turn.promise.then(() => false) }
  const app = express()
  const passwords = createPasswords({ hashers: [hasher], concurrency: 1, queue: 0 })
  const throttle = createThrottle({ budgets: { account: ONE } })
  app.use(tokenRouter({ tokens: makeIssuer(), accounts: makeStore(), passwords, throttle }))
  return { send: client((await listen(app)).port), turn }
}

it('paces what a flood is answered with, and nothing else', async () => {
  const { send, turn } = await start()
  expect(pacer.settings).toEqual([2, 100, 1000])
  const first = send(login(ALICE, 'guess'))
  await vi.waitFor(async () => expect(await send(login(ALICE, 'guess'))).toMatchObject({ status: 429 }))
  const asked = pacer.asked
  expect(asked).toBeGreaterThan(0)
  expect(await send(login('bob@example.com', 'guess'))).toMatchObject({ status: 503 })
  expect(pacer.asked).toBe(asked + 1)
  turn.resolve()
  expect(await first).toMatchObject({ status: 403 })
  expect(await send({ ...login(ALICE, PASSWORD), body: '{}' })).toMatchObject({ status: 400 })
  expect(pacer.asked).toBe(asked + 1)
  expect(pacer.waits).toEqual([])
})

it('answers when the wait is over', async () => {
  const { send, turn } = await start()
  turn.resolve()
  expect(await send(login(ALICE, 'guess'))).toMatchObject({ status: 403 })
  const over = deferred<void>()
  time.passes = over.promise
  pacer.wait = 7
  const answered = vi.fn()
  const late = send(login(ALICE, 'guess')).then(answered)
  await vi.waitFor(() => expect(pacer.waits).toEqual([7]))
  expect(await send({ ...login(ALICE, PASSWORD), body: '{}' })).toMatchObject({ status: 400 })
  expect(answered).not.toHaveBeenCalled()
  over.resolve()
  await late
  expect(answered).toHaveBeenCalledWith(expect.objectContaining({ status: 429 }))
})

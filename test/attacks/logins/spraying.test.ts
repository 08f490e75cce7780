import express from 'express'
import { createThrottle, tokenRouter } from 'express-token-endpoint'
import { describe, expect, it } from 'vitest'
import { defaultConcurrency } from '../../../src/accounts/passwords/hash-queue.js'
import { all, statuses } from '../../support/concurrency.js'
import { ACCOUNTS, countingHasher, fastPasswords, makeIssuer, makeStore, PASSWORD } from '../../support/fixtures.js'
import { client, listen, login } from '../../support/http.js'
import { belowTheLimit, mostCommon, oneAfterTheOther, rotating, simulate } from './spray.mjs'

const ALICE = ACCOUNTS.alice.email
const SPRAYED = '123456'
const ATTACKER = '203.0.113.9'

/** A hundredth of the attack in `node test/attacks/logins/spray.mjs`. */
const CAMPAIGN = {
  accounts: 10_000,
  addresses: 1000,
  guesses: 1_000_000,
  days: 10 / 24,
  order: rotating,
  overlap: 0.002,
  warmUp: 0,
  spraying: true,
}

describe('the hundred most common passwords at all accounts, from many addresses', () => {
  it.each([
    ['in turn', rotating],
    ['one after the other', oneAfterTheOther],
  ])(
    '%s: at most one in 100 guesses reaches a hash, and at most one in 1,000 valid logins gets 429',
    async (_, order) => {
      const { made, hashed, valid } = await simulate(createThrottle, { ...CAMPAIGN, order })
      expect(made).toBe(1_000_000)
      expect(hashed).toBeLessThanOrEqual(made / 100)
      expect(hashed).toBeGreaterThanOrEqual(1000 * 3)
      expect(valid.logins).toBeGreaterThan(4000)
      expect(valid.refused / valid.logins).toBeLessThanOrEqual(0.001)
    },
  )

  it('without the limit, all of them reach a hash', async () => {
    const off = { ...CAMPAIGN, guesses: 4000, order: oneAfterTheOther, spraying: false }
    expect(await simulate(createThrottle, off)).toMatchObject({ made: 4000, hashed: 4000 })
  })

  it.each([
    ['only the most common password', mostCommon, 10_000, 20 + 1000 * 3],
    ['each password at 19 accounts', belowTheLimit, 4000, 4000],
  ])('%s: as many failures as the page says', async (_, order, guesses, failures) => {
    const attack = { ...CAMPAIGN, overlap: 0, order, guesses }
    const { hashed, takenOver } = await simulate(createThrottle, attack)
    expect(hashed - takenOver).toBeGreaterThanOrEqual(failures - takenOver)
    expect(hashed - takenOver).toBeLessThanOrEqual(failures)
  })
})

describe('over HTTP', () => {
  async function start() {
    const hasher = countingHasher()
    const limits: unknown[] = []
    const app = express()
    app.set('trust proxy', 1)
    app.use(
      tokenRouter({
        tokens: makeIssuer(),
        accounts: makeStore(),
        passwords: fastPasswords(hasher),
        throttle: createThrottle({ spraying: true }),
        onEvent: (event) => event.type === 'token.throttled' && limits.push(event.limit),
      }),
    )
    const send = client((await listen(app)).port)
    const spray = (count: number, address: (i: number) => string, password = SPRAYED) =>
      all(count, (i) => send(login(`${i}@example.com`, password, address(i))))
    return { send, hasher, limits, spray }
  }

  it('a sprayed password reaches a hash 20 times, and then 3 times from each address', async () => {
    const { spray, hasher, limits } = await start()
    expect(statuses(await spray(20, () => ATTACKER))).toEqual({ 403: 20 })
    const answers = await spray(200, (i) => `10.0.0.${i % 5}`)
    expect(statuses(answers)).toEqual({ 403: 15, 429: 185 })
    expect(hasher.asked).toHaveLength(35)
    expect(new Set(limits)).toEqual(new Set(['spraying']))
  })

  it('simultaneous first guesses pass as far as they hold a queue slot, and use up the failures of their addresses', async () => {
    const { spray, hasher } = await start()
    await spray(400, (i) => `10.0.0.${i % 5}`)
    expect(hasher.asked.length).toBeLessThanOrEqual(20 + 32 * defaultConcurrency() + 15)
    const before = hasher.asked.length
    expect(statuses(await spray(50, (i) => `10.0.0.${i % 5}`))).toEqual({ 429: 50 })
    expect(hasher.asked).toHaveLength(before)
  })

  it('the owner of a sprayed password logs in from another address, and with another password from everywhere', async () => {
    const { send, spray } = await start()
    await spray(100, () => ATTACKER, PASSWORD)
    expect(await send(login(ALICE, PASSWORD, ATTACKER))).toMatchObject({ status: 429 })
    expect(await send(login(ALICE, PASSWORD, '198.51.100.7'))).toMatchObject({ status: 200 })
    expect(await send(login(ALICE, 'other', ATTACKER))).toMatchObject({ status: 403 })
  })
})

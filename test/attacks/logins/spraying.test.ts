import { createThrottle } from 'express-token-endpoint'
import { describe, expect, it } from 'vitest'
import { belowTheLimit, mostCommon, oneAfterTheOther, rotating, simulate } from './spray.mjs'

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

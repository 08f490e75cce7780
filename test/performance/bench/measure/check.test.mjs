import { describe, expect, it } from 'vitest'
import { checkGuard } from './check.mjs'

const SAMPLES = { good: 'good', forged: 'forged', expired: 'expired' }
const accepting =
  (...tokens) =>
  async (token) =>
    tokens.includes(token)

describe('what a variant must do before it is measured', () => {
  it('accepts the good token and refuses the bad ones', async () => {
    await expect(checkGuard('peer', accepting('good'), SAMPLES)).resolves.toBeUndefined()
  })

  it.each([
    ['refuses a good token', accepting()],
    ['accepts a bad signature', accepting('good', 'forged')],
    ['accepts an expired token', accepting('good', 'expired')],
  ])('is named when it %s', async (fault, accepts) => {
    await expect(checkGuard('peer', accepts, SAMPLES)).rejects.toThrow(`peer: ${fault}`)
  })

  it('is named when it changes its mind', async () => {
    const seen = new Set()
    const forgetful = async (token) => token === 'good' && !seen.has(token) && seen.add(token) !== undefined
    await expect(checkGuard('peer', forgetful, SAMPLES)).rejects.toThrow('that it has seen')
  })
})

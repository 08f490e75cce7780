import { afterEach, describe, expect, it, vi } from 'vitest'
import { throttleKeys } from '../../../../src/accounts/throttle/throttle-keys.js'

afterEach(() => {
  vi.restoreAllMocks()
})

const keysOf = (email: string, address: string) => {
  const keyOf = throttleKeys(email, address)
  return { address: keyOf('address'), pair: keyOf('pair'), account: keyOf('account') }
}

describe('throttleKeys', () => {
  it('normalises the e-mail address only when a key needs it, and once', () => {
    const normalize = vi.spyOn(String.prototype, 'normalize')
    const keyOf = throttleKeys('alice@example.com', '192.0.2.1')
    keyOf('address')
    const before = normalize.mock.calls.length
    for (const name of ['pair', 'account', 'pair', 'account'] as const) keyOf(name)
    const after = normalize.mock.calls.length
    normalize.mockRestore()
    expect([before, after]).toEqual([0, 1])
  })

  it('gives keys of one length without an address in clear text', () => {
    const keys = Object.values(keysOf('alice@example.com', '192.0.2.1'))
    for (const key of keys) expect(key).toMatch(/^[\w-]{22}$/)
    expect(new Set(keys).size).toBe(3)
  })

  it('gives all spellings of an account and of an address the same keys', () => {
    const keys = keysOf('alice@example.com', '192.0.2.1')
    expect(keysOf('AL\u200bİCE@example.com ', '::ffff:192.0.2.1')).toEqual(keys)
  })

  it('gives all texts that are too long the keys of one account', () => {
    const keys = keysOf('a'.repeat(321), '192.0.2.1')
    expect(keysOf('b'.repeat(1_000_000), '192.0.2.1')).toEqual(keys)
  })
})

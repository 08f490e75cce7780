import { afterEach, describe, expect, it, vi } from 'vitest'
import { throttleKeys } from '../../../../src/accounts/throttle/throttle-keys.js'

afterEach(() => {
  vi.restoreAllMocks()
})

describe('throttleKeys', () => {
  it('normalises the e-mail address only when a key needs it, and once', () => {
    const normalize = vi.spyOn(String.prototype, 'normalize')
    const keys = throttleKeys('alice@example.com', '192.0.2.1')
    const before = [keys.address, normalize.mock.calls.length]
    const after = [keys.pair, keys.account, keys.pair, keys.account, normalize.mock.calls.length]
    normalize.mockRestore()
    expect(before).toEqual([expect.any(String), 0])
    expect(after).toEqual([keys.pair, keys.account, keys.pair, keys.account, 1])
  })

  it('gives keys of one length without an address in clear text', () => {
    const { address, pair, account } = throttleKeys('alice@example.com', '192.0.2.1')
    for (const key of [address, pair, account]) expect(key).toMatch(/^[\w-]{22}$/)
    expect(new Set([address, pair, account]).size).toBe(3)
  })

  it('gives all spellings of an account and of an address the same keys', () => {
    const { address, pair, account } = throttleKeys('alice@example.com', '192.0.2.1')
    const other = throttleKeys('AL\u200bİCE@example.com ', '::ffff:192.0.2.1')
    expect({ address: other.address, pair: other.pair, account: other.account }).toEqual({ address, pair, account })
  })

  it('gives all texts that are too long the keys of one account', () => {
    const [one, other] = [throttleKeys('a'.repeat(321), '192.0.2.1'), throttleKeys('b'.repeat(1_000_000), '192.0.2.1')]
    expect([other.pair, other.account]).toEqual([one.pair, one.account])
  })
})

import { expect, it, onTestFinished, vi } from 'vitest'
import { throttleKeys } from '../../../../src/accounts/throttle/attempt.js'

const keysOf = (email: string, address: string) =>
  (['address', 'pair', 'account'] as const).map(throttleKeys(email, address))

it('normalises the e-mail address only when a key needs it, and once', () => {
  const normalize = vi.spyOn(String.prototype, 'normalize')
  onTestFinished(() => void normalize.mockRestore())
  const keyOf = throttleKeys('alice@example.com', '192.0.2.1')
  keyOf('address')
  const before = normalize.mock.calls.length
  for (const name of ['pair', 'account', 'pair', 'account'] as const) keyOf(name)
  expect([before, normalize.mock.calls.length]).toEqual([0, 1])
})

it('gives keys of one length, which hold no address in clear text and are the same for all spellings', () => {
  const keys = keysOf('alice@example.com', '192.0.2.1')
  for (const key of keys) expect(key).toMatch(/^[\w-]{22}$/)
  expect(new Set(keys).size).toBe(3)
  expect(keysOf('AL\u200bİCE@example.com ', '::ffff:192.0.2.1')).toEqual(keys)
  expect(keysOf('b'.repeat(1_000_000), '192.0.2.1')).toEqual(keysOf('a'.repeat(321), '192.0.2.1'))
})

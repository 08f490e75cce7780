import { expect, it, vi } from 'vitest'
import { verifyByPassport } from '../../src/http/credentials.js'

const ways = vi.hoisted(() => ({ verdict: 'fail' }))

vi.mock('passport-http-bearer', () => ({
  Strategy: class {
    authenticate() {
      ;(this as unknown as Record<string, (given?: unknown) => void>)[ways.verdict]?.('no token of ours')
    }
  },
}))

it.each(['fail', 'error', 'pass', 'nothing'])(
  'a bearer strategy that comes to change its ways lets nobody through: %s',
  (verdict) => {
    ways.verdict = verdict
    expect(() => verifyByPassport('token', () => 'verified')).toThrow('a Passport strategy refused what it was given')
  },
)

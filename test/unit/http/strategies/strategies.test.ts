import { expect, it, vi } from 'vitest'
import { bearerByPassport } from '../../../../src/http/shared/credentials.js'

const ways = vi.hoisted(() => ({ verdict: 'fail' }))

vi.mock('passport-http-bearer', () => ({
  Strategy: class {
    authenticate() {
      if (ways.verdict === 'nothing') return
      Reflect.apply(Reflect.get(this as object, ways.verdict), this, [{ verified: 'somebody' }])
    }
  },
}))

it.each(['fail', 'error', 'pass', 'nothing'])(
  'a bearer strategy that comes to change its ways lets nobody through, nor anybody who came before: %s',
  (verdict) => {
    const verify = bearerByPassport(() => 'verified')
    ways.verdict = 'success'
    expect(verify('token')).toBe('somebody')
    ways.verdict = verdict
    expect(() => verify('token')).toThrow('a Passport strategy refused what it was given')
  },
)

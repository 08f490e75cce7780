import { inspect } from 'node:util'
import { AuthError, type AuthErrorCode } from 'express-token-endpoint'
import { describe, expect, it, onTestFinished } from 'vitest'
import { withHeaders } from '../../../src/shared/errors.js'

const STATUS: Record<AuthErrorCode, number> = {
  method_not_allowed: 405,
  unsupported_media_type: 415,
  body_too_large: 413,
  invalid_body: 400,
  invalid_credentials: 403,
  client_closed_request: 499,
  too_many_attempts: 429,
  overloaded: 503,
  missing_token: 401,
  invalid_request: 400,
  invalid_token: 401,
  insufficient_user_authentication: 401,
  insufficient_scope: 403,
  unavailable: 503,
}
const codes = Object.entries(STATUS) as [AuthErrorCode, number][]

describe('AuthError', () => {
  it.each(codes)('%s has the status %i and a message', (code, status) => {
    const error = new AuthError(code)
    expect(error).toBeInstanceOf(Error)
    expect(error).toMatchObject({ name: 'AuthError', code, status, statusCode: status })
    expect(error.message).toMatch(/^[A-Z].+\.$/)
  })

  it('has a message of its own for each code', () => {
    expect(new Set(codes.map(([code]) => new AuthError(code).message)).size).toBe(codes.length)
  })

  it('tells the client of expiry, and of no other reason', () => {
    const message = (reason: 'expired' | 'signature' | 'revoked') => new AuthError('invalid_token', { reason }).message
    expect(message('signature')).toBe(message('revoked'))
    expect(message('expired')).not.toBe(message('revoked'))
  })

  it.each(codes)('%s is tried again later when it is the service’s fault, and only then', (code, status) => {
    const seconds = code === 'overloaded' ? '1' : '5'
    expect(new AuthError(code).headers).toEqual(status === 503 ? { 'Retry-After': seconds } : {})
  })

  it('carries what the host’s logs need', () => {
    const cause = new Error('connection lost')
    const details = { reason: 'revoked', accountId: 'acc-1', tokenId: 'j', scope: ['a'], dependency: 'keys' } as const
    expect(new AuthError('unavailable', { ...details, cause })).toMatchObject({ ...details, cause })
  })

  it('has no cause when it is given none', () => {
    expect(inspect(new AuthError('unavailable'))).not.toContain('cause')
    expect('cause' in new AuthError('unavailable')).toBe(false)
  })

  it('takes nothing from a polluted Object.prototype, and neither does its copy', () => {
    const polluted = { cause: 'other', reason: 'expired', retryAfter: 9, scope: ['other'] }
    Object.assign(Object.prototype, polluted)
    onTestFinished(() => {
      for (const name of Object.keys(polluted)) Reflect.deleteProperty(Object.prototype, name)
    })
    const error = new AuthError('invalid_token')
    for (const one of [error, withHeaders(error, {})]) {
      for (const name of Object.keys(polluted)) expect(Object.hasOwn(one, name), name).toBe(false)
      expect([one.message, one.headers]).toEqual(['The access token is not valid.', {}])
    }
  })
})

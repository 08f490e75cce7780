import { AuthError, type AuthErrorCode } from 'express-token-endpoint'
import { describe, expect, it } from 'vitest'
import { asRefusal } from '../../src/http/respond.js'

describe('asRefusal', () => {
  it.each<['token' | 'guard' | 'keys', AuthErrorCode]>([
    ['token', 'invalid_body'],
    ['token', 'client_closed_request'],
    ['token', 'unavailable'],
    ['guard', 'invalid_token'],
    ['keys', 'method_not_allowed'],
  ])('leaves a refusal of the part’s own as it is: %s, %s', (part, code) => {
    const refusal = new AuthError(code)
    expect(asRefusal(part, refusal)).toBe(refusal)
  })

  it.each<['token' | 'guard', unknown]>([
    ['token', new AuthError('invalid_token')],
    ['guard', new AuthError('invalid_credentials')],
    ['guard', new Error('a fault')],
    ['token', undefined],
  ])('takes what is none for a failure that nobody foresaw: %s, %s', (part, thrown) => {
    const { code, dependency, cause } = asRefusal(part, thrown)
    expect({ code, dependency, cause }).toEqual({ code: 'unavailable', dependency: 'internal', cause: thrown })
  })
})

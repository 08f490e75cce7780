// Tests errors/headers.ts

import { STATUS_CODES } from 'node:http'
import { AuthError, type AuthErrorCode } from 'express-token-endpoint'
import { describe, expect, it } from 'vitest'
import { copyOf, isAuthError } from '../../../src/errors/auth-error.js'
import { expectMisuse } from '../../support/failures.js'
import { polluted } from '../../support/pollution.js'

const STATUS: Record<AuthErrorCode, number> = {
  method_not_allowed: 405,
  unsupported_media_type: 415,
  cross_site_form: 415,
  cross_site_request: 403,
  invalid_refresh_token: 403,
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
  forbidden: 403,
  unknown_session: 404,
  invalid_code: 403,
  address_taken: 409,
  invalid_email: 422,
  weak_password: 422,
  no_second_factor: 409,
  last_sign_in_method: 409,
  too_many_passkeys: 409,
  unknown_passkey: 404,
  unknown_api_key: 404,
  too_many_api_keys: 409,
  unavailable: 503,
}
/** The names of the statuses. Later versions of Node have another name for 413, and 499 has none. */
const TITLE: Record<number, string | undefined> = {
  ...STATUS_CODES,
  413: 'Content Too Large',
  422: 'Unprocessable Content',
}
const codes = Object.entries(STATUS) as [AuthErrorCode, number][]

const NO_STORE = { 'Cache-Control': 'no-store', Pragma: 'no-cache' }
const OWN_CODE = 'To refuse a sign-in with your own code, throw a SignInRefusal. '

describe('AuthError', () => {
  it.each(codes)(
    '%s has the status %i, a problem document, and a time to wait when the service is at fault',
    (code, status) => {
      const error = new AuthError(code)
      expect(error).toBeInstanceOf(Error)
      expect(error).toMatchObject({ name: 'AuthError', code, status, statusCode: status })
      expect(error.message).toMatch(/^[A-Z].+\.$/)
      const seconds = code === 'overloaded' ? '1' : '5'
      const challenge = status === 401 || code.startsWith('invalid_request') || code.startsWith('insufficient')
      expect(error.headers).toEqual({
        ...NO_STORE,
        ...(status === 503 && { 'Retry-After': seconds }),
        ...(status === 415 && { Accept: expect.stringMatching(/^application\/json\b/) }),
        ...(challenge && { 'WWW-Authenticate': expect.stringMatching(/^Bearer realm=""/) }),
      })
      const problem = { type: 'about:blank', title: TITLE[status], status, code, detail: error.message }
      expect(error.toProblem()).toEqual(problem)
    },
  )

  it('has a message of its own for each code', () => {
    expect(new Set(codes.map(([code]) => new AuthError(code).message)).size).toBe(codes.length)
  })

  it.each([
    ['invalid_tokens', 'Did you mean "invalid_token"?'],
    ['email_not_verified', 'Known codes: '],
    ['constructor', 'Known codes: '],
    [undefined, 'Known codes: '],
  ])('is not created with the unknown code %s', (code, fix) => {
    expectMisuse(() => new AuthError(code as never), `AuthError: unknown code "${code}". ${OWN_CODE}${fix}`)
  })

  it('tells the client of expiry, and of no other reason', () => {
    const message = (reason: 'expired' | 'signature' | 'revoked') => new AuthError('invalid_token', { reason }).message
    expect(message('signature')).toBe(message('revoked'))
    expect(message('expired')).toBe('The access token expired.')
    expect(message('expired')).not.toBe(message('revoked'))
  })

  it('tells the client the message that a part of the package gives it', () => {
    expect(new AuthError('missing_token', { message: 'Send a token.' }).toProblem().detail).toBe('Send a token.')
  })

  it('carries what the host’s logs need', () => {
    const cause = new Error('connection lost')
    const details = { reason: 'revoked', accountId: 'acc-1', tokenId: 'j', scope: ['a'], dependency: 'keys' } as const
    expect(new AuthError('unavailable', { ...details, cause })).toMatchObject({ ...details, cause })
  })

  it('has no cause when it is given none', () => {
    expect('cause' in new AuthError('unavailable')).toBe(false)
  })

  it('is known by its mark and a known code', () => {
    const error = new AuthError('invalid_token')
    expect(isAuthError(error)).toBe(true)
    expect(isAuthError(Object.assign(new Error('x'), { code: 'invalid_token' }))).toBe(false)
    expect(isAuthError(Object.assign(error, { code: 'of_a_later_version' }))).toBe(false)
    Object.defineProperty(error, 'code', { get: () => expect.unreachable() })
    const { proxy, revoke } = Proxy.revocable(error, {})
    revoke()
    for (const thrower of [error, proxy]) expect(isAuthError(thrower)).toBe(false)
  })

  it('takes nothing from a polluted Object.prototype, and neither does its copy', async () => {
    const members = { cause: 'other', reason: 'expired', retryAfter: 9, scope: ['other'] }
    const copies = await polluted(members, () => {
      const error = new AuthError('invalid_token')
      return [error, copyOf(error, {})]
    })
    for (const one of copies) {
      for (const name of Object.keys(members)) expect(Object.hasOwn(one, name), name).toBe(false)
      expect(one.message).toBe('The access token is not valid.')
      expect(one.headers).toEqual({ ...NO_STORE, 'WWW-Authenticate': expect.not.stringContaining('scope') })
    }
  })
})

it('is the problem document in JSON, without what the client must not know', () => {
  const error = new AuthError('invalid_token', { reason: 'revoked', accountId: 'acc-1', tokenId: 'jti-1' })
  expect(JSON.parse(JSON.stringify({ error }))).toEqual({ error: { ...error.toProblem() } })
  expect(JSON.stringify(error)).not.toMatch(/revoked|acc-1|jti-1/)
  expect(Object.keys(error)).toContain('reason')
})

it('takes no other member from its details', () => {
  const error = new AuthError('invalid_token', { status: 200, headers: { a: 'b' }, toJSON: () => ({}) } as never)
  expect([error.status, error.headers]).toEqual([401, new AuthError('invalid_token').headers])
  expect(Object.hasOwn(error, 'toJSON')).toBe(false)
})

describe('a copy of an AuthError', () => {
  const cause = new Error('connection lost')
  const details = { reason: 'revoked', accountId: 'acc-1', scope: ['a'], retryAfter: 9, cause } as const
  const { retryAfter: _, cause: __, ...facts } = details

  it('with other headers has the facts, the cause and the stack of the first, which stays as it is', () => {
    const error = new AuthError('unavailable', details)
    const copy = copyOf(error, { headers: { Allow: 'GET' } })
    expect(copy).not.toBe(error)
    expect(isAuthError(copy)).toBe(true)
    expect(Object.keys(copy)).toEqual(Object.keys(error))
    expect(copy).toMatchObject({ ...facts, code: 'unavailable' })
    expect(copy.headers).toEqual({ Allow: 'GET' })
    expect([copy.cause, copy.stack]).toEqual([cause, error.stack])
    expect(error.headers).toEqual({ ...NO_STORE, 'Retry-After': '9' })
  })

  it('without the cause has all the rest', () => {
    const error = new AuthError('unavailable', details)
    const copy = copyOf(error, { cause: undefined })
    expect(copy).toMatchObject({ ...facts, code: 'unavailable', headers: { ...NO_STORE, 'Retry-After': '9' } })
    expect(['cause' in copy, copy.stack]).toEqual([false, error.stack])
    expect(error.cause).toBe(cause)
  })
})

it.each([
  ['unsupported_media_type', 'application/json, application/x-www-form-urlencoded'],
  ['cross_site_form', 'application/json'],
  ['body_too_large', undefined],
] as const)('says which media types are read (RFC 9110 section 15.5.16): %s', (code, accept) => {
  expect(new AuthError(code).headers['Accept']).toBe(accept)
})

import { AuthError, type AuthErrorCode, SignInRefusal } from 'express-token-endpoint'
import { describe, expect, it } from 'vitest'
import { refusalOf as refusalWith } from '../../../src/errors/refusal.js'
import { keysFeature } from '../../../src/features/keys.js'
import { sessionsFeature } from '../../../src/features/sessions.js'
import { GUARD_REFUSALS } from '../../../src/guard/refuse.js'
import { refusalsOf } from '../../../src/http/declaration.js'
import type { Endpoint } from '../../../src/http/endpoint.js'
import { LOGIN_REFUSALS } from '../../../src/login/login-refusals.js'

const GIVEN = {
  token: LOGIN_REFUSALS,
  guard: GUARD_REFUSALS,
  keys: refusalsOf(keysFeature.endpoints[0] as Endpoint),
  sessions: refusalsOf(sessionsFeature.endpoints[0] as Endpoint),
}

const refusalOf = (given: keyof typeof GIVEN, thrown: unknown, facts?: Parameters<typeof refusalWith>[2]) =>
  refusalWith(GIVEN[given], thrown, facts)

const NO_STORE = { 'Cache-Control': 'no-store', Pragma: 'no-cache' }

describe('the refusal of a request', () => {
  it.each<['token' | 'guard' | 'keys', AuthErrorCode]>([
    ['token', 'invalid_body'],
    ['token', 'client_closed_request'],
    ['token', 'unavailable'],
    ['guard', 'invalid_token'],
    ['keys', 'method_not_allowed'],
  ])('is a copy of one of the part itself, with its cause: %s, %s', (part, code) => {
    const thrown = new AuthError(code, { accountId: 'acc-1', cause: 'why' })
    const refusal = refusalOf(part, thrown)
    expect(refusal).not.toBe(thrown)
    expect([refusal.code, refusal.accountId, refusal.cause, refusal.stack]).toEqual([
      code,
      'acc-1',
      'why',
      thrown.stack,
    ])
    expect(refusal).toBeInstanceOf(AuthError)
  })

  it.each<['token' | 'guard' | 'sessions', unknown]>([
    ['token', new AuthError('invalid_token')],
    ['guard', new AuthError('invalid_credentials')],
    ['guard', new SignInRefusal('closed')],
    ['sessions', new SignInRefusal('closed')],
    ['guard', new Error('a fault')],
    ['token', undefined],
  ])('is a failure that nobody foresaw for what is none: %s, %s', (part, thrown) => {
    const { code, dependency, cause } = refusalOf(part, thrown)
    expect({ code, dependency, cause }).toEqual({ code: 'unavailable', dependency: 'internal', cause: thrown })
  })

  it('is a SignInRefusal of the token endpoint, with its headers', () => {
    const refusal = refusalOf('token', new SignInRefusal('closed', { status: 402, headers: { 'X-Left': '3' } }))
    expect(refusal).toBeInstanceOf(SignInRefusal)
    expect(refusal).toMatchObject({ code: 'closed', status: 402, headers: { ...NO_STORE, 'X-Left': '3' } })
  })

  it.each<[unknown, object]>([
    ['240', { 'Retry-After': '240' }],
    ...[7, 'soon', 'in 7', '7 s', '7\n'].map((value): [unknown, object] => [value, {}]),
  ])('has only a wait that is a number: %j', (seconds, headers) => {
    const error = Object.assign(new AuthError('invalid_body'), { headers: { 'Retry-After': seconds } })
    expect(refusalOf('token', error).headers).toEqual({ ...NO_STORE, ...headers })
  })

  it.each<[unknown, boolean]>([
    ['Bearer realm="caf\u00e9"', true],
    ...['', '\nBearer', 'Bearer\r\n', '\u20ac', 7, undefined].map((value): [unknown, boolean] => [value, false]),
  ])('keeps the challenge of the guard before it, where Node can send it: %j %s', (value, has) => {
    const error = Object.assign(new AuthError('missing_token'), { headers: { 'WWW-Authenticate': value } })
    expect(refusalOf('guard', error).headers['WWW-Authenticate']).toBe(has ? value : 'Bearer realm=""')
  })

  it.each([undefined, null, 7])('stands %j for headers', (headers) => {
    expect(refusalOf('token', Object.assign(new AuthError('invalid_body'), { headers })).headers).toEqual(NO_STORE)
  })

  it('is a failure for an error whose members throw', () => {
    const thrown = Object.defineProperty(new AuthError('invalid_body'), 'extra', {
      enumerable: true,
      get: () => expect.fail('a getter'),
    })
    expect(refusalOf('token', thrown)).toMatchObject({ code: 'unavailable', dependency: 'internal', cause: thrown })
  })

  it('has the status of its code, whatever the host has made of it', () => {
    const error = Object.assign(new AuthError('invalid_token'), { status: 99, statusCode: 99 })
    expect(refusalOf('guard', error)).toMatchObject({ status: 401, statusCode: 401 })
  })

  it.each<[AuthErrorCode, object, string]>([
    [
      'invalid_token',
      { scope: ['a'], maxAge: 5 },
      'error="invalid_token", error_description="The access token is not valid."',
    ],
    [
      'insufficient_scope',
      { scope: ['a', 'b'] },
      'error="insufficient_scope", error_description="The access token does not carry the scope that this resource needs.", scope="a b"',
    ],
    [
      'insufficient_user_authentication',
      { maxAge: 0 },
      'error="insufficient_user_authentication", error_description="This resource needs a more recent sign-in.", max_age="0"',
    ],
  ])('%s with %j names its reason in the challenge of a guard', (code, details, rest) => {
    const { headers } = refusalOf('guard', new AuthError(code, details), { realm: 'a "b" \\c' })
    expect(headers['WWW-Authenticate']).toBe(`Bearer realm="a \\"b\\" \\\\c", ${rest}`)
  })

  it('names the scheme in the challenge of a guard', () => {
    const { headers } = refusalOf('guard', new AuthError('missing_token'), {
      realm: 'reports',
      scheme: { name: 'Token' },
    })
    expect(headers['WWW-Authenticate']).toBe('Token realm="reports"')
  })
})

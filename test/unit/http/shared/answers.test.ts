import { describe, expect, it } from 'vitest'
import {
  ENDPOINTS,
  keysAnswer,
  refusalAnswer,
  tokenAnswer,
  tokenResult,
  withAllHeaders,
} from '../../../../src/http/shared/answers.js'
import { AuthError } from '../../../../src/shared/errors.js'
import type { AuthErrorCode, Part } from '../../../../src/shared/refusals.js'

const NO_STORE = { 'Cache-Control': 'no-store', Pragma: 'no-cache' }
const PROBLEM = { 'Content-Type': 'application/problem+json' }

it('has the token call and the key set at their documented paths and methods', () => {
  expect(ENDPOINTS).toEqual({
    token: { path: '/api/v2013/authentication/token', methods: ['POST'] },
    keys: { path: '/.well-known/jwks.json', methods: ['GET', 'HEAD'] },
  })
})

it('responds to a login with two members, and keeps them out of caches', () => {
  expect(tokenAnswer(JSON.stringify(tokenResult('a.b.c', new Date('2030-01-01'))))).toEqual({
    status: 200,
    headers: { ...NO_STORE, 'Content-Type': 'application/json; charset=utf-8' },
    body: '{"authenticationToken":"a.b.c","expiration":"2030-01-01T00:00:00.000Z"}',
  })
})

it('lets caches keep a key set for five minutes', () => {
  expect(keysAnswer('{"keys":[]}')).toEqual({
    status: 200,
    headers: { 'Cache-Control': 'public, max-age=300', 'Content-Type': 'application/jwk-set+json' },
    body: '{"keys":[]}',
  })
})

describe('a refusal', () => {
  it.each<[Part, AuthErrorCode, object]>([
    ['token', 'method_not_allowed', { Allow: 'POST' }],
    ['keys', 'method_not_allowed', { Allow: 'GET, HEAD' }],
    // The guard never refuses a method, so it has no methods to name.
    ['guard', 'method_not_allowed', {}],
    ['token', 'invalid_body', {}],
    ['token', 'overloaded', { 'Retry-After': '1' }],
    ['guard', 'unavailable', { 'Retry-After': '5' }],
    ['guard', 'missing_token', { 'WWW-Authenticate': 'Bearer realm="reports"' }],
  ])('of the part %s, %s, is a problem with its own headers: %j', (part, code, headers) => {
    const error = new AuthError(code)
    const { status, message: detail } = error
    const answer = refusalAnswer(part, error, 'reports')
    expect({ ...answer, body: JSON.parse(answer.body) }).toEqual({
      status,
      headers: { ...NO_STORE, ...headers, ...PROBLEM },
      body: { type: 'about:blank', title: expect.any(String), status, code, detail },
    })
  })

  it('of invalid credentials has no body', () => {
    const answer = { status: 403, headers: NO_STORE, body: '' }
    expect(refusalAnswer('token', new AuthError('invalid_credentials'))).toEqual(answer)
  })

  it('has an empty realm in its challenge, unless the host names one', () => {
    const error = new AuthError('missing_token')
    expect(refusalAnswer('guard', error).headers['WWW-Authenticate']).toBe('Bearer realm=""')
    expect(withAllHeaders('guard', error, false).headers['WWW-Authenticate']).toBe('Bearer realm=""')
  })

  it.each<[AuthErrorCode, object, string]>([
    ['invalid_token', {}, 'error="invalid_token", error_description="The access token is not valid."'],
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
  ])('%s with %j names its reason in the challenge', (code, details, rest) => {
    const { headers } = refusalAnswer('guard', new AuthError(code, details), 'a "b" \\c')
    expect(headers['WWW-Authenticate']).toBe(`Bearer realm="a \\"b\\" \\\\c", ${rest}`)
  })

  it.each([
    [true, { Connection: 'close' }],
    [false, {}],
  ])('that the host sends has the headers of the response, and closes the connection: %s', (closes, connection) => {
    const error = new AuthError('unavailable')
    expect(withAllHeaders('guard', error, closes).headers).toEqual({ ...NO_STORE, 'Retry-After': '5', ...connection })
    expect(error.headers).toEqual({ 'Retry-After': '5' })
  })
})

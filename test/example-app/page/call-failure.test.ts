import { TokenClientError } from 'express-token-endpoint/client'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import {
  type CallFailure,
  failureOfError,
  failureOfResponse,
  SessionOver,
} from '../../../example-app/page/call-failure.js'
import { callFailureText, signInFailureText, tryAgain } from '../../../example-app/page/messages.js'

const answer = (status: number, headers: Record<string, string> = {}) => ({ status, headers: new Headers(headers) })
const bearer = (parameters: string) => ({ 'WWW-Authenticate': `Bearer realm="r", ${parameters}` })

describe('a response is', () => {
  test.each<[string, ReturnType<typeof answer>, CallFailure]>([
    ['a token refused', answer(401, bearer('error="invalid_token"')), { kind: 'token-refused' }],
    [
      'a scope missing',
      answer(403, bearer('error="insufficient_scope", scope="reports:read"')),
      { kind: 'scope-missing', scope: 'reports:read' },
    ],
    ['a scope missing, untold', answer(403, bearer('error="x"')), { kind: 'scope-missing', scope: undefined }],
    ['a server that cannot', answer(503, { 'Retry-After': '1' }), { kind: 'unavailable', seconds: 1 }],
    ['one that does not say when', answer(503), { kind: 'unavailable', seconds: undefined }],
    [
      'one that says it in another way',
      answer(503, { 'Retry-After': 'Fri, 31 Dec 1999 23:59:59 GMT' }),
      { kind: 'unavailable', seconds: undefined },
    ],
    ['something else', answer(500), { kind: 'unexpected', status: 500 }],
  ])('%s', (_what, given, failure) => {
    expect(failureOfResponse(given)).toEqual(failure)
  })
})

describe('an error of the client is', () => {
  const NOW = Date.UTC(2013, 4, 6)
  const retryAt = new Date(NOW + 840_999)

  test.each<[string, unknown, CallFailure]>([
    ['a wrong password', new TokenClientError('refused', 403), { kind: 'wrong-credentials' }],
    ['a token that has ended', new SessionOver(), { kind: 'token-refused' }],
    ['too many attempts', new TokenClientError('try_later', 429, retryAt), { kind: 'throttled', seconds: 840 }],
    ['a server that cannot', new TokenClientError('try_later', 503, retryAt), { kind: 'unavailable', seconds: 840 }],
    ['no server', new TokenClientError('unreachable', undefined, retryAt), { kind: 'unreachable', seconds: 840 }],
    ['a call that was ended', new TokenClientError('signed_out'), { kind: 'unreachable', seconds: undefined }],
    ['no other API', new TypeError('Failed to fetch'), { kind: 'unreachable', seconds: undefined }],
    ['something else', new TokenClientError('unexpected', 500), { kind: 'unexpected', status: 500 }],
  ])('%s', (_what, given, failure) => {
    vi.useFakeTimers({ now: NOW, toFake: ['Date'] })
    onTestFinished(() => void vi.useRealTimers())
    expect(failureOfError(given)).toEqual(failure)
  })
})

describe('in words', () => {
  const REPORT = { what: 'daily totals', api: 'online reporting API' }

  test.each<[CallFailure, string]>([
    [{ kind: 'wrong-credentials' }, 'E-mail or password is wrong.'],
    [{ kind: 'throttled', seconds: 840 }, 'Too many failed attempts. Try again in 14 minutes.'],
    [{ kind: 'unavailable', seconds: 3 }, 'You cannot sign in at the moment. Try again in 3 seconds.'],
    [
      { kind: 'unreachable', seconds: 12 },
      'Cannot reach the clearing-house API. Check your connection. Try again in 12 seconds.',
    ],
    [
      { kind: 'unexpected', status: 500 },
      'Cannot load the token. The clearing-house API sent an unexpected response (status 500).',
    ],
  ])('signing in: %j', (failure, text) => {
    expect(signInFailureText(failure)).toBe(text)
  })

  test.each<[CallFailure, string]>([
    [
      { kind: 'scope-missing', scope: 'reports:read' },
      'You may not see the daily totals. Your token lacks the scope reports:read.',
    ],
    [{ kind: 'scope-missing', scope: undefined }, 'You may not see the daily totals.'],
    [
      { kind: 'unavailable', seconds: 1 },
      'The online reporting API is not available at the moment. Try again in a second.',
    ],
    [
      { kind: 'throttled', seconds: undefined },
      'The online reporting API is not available at the moment. Try again later.',
    ],
    [
      { kind: 'unreachable', seconds: undefined },
      'Cannot reach the online reporting API. Check your connection. Try again later.',
    ],
    [{ kind: 'token-refused' }, 'Cannot load the daily totals. The online reporting API refused the request.'],
  ])('a call: %j', (failure, text) => {
    expect(callFailureText(failure, REPORT)).toBe(text)
  })

  test.each([
    [0, 'a second'],
    [1, 'a second'],
    [2, '2 seconds'],
    [99, '99 seconds'],
    [100, '2 minutes'],
    [120, '2 minutes'],
    [121, '3 minutes'],
  ])('a time to try again is never too early: %i s', (seconds, text) => {
    expect(tryAgain(seconds)).toBe(`Try again in ${text}.`)
  })
})

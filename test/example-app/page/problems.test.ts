import { expect, test } from 'vitest'
import { CallError, failureOfError, failureOfResponse, SessionOver } from '../../../example-app/page/call-failure.js'
import { problemOf } from '../../../example-app/page/problems.js'
import { TokenClientError } from '../../../src/client/token-client-error.js'

const refused = (code: string, detail?: string) => new TokenClientError('refused', 403, undefined, '', { code, detail })

test.each<[string, unknown, { text: RegExp; at?: string }]>([
  ['a code that was used', refused('invalid_code'), { text: /does not work any more/ }],
  ['a weak password', refused('weak_password', 'Too short: 15.'), { text: /^Too short: 15\.$/, at: 'newPassword' }],
  ['a weak password without a detail', refused('weak_password'), { text: /cannot be used/, at: 'newPassword' }],
  ['an invalid address', refused('invalid_email'), { text: /not a valid email address/, at: 'email' }],
  ['a step-up that was cancelled', refused('insufficient_user_authentication'), { text: /did not confirm/ }],
  ['a code of a later server', refused('new_code'), { text: /unexpected response \(status 403\)/ }],
  [
    'a limit',
    new CallError({ kind: 'throttled', seconds: 90 }),
    { text: /^Too many attempts\. Try again in 90 seconds\.$/ },
  ],
  ['the end of the session', new SessionOver(), { text: /^Sign in again/ }],
  ['no network', new TypeError('failed'), { text: /^Cannot reach the clearing-house API/ }],
])('the page explains %s', (_what, error, { text, at }) => {
  const problem = problemOf(error)
  expect(problem.text).toMatch(text)
  expect(problem.at).toBe(at)
})

test('a form replaces the text of a code by its own', () => {
  const own = { text: 'Your current password is wrong.', at: 'password' }
  expect(problemOf(refused('invalid_credentials'), { invalid_credentials: own })).toEqual(own)
  expect(problemOf(refused('invalid_code'), { invalid_credentials: own }).text).toMatch(/link/)
})

test('a 429 tells the time, as the other routes do', () => {
  const headers = new Headers({ 'Retry-After': '90' })
  expect(failureOfResponse({ status: 429, headers })).toEqual({ kind: 'throttled', seconds: 90 })
  expect(failureOfError(new CallError({ kind: 'wrong-credentials' }))).toEqual({ kind: 'wrong-credentials' })
})

import { TokenClientError } from 'express-token-endpoint/client'
import { expect, it } from 'vitest'
import { failureOfError } from '../../../example-app/page/call-failure.js'

it.each([
  ['invalid_credentials', { kind: 'wrong-credentials' }],
  ['cross_site_request', { kind: 'unexpected', status: 403 }],
])('the page says that the password is wrong only when it is: %s', (code, expected) => {
  const error = new TokenClientError('refused', 403, undefined, '', { code, detail: undefined })
  expect(failureOfError(error)).toEqual(expected)
})

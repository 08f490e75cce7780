import type { IncomingMessage } from 'node:http'
import { expect, it } from 'vitest'
import { bearerTokenOf, credentialsIn } from '../../../../src/http/shared/credentials.js'
import { thrownBy } from '../../../support/failures.js'

const bearing = (url?: string) =>
  ({ headers: { authorization: 'Bearer abc' }, rawHeaders: ['Authorization', 'Bearer abc'], url }) as IncomingMessage

it.each([undefined, '', '/', '/?', '?', '/x?a=access_token', '/access_token=x', '/?Access_Token=x'])(
  'a token in the header alone, at %j, is taken',
  (url) => {
    expect(bearerTokenOf(bearing(url), 'Bearer abc')).toBe('abc')
  },
)

it.each(['/?access_token=x', '/x?a=b&access_token', '/x?access%5Ftoken=', '?access_token=x'])(
  'a second one in the query, at %j, is refused',
  (url) => {
    expect(thrownBy(() => bearerTokenOf(bearing(url), 'Bearer abc'))).toMatchObject({ code: 'invalid_request' })
  },
)

it('credentials may be as long together as a body may be, and no longer', () => {
  const credentials = { email: 'a'.repeat(4), password: 'b'.repeat(6) }
  expect(credentialsIn(credentials, 10)).toEqual(credentials)
  expect(thrownBy(() => credentialsIn(credentials, 9))).toMatchObject({ code: 'body_too_large' })
})

import type { IncomingMessage } from 'node:http'
import { expect, it } from 'vitest'
import { assertB64Token, readBearer } from '../../../../src/http/guard/bearer-header.js'
import { thrownBy } from '../../../support/failures.js'

const bearing = (url?: string) =>
  ({ headers: { authorization: 'Bearer abc' }, rawHeaders: ['Authorization', 'Bearer abc'], url }) as IncomingMessage

it.each([undefined, '', '/', '/?', '?', '/x?a=access_token', '/access_token=x', '/?Access_Token=x'])(
  'a token in the header alone, at %j, is taken',
  (url) => {
    expect(readBearer(bearing(url))).toBe('abc')
  },
)

it.each(['/?access_token=x', '/x?a=b&access_token', '/x?access%5Ftoken=', '?access_token=x'])(
  'a second one in the query, at %j, is refused',
  (url) => {
    expect(thrownBy(() => readBearer(bearing(url)))).toMatchObject({ code: 'invalid_request' })
  },
)

it.each(['a', 'a.b.c', 'A-z0_9.~+/', 'abc=='])('%j is a b64token', (text) => {
  expect(assertB64Token(text)).toBeUndefined()
})

it.each(['', '=', '=a', 'a=b', 'a b', 'a,b', 'a"', 'ä', 'a\n', '\ta', ' a'])('%j is not a b64token', (text) => {
  expect(thrownBy(() => assertB64Token(text))).toMatchObject({ code: 'invalid_request' })
})

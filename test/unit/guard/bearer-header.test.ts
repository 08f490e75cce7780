import type { IncomingMessage } from 'node:http'
import { expect, it } from 'vitest'
import { assertB64Token, readBearer } from '../../../src/guard/bearer-header.js'
import { thrownBy } from '../../support/failures.js'

const bearing = (url?: string) =>
  ({ headers: { authorization: 'Bearer abc' }, rawHeaders: ['Authorization', 'Bearer abc'], url }) as IncomingMessage

it.each(['Basic bearer abc', 'Basic Bearer ', '"Bearer" abc', '(bearer abc'])(
  'reads nothing of another scheme: %j',
  (authorization) => {
    const rawHeaders = ['Authorization', authorization]
    expect(readBearer({ headers: { authorization }, rawHeaders, url: '/' } as never)).toBeUndefined()
  },
)

it.each(['Bearer', 'bearer"abc"'])('refuses the scheme Bearer without a space after it: %j', (authorization) => {
  const request = { ...bearing('/'), headers: { authorization } } as IncomingMessage
  expect(thrownBy(() => readBearer(request))).toMatchObject({ code: 'invalid_request' })
})

it('refuses a request with 1,000 header lines, of which Node may have dropped some', () => {
  const lines = (count: number) => Array.from({ length: count }, () => ['x', 'a']).flat()
  const { rawHeaders } = bearing()
  expect(readBearer({ ...bearing('/'), rawHeaders: [...rawHeaders, ...lines(998)] } as never)).toBe('abc')
  for (const cut of [{ rawHeaders: [...rawHeaders, ...lines(999)] }, { rawHeaders: lines(1000), headers: {} }]) {
    expect(thrownBy(() => readBearer({ ...bearing('/'), ...cut } as never))).toMatchObject({ code: 'invalid_request' })
  }
})

it('reads no header that the headers inherit', () => {
  const headers = Object.create({ authorization: 'Bearer abc' })
  expect(readBearer({ ...bearing('/'), headers } as IncomingMessage)).toBeUndefined()
})

it.each([
  ...[undefined, '', '/', '/?', '?', '/x?a=access_token'],
  ...['/access_token=x', '/x&access_token=x', 'access_token=x', '/?Access_Token=x'],
])('a token in the header alone, at %j, is taken', (url) => {
  expect(readBearer(bearing(url))).toBe('abc')
})

it.each(['', 'a\n', 'ä'])('%j is not a b64token', (text) => {
  expect(thrownBy(() => assertB64Token(text))).toMatchObject({ code: 'invalid_request' })
})

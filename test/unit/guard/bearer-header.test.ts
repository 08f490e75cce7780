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

const FORM = 'application/x-www-form-urlencoded'
const withBody = (type: string | undefined, body: unknown) =>
  ({ ...bearing('/'), headers: { ...bearing().headers, 'content-type': type }, body }) as unknown as IncomingMessage

it.each<[string, object]>([
  [FORM, { access_token: 'x' }],
  [`${FORM}; charset=utf-8`, { access_token: ['x', 'y'], a: 1 }],
  [FORM.toUpperCase(), Object.assign(Object.create(null), { access_token: '' })],
])('refuses a token in the header and in a parsed form: %s', (type, body) => {
  expect(thrownBy(() => readBearer(withBody(type, body)))).toMatchObject({ code: 'invalid_request' })
})

it.each<[string, string | undefined, unknown]>([
  ['JSON with such a member', 'application/json', { access_token: 'x' }],
  ['another type of the same beginning', `${FORM}x`, { access_token: 'x' }],
  ['no type', undefined, { access_token: 'x' }],
  ['a form without a token', FORM, { token: 'x' }],
  ['an inherited member', FORM, Object.create({ access_token: 'x' })],
  ['a text', FORM, 'access_token=x'],
  ['no body', FORM, undefined],
])('takes the header beside %s', (_, type, body) => {
  expect(readBearer(withBody(type, body))).toBe('abc')
})

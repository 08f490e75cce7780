import type { IncomingMessage } from 'node:http'
import fc from 'fast-check'
import { expect, it, onTestFinished, vi } from 'vitest'
import { assertB64Token, readBearer } from '../../../../src/http/guard/bearer-header.js'
import { thrownBy } from '../../../support/failures.js'

const bearing = (url?: string) =>
  ({ headers: { authorization: 'Bearer abc' }, rawHeaders: ['Authorization', 'Bearer abc'], url }) as IncomingMessage

const withHeader = (authorization: string) =>
  ({ headers: { authorization }, rawHeaders: ['Authorization', authorization], url: '/' }) as unknown as IncomingMessage

it.each(['Bearer abc', 'Bearer  abc', 'bearer abc', 'BEARER   abc'])('reads the token of %j', (authorization) => {
  expect(readBearer(withHeader(authorization))).toBe('abc')
})

it.each([
  '',
  'Basic abc',
  'Basic bearer abc',
  'Basic Bearer ',
  'xBearer abc',
  'Bearerx abc',
  '"Bearer" abc',
  '(bearer abc',
])('reads nothing of another scheme: %j', (authorization) => {
  expect(readBearer(withHeader(authorization))).toBeUndefined()
})

it.each(['Bearer', 'bearer', 'Bearer\tabc', 'Bearer,abc', 'bearer"abc"'])(
  'refuses the scheme Bearer without a space after it: %j',
  (authorization) => {
    expect(thrownBy(() => readBearer(withHeader(authorization)))).toMatchObject({ code: 'invalid_request' })
  },
)

it('refuses a request with 1,000 header lines, of which Node may have dropped some', () => {
  const [more, all] = [999, 1000].map((count) =>
    Array(count - 1)
      .fill(['x', 'a'])
      .flat(),
  )
  const request = (lines: string[]) =>
    ({ ...bearing('/'), rawHeaders: [...bearing('/').rawHeaders, ...lines] }) as never
  expect(readBearer(request(more as string[]))).toBe('abc')
  expect(thrownBy(() => readBearer(request(all as string[])))).toMatchObject({ code: 'invalid_request' })
  const anonymous = { ...bearing('/'), headers: {}, rawHeaders: ['x', 'a', ...(all as string[])] } as never
  expect(thrownBy(() => readBearer(anonymous))).toMatchObject({ code: 'invalid_request' })
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

it.each(['/?access_token=x', '/x?a=b&access_token', '/x?access%5Ftoken=', '?access_token=x'])(
  'a second one in the query, at %j, is refused',
  (url) => {
    expect(thrownBy(() => readBearer(bearing(url)))).toMatchObject({ code: 'invalid_request' })
  },
)

it('finds a token in the query as URLSearchParams does, without its help', () => {
  const piece = fc.oneof(
    fc.constantFrom(
      'access_token',
      'access',
      '_token',
      '%5f',
      '%5F',
      '%61ccess',
      't%6Fke%6e',
      '&',
      '=',
      '?',
      '%',
      '+',
      '#',
      'é',
    ),
    fc.string({ maxLength: 2 }),
  )
  const query = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join(''))
  const { URLSearchParams } = globalThis
  vi.stubGlobal('URLSearchParams', undefined)
  onTestFinished(() => void vi.unstubAllGlobals())
  fc.assert(
    fc.property(query, (text) => {
      const read = () => readBearer(bearing(`/x?${text}`))
      if (new URLSearchParams(`?${text}`).has('access_token')) expect(read).toThrow()
      else expect(read()).toBe('abc')
    }),
  )
})

it.each(['a', 'a.b.c', 'A-z0_9.~+/', 'abc=='])('%j is a b64token', (text) => {
  expect(assertB64Token(text)).toBeUndefined()
})

it.each(['', '=', '=a', 'a=b', 'a b', 'a,b', 'a"', 'ä', 'a\n', '\ta', ' a'])('%j is not a b64token', (text) => {
  expect(thrownBy(() => assertB64Token(text))).toMatchObject({ code: 'invalid_request' })
})

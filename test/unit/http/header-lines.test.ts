import type { IncomingMessage } from 'node:http'
import { expect, it } from 'vitest'
import { assertHeaderLines, headerOf, isCut, isRepeated } from '../../../src/http/header-lines.js'
import { expectMisuse } from '../../support/failures.js'
import { polluted } from '../../support/pollution.js'

it.each<[boolean, string, readonly string[] | undefined]>([
  [false, 'no header', []],
  [false, 'one line', ['Authorization', 'Bearer a']],
  [true, 'two lines', ['Authorization', 'Bearer a', 'Host', 'x', 'Authorization', 'Bearer b']],
  [true, 'two lines in different letters', ['authorization', 'Bearer a', 'AUTHORIZATION', 'Bearer a']],
  [false, 'a value that is the name', ['Authorization', 'authorization', 'X-Name', 'authorization']],
  [false, 'another header of the same length', ['Authorization', 'Bearer a', 'If-None-Match', '"a"']],
  [false, 'a mock without raw headers', undefined],
])('a header is repeated: %s, with %s', (expected, _, rawHeaders) => {
  expect(isRepeated({ rawHeaders } as IncomingMessage, 'authorization')).toBe(expected)
})

const lines = (count: number) => Array.from({ length: count }, (_, i) => [`x-${i}`, 'a']).flat()

it.each<[boolean, number, unknown]>([
  [false, 999, { maxHeadersCount: null }],
  [true, 1000, { maxHeadersCount: null }],
  [true, 1023, { maxHeadersCount: null }],
  [false, 999, undefined],
  [true, 1000, undefined],
  [false, 19, { maxHeadersCount: 20 }],
  [true, 20, { maxHeadersCount: 20 }],
  [false, 3000, { maxHeadersCount: 0 }],
  [false, 1000, { maxHeadersCount: 2000 }],
])('may have lost header lines: %s, with %i lines on a server with %j', async (expected, count, server) => {
  const req = { rawHeaders: lines(count), socket: { server } } as unknown as IncomingMessage
  expect(await polluted({ maxHeadersCount: 0 }, () => isCut(req))).toBe(expected)
  expect(isCut({ ...req, socket: undefined } as never)).toBe(count >= 1000)
})

it('reads a header from its line while every object inherits its name', async () => {
  const request = (headers: object, rawHeaders: string[]) => headerOf({ headers, rawHeaders } as never, 'authorization')
  const line = ['Host', 'authorization', 'AUTHORIZATION', 'Bearer a']
  expect(request({ authorization: 'Bearer own' }, line)).toBe('Bearer own')
  // A middleware has removed it.
  expect(request({}, line)).toBeUndefined()
  await polluted({ authorization: 'x' }, () => {
    expect(request({}, line)).toBe('Bearer a')
    expect(request({ authorization: 'Bearer own' }, line)).toBe('Bearer own')
    expect(request({}, ['Authorization', 'Bearer a'])).toBe('Bearer a')
    expect(request({}, ['Host', 'authorization'])).toBeUndefined()
  })
})

it.each<[string, object]>([
  ['of Node', { rawHeaders: [] }],
  ['with headers only, as the tests of other frameworks have', { headers: { authorization: 'Bearer a' } }],
  ['without a token', { headers: {} }],
  ['that emits, of node-mocks-http', { on() {}, headers: new Headers() }],
])('takes a request %s', (_, req) => {
  expect(() => assertHeaderLines('requireBearer', req)).not.toThrow()
})

it.each<[string, unknown]>([
  ['of Fetch', new Request('http://x/', { headers: { authorization: 'Bearer a' } })],
  ['with the headers of Fetch', { headers: new Headers({ authorization: 'Bearer a' }) }],
  ['with a map of headers', { headers: new Map([['authorization', 'Bearer a']]) }],
  ['with a list of headers', { headers: [['authorization', 'Bearer a']] }],
  ['of a serverless event', { headers: { Authorization: 'Bearer a' } }],
  ['without headers', {}],
  ['that is none', undefined],
])('refuses a request %s', async (_, req) => {
  const message = 'requireBearer: the request must be Node'
  const assertLines = () => expectMisuse(() => assertHeaderLines('requireBearer', req as never), message)
  assertLines()
  await polluted({ rawHeaders: [], headers: {}, on() {} }, assertLines)
})

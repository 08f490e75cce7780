// Tests errors/codes.ts http/send-response.ts

import { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { AuthError, type AuthErrorCode } from 'express-token-endpoint'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { missingToken } from '../../../src/errors/codes.js'
import { doneResponse, jsonResponse, keysResponse, refusalResponse, tokenResult } from '../../../src/http/responses.js'
import { closeAfterEnd, hasUnreadBody, sendResponse } from '../../../src/http/send-response.js'

const NO_STORE = { 'Cache-Control': 'no-store', Pragma: 'no-cache' }
const PROBLEM = { 'Content-Type': 'application/problem+json' }

it('responds to a login with two members, and keeps them out of caches', () => {
  expect(jsonResponse(JSON.stringify(tokenResult('a.b.c', new Date('2030-01-01'))))).toEqual({
    status: 200,
    headers: { ...NO_STORE, 'Content-Type': 'application/json; charset=utf-8' },
    body: '{"authenticationToken":"a.b.c","expiration":"2030-01-01T00:00:00.000Z"}',
  })
})

it('lets caches keep a key set for five minutes', () => {
  const headers = { 'Cache-Control': 'public, max-age=300', 'Content-Type': 'application/jwk-set+json' }
  expect(keysResponse('{"keys":[]}')).toEqual({ status: 200, headers, body: '{"keys":[]}', hasTag: true })
})

describe('a refusal', () => {
  it.each<[AuthErrorCode, object]>([
    ['invalid_body', {}],
    ['overloaded', { 'Retry-After': '1' }],
    ['missing_token', { 'WWW-Authenticate': 'Bearer realm=""' }],
  ])('%s is a problem with its own headers: %j', (code, headers) => {
    const error = new AuthError(code)
    const { status, message: detail } = error
    const answer = refusalResponse(error)
    expect({ ...answer, body: JSON.parse(answer.body) }).toEqual({
      status,
      headers: { ...NO_STORE, ...headers, ...PROBLEM },
      body: { type: 'about:blank', title: expect.any(String), status, code, detail },
    })
  })

  it('of invalid credentials has no body', () => {
    const answer = { status: 403, headers: NO_STORE, body: '' }
    expect(refusalResponse(new AuthError('invalid_credentials'))).toEqual(answer)
  })
})

it('sends a response with its length in bytes and its headers unchanged, unless another one was sent', () => {
  const response = (headersSent: boolean) => ({ headersSent, statusCode: 0, setHeader: vi.fn(), end: vi.fn() })
  const answer = {
    status: 401,
    headers: { 'Content-Type': 'application/jwk-set+json', Allow: 'GET' },
    body: 'caf\u00e9',
  }
  const [open, sent] = [response(false), response(true)]
  for (const res of [open, sent]) sendResponse(res as unknown as ServerResponse, answer)
  expect(open.statusCode).toBe(401)
  expect(open.setHeader.mock.calls).toEqual([...Object.entries(answer.headers), ['Content-Length', 5]])
  expect(open.end.mock.calls).toEqual([[answer.body]])
  expect(sent).toMatchObject({ statusCode: 0 })
  expect(sent.setHeader).not.toHaveBeenCalled()
  expect(sent.end).not.toHaveBeenCalled()
})

it('responds to a request that ended sessions without a body and without a length', () => {
  const res = { setHeader: vi.fn(), end: vi.fn(), statusCode: 0 }
  sendResponse(res as unknown as ServerResponse, doneResponse())
  expect([res.statusCode, Object.fromEntries(res.setHeader.mock.calls)]).toEqual([204, NO_STORE])
  expect(res.end).toHaveBeenCalledWith('')
})

describe('whether a client may go on sending', () => {
  it.each<[string, boolean, boolean, object]>([
    ['what is within the limit to the byte', false, false, { 'content-length': '10' }],
    ['what is a byte longer', true, false, { 'content-length': '11' }],
    ['what does not say how long it is', true, false, { 'transfer-encoding': 'chunked' }],
    ['no body', false, false, {}],
    ['what has come to its end', false, true, { 'content-length': '11' }],
  ])('%s: %s', (_, expected, complete, headers) => {
    expect(hasUnreadBody({ complete, headers } as IncomingMessage, 10)).toBe(expected)
  })
})

it.each([
  ['no', 'no'],
  ['', undefined],
])('closes the stream of HTTP/2 after the body %j, and sends no empty text', (body, sent) => {
  const [end, close] = [vi.fn(), vi.fn()]
  const res = { req: { httpVersionMajor: 2, stream: { close } }, setHeader: vi.fn(), end }
  sendResponse(res as unknown as ServerResponse, { status: 413, headers: {}, body }, true)
  expect(end.mock.calls).toEqual([[sent]])
  expect(close).toHaveBeenCalledOnce()
})

it.each([
  [
    'names the header and its scheme',
    'Bearer',
    'This resource needs a token. Send it as Authorization: Bearer <token>.',
  ],
  ['names no header where the header holds no token', undefined, 'This resource needs a token.'],
])('a refusal without a token %s', (_, scheme, message) => {
  expect(missingToken(scheme)).toBe(message)
})

it('sends an empty body when another middleware ends a response without a body, while the client still sends', () => {
  const headers = { 'content-length': '100000' }
  const req = Object.assign(new EventEmitter(), {
    complete: false,
    headers,
    httpVersionMajor: 1,
    ip: undefined,
    resume() {},
    pause() {},
  })
  const sending = { setHeader: vi.fn(), flushHeaders: vi.fn(), write: vi.fn(), headersSent: false }
  const res = Object.assign(new EventEmitter(), { req, end: vi.fn(), ...sending })
  closeAfterEnd(req as unknown as IncomingMessage, res as unknown as ServerResponse)
  res.end()
  expect(res.write.mock.calls).toEqual([[Buffer.alloc(0)]])
  expect(res.setHeader).toHaveBeenCalledWith('Connection', 'close')
  res.emit('close')
})

it('takes no stream that another middleware adds to a request of HTTP/1 for one of HTTP/2', () => {
  const headers = { 'transfer-encoding': 'chunked' }
  const stream = { endAfterHeaders: true }
  expect(hasUnreadBody({ httpVersionMajor: 1, headers, stream } as unknown as IncomingMessage, 0)).toBe(true)
})

describe('an answer to who goes on sending', () => {
  /** Sends the response. Returns the request and the end of the response. */
  function answered({ status = 401, headers = {}, ip = '192.0.2.1' } = {}) {
    // A second call would forget the timers.
    if (!vi.isFakeTimers()) {
      vi.useFakeTimers()
      onTestFinished(() => void vi.useRealTimers())
    }
    const end = vi.fn()
    const req = Object.assign(new EventEmitter(), { headers, ip, resume: vi.fn(), pause: vi.fn() })
    const sending = { statusCode: 0, setHeader: vi.fn(), flushHeaders: vi.fn(), write: vi.fn() }
    const res = Object.assign(new EventEmitter(), { req, end, ...sending })
    sendResponse(res as unknown as ServerResponse, { status, headers: {}, body: 'no' }, true)
    onTestFinished(() => void res.emit('close'))
    return { req, res, end }
  }
  const send = (req: EventEmitter, bytes: number) => {
    for (let sent = 0; sent < bytes; sent += 65_536) req.emit('data', Buffer.alloc(65_536))
  }
  const [SECONDS, MEGABYTES] = [1000, 1_048_576]

  it.each<[string, number, object]>([
    ['ten seconds', 10, {}],
    ['ten seconds, of what may be read', 10, { headers: { 'content-length': `${32 * MEGABYTES}` } }],
    ['a second, of a body above its limit', 1, { status: 413 }],
    [
      'a second, of a body that is longer than may be read',
      1,
      { headers: { 'content-length': `${32 * MEGABYTES + 1}` } },
    ],
  ])('is written at once, and ended after %s', (_, seconds, about) => {
    const { req, res, end } = answered(about)
    expect(res.setHeader.mock.calls).toEqual([
      ['Content-Length', 2],
      ['Connection', 'close'],
    ])
    expect(res.flushHeaders).toHaveBeenCalledOnce()
    expect(res.write).toHaveBeenCalledWith('no')
    expect(req.resume).toHaveBeenCalledOnce()
    vi.advanceTimersByTime(seconds * SECONDS - 1)
    expect(end).not.toHaveBeenCalled()
    vi.advanceTimersByTime(1)
    expect(end).toHaveBeenCalledOnce()
  })

  it.each([
    [401, 32],
    [413, 1],
  ])('%i is ended with the byte that is one too many, after %i MB', (status, megabytes) => {
    const { req, end } = answered({ status })
    send(req, megabytes * MEGABYTES)
    expect(end).not.toHaveBeenCalled()
    expect(req.pause).not.toHaveBeenCalled()
    req.emit('data', Buffer.alloc(1))
    expect(end).toHaveBeenCalledOnce()
    // An earlier response of the connection may be unfinished, and then this one does not end the connection yet.
    expect(req.pause).toHaveBeenCalledOnce()
    expect(req.listenerCount('data')).toBe(0)
  })

  it.each([
    ['with the body', 'req', 'end'],
    ['with the connection', 'res', 'close'],
  ] as const)('is ended %s, and leaves no timer', (_, side, event) => {
    const { end, ...sides } = answered()
    sides[side].emit(event)
    expect(end).toHaveBeenCalledOnce()
    expect(vi.getTimerCount()).toBe(0)
  })

  it('reads long bodies of 256 requests of one network and of 1,024 in total at the same time, and others for a second', () => {
    const first = Array.from({ length: 256 }, () => answered())
    const isCut = ({ end }: { end: { mock: { calls: unknown[] } } }) => end.mock.calls.length > 0
    const isCutAfter = (seconds: number, one: ReturnType<typeof answered>) => {
      vi.advanceTimersByTime(seconds * SECONDS)
      return isCut(one)
    }
    expect(isCutAfter(1, answered())).toBe(true)
    expect(first.some(isCut)).toBe(false)
    first[0]?.req.emit('end')
    expect(isCutAfter(1, answered())).toBe(false)
    const networks = Array.from({ length: 1100 }, (_, i) => `10.0.${i >> 8}.${i & 255}`)
    const others = networks.map((ip) => answered({ ip }))
    vi.advanceTimersByTime(SECONDS)
    expect(others.filter((one) => !isCut(one))).toHaveLength(1024 - 256)
    for (const { res } of [...first, ...others]) res.emit('close')
    expect(isCutAfter(1, answered({ ip: '10.1.0.0' }))).toBe(false)
  })
})

import { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { AuthError, type AuthErrorCode } from 'express-token-endpoint'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { hasUnreadBody } from '../../../../src/http/shared/close-after-answer.js'
import { asRefusal, sendAnswer } from '../../../../src/http/shared/send-answer.js'

describe('asRefusal', () => {
  it.each<['token' | 'guard' | 'keys', AuthErrorCode]>([
    ['token', 'invalid_body'],
    ['token', 'client_closed_request'],
    ['token', 'unavailable'],
    ['guard', 'invalid_token'],
    ['keys', 'method_not_allowed'],
  ])('leaves a refusal of the part’s own as it is: %s, %s', (part, code) => {
    const refusal = new AuthError(code)
    expect(asRefusal(part, refusal)).toBe(refusal)
  })

  it.each<['token' | 'guard', unknown]>([
    ['token', new AuthError('invalid_token')],
    ['guard', new AuthError('invalid_credentials')],
    ['guard', new Error('a fault')],
    ['token', undefined],
  ])('takes what is none for a failure that nobody foresaw: %s, %s', (part, thrown) => {
    const { code, dependency, cause } = asRefusal(part, thrown)
    expect({ code, dependency, cause }).toEqual({ code: 'unavailable', dependency: 'internal', cause: thrown })
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
  for (const res of [open, sent]) sendAnswer(res as unknown as ServerResponse, answer)
  expect(open.statusCode).toBe(401)
  expect(open.setHeader.mock.calls).toEqual([...Object.entries(answer.headers), ['Content-Length', 5]])
  expect(open.end.mock.calls).toEqual([[answer.body]])
  expect(sent).toMatchObject({ statusCode: 0 })
  expect(sent.setHeader).not.toHaveBeenCalled()
  expect(sent.end).not.toHaveBeenCalled()
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

describe('an answer to who goes on sending', () => {
  /** Sends the response. Returns the request and the end of the response. */
  function answered() {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    const end = vi.fn()
    const req = Object.assign(new EventEmitter(), { resume: vi.fn(), pause: vi.fn() })
    const sending = { setHeader: vi.fn(), flushHeaders: vi.fn(), write: vi.fn() }
    const res = Object.assign(new EventEmitter(), { req, end, ...sending })
    sendAnswer(res as unknown as ServerResponse, { status: 413, headers: {}, body: 'no' }, true)
    return { req, res, end }
  }

  it('is written at once, and ended after a second', () => {
    const { req, res, end } = answered()
    expect(res.setHeader.mock.calls).toEqual([
      ['Content-Length', 2],
      ['Connection', 'close'],
    ])
    expect(res.flushHeaders).toHaveBeenCalledOnce()
    expect(res.write).toHaveBeenCalledWith('no')
    expect(req.resume).toHaveBeenCalledOnce()
    vi.advanceTimersByTime(999)
    expect(end).not.toHaveBeenCalled()
    vi.advanceTimersByTime(1)
    expect(end).toHaveBeenCalledOnce()
  })

  it('is ended with the byte that is one too many', () => {
    const { req, end } = answered()
    for (let sent = 0; sent < 1_048_576; sent += 65_536) req.emit('data', Buffer.alloc(65_536))
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
})

import { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { answerThenClose, hasUnreadBody } from '../../../../src/http/shared/close-after-answer.js'

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
    answerThenClose(res as unknown as ServerResponse, 'no')
    return { req, res, end }
  }

  it('is written at once, and ended after a second', () => {
    const { req, res, end } = answered()
    expect(res.setHeader.mock.calls).toEqual([['Connection', 'close']])
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

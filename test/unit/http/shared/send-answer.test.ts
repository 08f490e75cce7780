import type { ServerResponse } from 'node:http'
import { AuthError, type AuthErrorCode } from 'express-token-endpoint'
import { describe, expect, it, vi } from 'vitest'
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

it('sends a response with its status and its headers unchanged, unless another one was sent', () => {
  const response = (headersSent: boolean) => ({ headersSent, statusCode: 0, setHeader: vi.fn(), end: vi.fn() })
  const answer = { status: 401, headers: { 'Content-Type': 'application/jwk-set+json', Allow: 'GET' }, body: '{}' }
  const [open, sent] = [response(false), response(true)]
  for (const res of [open, sent]) sendAnswer(res as unknown as ServerResponse, answer)
  expect(open.statusCode).toBe(401)
  expect(open.setHeader.mock.calls).toEqual([...Object.entries(answer.headers), ['Content-Length', 2]])
  expect(open.end).toHaveBeenCalledOnce()
  expect(sent).toMatchObject({ statusCode: 0 })
  expect(sent.setHeader).not.toHaveBeenCalled()
  expect(sent.end).not.toHaveBeenCalled()
})

it('send says how many bytes the body has, whoever ends it', () => {
  const res = { setHeader: vi.fn(), end: vi.fn() }
  const finish = vi.fn()
  const answer = { status: 200, headers: {}, body: 'caf\u00e9' }
  sendAnswer(res as unknown as ServerResponse, answer)
  sendAnswer(res as unknown as ServerResponse, answer, finish)
  expect(res.setHeader.mock.calls).toEqual([
    ['Content-Length', 5],
    ['Content-Length', 5],
  ])
  expect(res.end.mock.calls).toEqual([[answer.body]])
  expect(finish.mock.calls).toEqual([[res, answer.body]])
})

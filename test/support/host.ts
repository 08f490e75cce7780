import type express from 'express'
import type { RequestHandler } from 'express'
import type { Refuse } from 'express-token-endpoint'
import { expect, vi } from 'vitest'
import { ACCOUNTS, PASSWORD } from './fixtures.js'
import { type Answer, FORM_TYPE, JSON_TYPE, type Sent } from './plain-js/http-client.mjs'

/** A version of Express that hosts run. */
export type AnyExpress = typeof express

/** Imports the package and its fixtures as a host with this Express does. The package creates routers of this Express. */
export async function packageOn(installed: AnyExpress) {
  vi.resetModules()
  vi.doMock('express', () => ({ default: installed, Router: installed.Router }))
  const library = await import('express-token-endpoint')
  const fixtures = await import('./fixtures.js')
  vi.doUnmock('express')
  return { ...library, ...fixtures }
}

export { fatalErrors as unhandledRejections } from './failures.js'
export { type Answer, FORM_TYPE, JSON_TYPE, type Sent, send, sendEndlessly } from './plain-js/http-client.mjs'

export const GOOD = { email: ACCOUNTS.alice.email, password: PASSWORD }
export const GOOD_JSON = JSON.stringify(GOOD)
export const GOOD_FORM = new URLSearchParams(GOOD).toString()

export const asJson = (value: unknown): Sent => ({ headers: JSON_TYPE, body: JSON.stringify(value) })
export const asForm = (text: string): Sent => ({ headers: FORM_TYPE, body: text })

/** Creates a middleware that reads each body first, and counts its bytes. */
export function eavesdropper(): { overhear: RequestHandler; heard: () => number } {
  let bytes = 0
  const overhear: RequestHandler = (req, _res, next) => {
    req.on('data', (chunk: Buffer) => {
      bytes += chunk.length
    })
    next()
  }
  return { overhear, heard: () => bytes }
}

/** Expects that no cache may store a token response, and that it has no `ETag`. */
export function expectUncached({ headers }: Pick<Answer, 'headers'>): void {
  expect(headers).toMatchObject({ 'cache-control': 'no-store', pragma: 'no-cache' })
  expect(headers).not.toHaveProperty('etag')
}

/** Expects problem details (RFC 9457) that contain nothing from the request. */
export function expectProblem(answer: Answer, status: number, code: string, title: string): void {
  expect(answer.status).toBe(status)
  expect(answer.headers['content-type']).toBe('application/problem+json')
  expect(JSON.parse(answer.body)).toEqual({ type: 'about:blank', title, status, code, detail: expect.any(String) })
  expectUncached(answer)
}

export const expectBadRequest = (answer: Answer) => expectProblem(answer, 400, 'invalid_body', 'Bad Request')
export const expectUnsupported = (answer: Answer) =>
  expectProblem(answer, 415, 'unsupported_media_type', 'Unsupported Media Type')
export const expectTooLarge = (answer: Answer) => expectProblem(answer, 413, 'body_too_large', 'Content Too Large')

/** Expects a `503` with `Retry-After`. */
export function expectUnavailable(answer: Answer): void {
  expectProblem(answer, 503, 'unavailable', 'Service Unavailable')
  expect(answer.headers['retry-after']).toMatch(/^[1-9]\d*$/)
  expect(answer.headers).not.toHaveProperty('www-authenticate')
}

/** Expects the specification's refusal: `403` with an empty body. */
export function expectForbidden(answer: Answer): void {
  expect(answer).toMatchObject({ status: 403, body: '' })
  expect(answer.headers['content-length']).toBe('0')
  expect(answer.headers).not.toHaveProperty('content-type')
  expect(answer.headers).not.toHaveProperty('www-authenticate')
  expect(answer.headers).not.toHaveProperty('allow')
  expectUncached(answer)
}

/** Expects a token and its expiration, and no third member. */
export function expectToken(answer: Answer): { authenticationToken: string; expiration: string } {
  expect(answer.status).toBe(200)
  expect(answer.headers['content-type']).toMatch(/^application\/json\b/)
  expectUncached(answer)
  const result = JSON.parse(answer.body)
  expect(result).toEqual({ authenticationToken: expect.any(String), expiration: expect.any(String) })
  return result
}

/** The option `refuse` of a host whose own error handler receives every refusal. */
export const passOn: Refuse = (error, _req, next) => next(error)

/** The option `refuse` of a host whose own error handler receives the failures of dependencies. */
export const passFailuresOn: Refuse = (error, _req, next) => (error.status === 503 ? next(error) : undefined)

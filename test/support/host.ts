import type express from 'express'
import type { RequestHandler } from 'express'
import { expect, onTestFinished, vi } from 'vitest'
import { ACCOUNTS, PASSWORD } from './fixtures.js'
import { type Answer, FORM_TYPE, JSON_TYPE, type Sent } from './plain-js/http-client.mjs'

/** One of the Express versions that hosts run. */
export type AnyExpress = typeof express

/** The package and its fixtures as a host has them that installed this Express: the package's routers are that Express's. */
export async function packageOn(installed: AnyExpress) {
  vi.resetModules()
  vi.doMock('express', () => ({ default: installed, Router: installed.Router }))
  const library = await import('express-token-endpoint')
  const fixtures = await import('./fixtures.js')
  vi.doUnmock('express')
  return { ...library, ...fixtures }
}

export type Package = Awaited<ReturnType<typeof packageOn>>

export { type Answer, FORM_TYPE, JSON_TYPE, type Sent, send, sendEndlessly } from './plain-js/http-client.mjs'

export const GOOD = { email: ACCOUNTS.alice.email, password: PASSWORD }
export const GOOD_JSON = JSON.stringify(GOOD)
export const GOOD_FORM = new URLSearchParams(GOOD).toString()

export const asJson = (value: unknown): Sent => ({ headers: JSON_TYPE, body: JSON.stringify(value) })
export const asForm = (text: string): Sent => ({ headers: FORM_TYPE, body: text })

/** A middleware that listens to every body before anybody else does, and the number of bytes that it has heard. */
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

/** Every answer of the token call is kept from caches, and none can be asked for again by its `ETag`. */
export function expectUncached({ headers }: Pick<Answer, 'headers'>): void {
  expect(headers).toMatchObject({ 'cache-control': 'no-store', pragma: 'no-cache' })
  expect(headers).not.toHaveProperty('etag')
}

/** A refusal with problem details (RFC 9457), and nothing in them that the client sent. */
export function expectProblem(answer: Answer, status: number, code: string, title: string): void {
  expect(answer.status).toBe(status)
  expect(answer.headers['content-type']).toBe('application/problem+json')
  expect(JSON.parse(answer.body)).toEqual({ type: 'about:blank', title, status, code, detail: expect.any(String) })
  expectUncached(answer)
}

export const expectBadRequest = (answer: Answer) => expectProblem(answer, 400, 'invalid_body', 'Bad Request')
export const expectUnsupported = (answer: Answer) =>
  expectProblem(answer, 415, 'unsupported_media_type', 'Unsupported Media Type')
export const expectTooLarge = (answer: Answer) => expectProblem(answer, 413, 'body_too_large', 'Payload Too Large')

/** The service cannot tell, and says when to ask again. */
export function expectUnavailable(answer: Answer): void {
  expectProblem(answer, 503, 'unavailable', 'Service Unavailable')
  expect(answer.headers['retry-after']).toMatch(/^[1-9]\d*$/)
  expect(answer.headers).not.toHaveProperty('www-authenticate')
}

/** The specification's one refusal: `403`, and nothing in it. */
export function expectForbidden(answer: Answer): void {
  expect(answer).toMatchObject({ status: 403, body: '' })
  expect(answer.headers['content-length']).toBe('0')
  expect(answer.headers).not.toHaveProperty('content-type')
  expect(answer.headers).not.toHaveProperty('www-authenticate')
  expect(answer.headers).not.toHaveProperty('allow')
  expectUncached(answer)
}

/** A token and its expiration, and no third member. */
export function expectToken(answer: Answer): { authenticationToken: string; expiration: string } {
  expect(answer.status).toBe(200)
  expect(answer.headers['content-type']).toMatch(/^application\/json\b/)
  expectUncached(answer)
  const result = JSON.parse(answer.body)
  expect(result).toEqual({ authenticationToken: expect.any(String), expiration: expect.any(String) })
  return result
}

/** Catches what would take a process down, until the test is over. */
export function unhandledRejections(): unknown[] {
  const own = process.listeners('unhandledRejection')
  const caught: unknown[] = []
  const listener = (reason: unknown) => caught.push(reason)
  process.removeAllListeners('unhandledRejection').on('unhandledRejection', listener)
  onTestFinished(() => {
    process.removeListener('unhandledRejection', listener)
    for (const one of own) process.on('unhandledRejection', one)
  })
  return caught
}

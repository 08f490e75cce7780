import { existsSync } from 'node:fs'
import express from 'express'
import { createTokenIssuer } from 'express-token-endpoint'
import express4 from 'express4'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { root } from '../../support/documents/repository.js'
import { issueNow } from '../../support/fixtures.js'
import { type AnyExpress, asJson, GOOD, packageOn, send } from '../../support/host.js'
import { listen } from '../../support/http.js'

const warned = vi.fn()
beforeEach(() => {
  warned.mockClear()
  vi.spyOn(process, 'emitWarning').mockImplementation(warned)
})
afterEach(() => vi.restoreAllMocks())

const messages = () => warned.mock.calls.map(([message, type]) => [type, message])

/** Starts an app with its own copy of the package, because a process warns once. */
async function start(installed: AnyExpress, trustProxy?: unknown): Promise<number> {
  const { tokenRouter, makeIssuer, makeStore, fastPasswords } = await packageOn(installed)
  const app = installed()
  if (trustProxy !== undefined) app.set('trust proxy', trustProxy)
  app.use(tokenRouter({ tokens: makeIssuer(), accounts: makeStore(), passwords: fastPasswords() }))
  return (await listen(app)).port
}

const forwarded = { ...asJson(GOOD), headers: { ...asJson(GOOD).headers, 'X-Forwarded-For': '203.0.113.99' } }

it.each([
  ['Express 4', express4 as unknown as AnyExpress],
  ['Express 5', express],
])('X-Forwarded-For without "trust proxy" is a warning, once: %s', async (_, installed) => {
  const port = await start(installed)
  await send(port, asJson(GOOD))
  expect(messages()).toEqual([])
  for (let i = 0; i < 3; i++) expect((await send(port, forwarded)).status).toBe(200)
  expect(messages()).toEqual([
    ['ExpressTokenEndpointWarning', expect.stringMatching(/"trust proxy" is not set.*See .*behind-a-proxy\.md$/)],
  ])
  expect(String(warned.mock.calls)).not.toContain('203.0.113.99')
})

it.each([1, 'loopback', true])('X-Forwarded-For with "trust proxy" %j is no warning', async (trustProxy) => {
  const port = await start(express, trustProxy)
  expect((await send(port, forwarded)).status).toBe(200)
  expect(messages()).toEqual([])
})

it('a long token is a warning, once, without the token', () => {
  const keys = { alg: 'HS256', secret: 's'.repeat(32) } as const
  const tokens = createTokenIssuer({ issuer: 'https://api.example.com', keys })
  const issue = (length: number) => issueNow(tokens, { accountId: 'acc-1', claims: { text: 'x'.repeat(length) } }).token
  expect(issue(2500).length).toBeLessThan(4096)
  expect(messages()).toEqual([])
  expect(issue(4000).length).toBeGreaterThan(4096)
  const { length } = issue(4000)
  expect(messages()).toEqual([
    ['ExpressTokenEndpointWarning', expect.stringMatching(/longer than 4,096 characters.*See /)],
  ])
  expect(length).toBeGreaterThan(4096)
  expect(String(warned.mock.calls)).not.toContain('xxx')
})

it('each warning names a page that exists', async () => {
  const { PAGE } = await import('../../../src/shared/misuse.js')
  for (const page of Object.values(PAGE))
    expect(existsSync(root + page.replace('express-token-endpoint/', ''))).toBe(true)
})

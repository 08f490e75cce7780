import { Validator } from '@seriousme/openapi-schema-validator'
import type { AuthDescription, TokenVerifier } from 'express-token-endpoint'
import request from 'supertest'
import { expect, test } from 'vitest'
import { clearingHouseDocument, reportingDocument } from '../../../../example-app/web/documents/openapi.js'
import { createReportingApp } from '../../../../example-app/web/reporting-app.js'
import { complaintsOf } from '../../../support/documents/lint.js'
import { makeIssuer } from '../../../support/fixtures.js'

const URL_OF_API = 'https://api.clearing.test'

const ROUTES: AuthDescription = {
  jwks: true,
  refresh: 'cookie',
  sessions: '/api/v2013/sessions',
  account: { signUp: true, deletion: true },
}

test.each([
  ['clearing-house', clearingHouseDocument(URL_OF_API, ROUTES)],
  ['reporting', reportingDocument(URL_OF_API)],
])('%s: the document is valid, and a linter has nothing to say', async (_name, document) => {
  expect(await new Validator().validate(document)).toEqual({ valid: true })
  expect(await complaintsOf(document)).toEqual([])
})

test('serves the document with the address of its API, the page and its files, with a policy', async () => {
  const app = createReportingApp({
    url: URL_OF_API,
    tokens: makeIssuer() as TokenVerifier,
    reports: { dailyTotals: async () => [] },
    checks: {},
    log: () => {},
  })
  const { body } = await request(app).get('/openapi.json').expect(200)
  expect(body).toEqual(JSON.parse(JSON.stringify(reportingDocument(URL_OF_API))))
  expect(body.servers).toEqual([{ url: URL_OF_API }])
  const page = await request(app).get('/docs').expect(200)
  expect(page.headers['content-type']).toMatch(/^text\/html/)
  const policy = page.headers['content-security-policy'] ?? ''
  expect(policy).toContain("default-src 'none';script-src 'self';style-src 'self'")
  expect(policy).not.toMatch(/unsafe|https?:/)
  await request(app).get('/docs/').expect(200, page.text)
  for (const [, path = ''] of page.text.matchAll(/(?:src|href)="(\/[^"]*)"/g)) await request(app).get(path).expect(200)
  await request(app).get('/docs/package.json').expect(404)
  const script = (encoding: string) => request(app).get('/docs/swagger-ui.js').set('Accept-Encoding', encoding)
  const [plain, zipped] = [await script('identity').expect(200), await script('gzip').expect(200)]
  expect(zipped.headers).toMatchObject({ 'content-encoding': 'gzip', vary: expect.stringContaining('Accept-Encoding') })
  expect(Number(zipped.headers['content-length'])).toBeLessThan(Number(plain.headers['content-length']) / 3)
  expect(zipped.text).toBe(plain.text)
})

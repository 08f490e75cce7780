import { createHash } from 'node:crypto'
import express from 'express'
import request from 'supertest'
import { describe, expect, test } from 'vitest'
import { allowPage } from '../../../../example-app/web/cross-origin.js'
import { pageRouter } from '../../../../example-app/web/documents/page-router.js'
import { securityHeaders } from '../../../../example-app/web/security-headers.js'
import { until } from '../../../support/concurrency.js'
import { startPageApp } from '../../page/page-app.js'
import { ALICE, FOLDER, login, NORTH, REPORT, startBoth, tempDir, tokenFrom } from '../../support.js'

const NOTHING = "default-src 'none';base-uri 'none';form-action 'none';frame-ancestors 'none'"
const policyOf = ({ headers }: Pick<Response, 'headers'>) => headers.get('Content-Security-Policy')

const importMapIn = (html: string) => /<script type="importmap">(.*?)<\/script>/s.exec(html)?.[1] ?? ''
const hashOf = (script: string) => `sha256-${createHash('sha256').update(script).digest('base64')}`

const getFrom = (reportingUrl: string | undefined, path: string) =>
  request(express().use(pageRouter({ folder: FOLDER, reportingUrl: () => reportingUrl }))).get(path)
const get = (path: string) => getFrom(undefined, path)

describe('the page', () => {
  test('has a policy that allows its own files and the two APIs only', async () => {
    const response = await getFrom('https://reports.example.com/x?a&"b"', '/').expect(200)
    expect(response.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy': `${NOTHING};script-src 'self' '${hashOf(importMapIn(response.text))}';style-src 'self';img-src 'self';connect-src 'self' https://reports.example.com;require-trusted-types-for 'script';trusted-types 'none'`,
    })
    expect(response.text).toContain('content="https://reports.example.com/x?a&amp;&quot;b&quot;"')
  })

  test('has no address of an unknown reporting API, no inline style, and no inline script but the import map', async () => {
    const { headers, text } = await get('/').expect(200)
    expect(headers['content-security-policy']).toContain(";connect-src 'self' ;")
    expect(text).toContain('name="reporting-url" content=""')
    expect(text).toContain('name="mail-box" content=""')
    const rest = text.replace(`<script type="importmap">${importMapIn(text)}</script>`, '')
    expect(rest.length).toBeLessThan(text.length)
    expect(rest).not.toMatch(/<style|\sstyle=|\son\w+=|javascript:|<script(?! type="module" src=")/)
  })

  test('says where the mailbox is, if the server has one', async () => {
    const router = pageRouter({ folder: FOLDER, reportingUrl: () => undefined, hasMailBox: true })
    const { text } = await request(express().use(router)).get('/').expect(200)
    expect(text).toContain('name="mail-box" content="mailbox"')
  })

  test('serves its files below /page, and no other files', async () => {
    for (const [file, type] of [
      ['page.css', 'text/css; charset=utf-8'],
      ['icon.svg', 'image/svg+xml'],
      ['main.js', 'text/javascript; charset=utf-8'],
    ])
      expect(await get(`/page/${file}`)).toMatchObject({ status: 200, headers: { 'content-type': type } })
    const own = ['/page', '/page/', '/page/main.ts', '/page/index.html', '/page/../config.js', '/index.html']
    const modules = [
      'index.js',
      'client.d.ts',
      'client.cjs',
      'chunks/server.cjs',
      'chunks/%2e%2e/client.js',
      'chunks/..%2fclient.js',
    ]
    const others = [...modules, 'packages/on-first-use.cjs', 'client', ''].map((name) => `/page/package/${name}`)
    for (const path of [...own, ...others]) expect((await get(path)).status, path).toBe(404)
  })

  test('serves the modules of the client where the import map leads, with everything that they import', async () => {
    const { imports } = JSON.parse(importMapIn((await get('/')).text))
    expect(Object.keys(imports)).toEqual(['express-token-endpoint/client', 'uqr'])
    const loaded = new Set(Object.values(imports).map((path) => new URL(String(path), 'http://host/').pathname))
    for (const path of loaded) {
      const { text, headers } = await get(path).expect(200)
      expect(headers['content-type']).toBe('text/javascript; charset=utf-8')
      for (const [, name = ''] of text.matchAll(/^(?:import|export) .*?from ['"](.+?)['"];$/gm))
        loaded.add(new URL(name, `http://host${path}`).pathname)
    }
    expect([...loaded]).toEqual(['/page/package/client.js', '/page/qr/index.mjs'])
  })
})

describe('every response of both APIs', () => {
  test('has a policy that allows nothing', async () => {
    const { clearingHouse, reporting } = await startPageApp()
    const token = await tokenFrom(clearingHouse.url, ALICE)
    const headers = { Authorization: `Bearer ${token}` }
    const responses = await Promise.all([
      login(clearingHouse.url, ALICE),
      login(clearingHouse.url, { ...ALICE, password: 'wrong' }),
      fetch(clearingHouse.url + NORTH, { headers }),
      fetch(`${clearingHouse.url}/healthz`),
      fetch(`${clearingHouse.url}/nowhere`),
      fetch(reporting.url + REPORT, { headers }),
      fetch(reporting.url + REPORT),
    ])
    expect(responses.map(({ status }) => status)).toEqual([200, 403, 200, 200, 404, 200, 401])
    for (const response of responses) {
      expect(policyOf(response)).toBe(NOTHING)
      expect(response.headers.get('X-Content-Type-Options')).toBe('nosniff')
      expect(response.headers.get('Referrer-Policy')).toBe('no-referrer')
      expect([...response.headers.keys()].filter((name) => /powered|strict-transport/.test(name))).toEqual([])
    }
  })

  test('has Strict-Transport-Security when the base URL is https', async () => {
    const headersAt = async (baseUrl: string) =>
      (await request(express().use(securityHeaders(baseUrl))).get('/')).headers['strict-transport-security']
    expect(await headersAt('https://api.example.com')).toMatch(/^max-age=\d{8,}; includeSubDomains$/)
    expect(await headersAt('http://127.0.0.1:3000')).toBeUndefined()
  })
})

describe('CORS of the reporting API', () => {
  test.each([
    ['https://api.example.com:8443/x', 'https://api.example.com:8443', true],
    ['http://127.0.0.1:3000', 'http://localhost:3000', true],
    ['http://localhost', 'http://127.0.0.1', true],
    ['https://api.example.com', 'http://api.example.com', false],
    ['https://api.example.com', 'https://api.example.com.evil.example', false],
    ['https://api.example.com', 'http://localhost', false],
    ['http://127.0.0.1:3000', 'http://localhost', false],
  ])('with the page at %s, %s may call it: %s', async (baseUrl, origin, isAllowed) => {
    const asked = { 'Access-Control-Request-Method': 'GET', 'Access-Control-Request-Headers': 'authorization' }
    const { headers } = await request(express().use(allowPage(baseUrl)))
      .options(REPORT)
      .set({ Origin: origin, ...asked })
    expect(headers['access-control-allow-origin']).toBe(isAllowed ? origin : undefined)
    expect(headers).not.toHaveProperty('access-control-allow-credentials')
    expect(headers).toMatchObject({
      'access-control-allow-methods': 'GET',
      'access-control-allow-headers': 'Authorization',
      'access-control-expose-headers': 'Retry-After,WWW-Authenticate',
    })
  })

  test('a preflight needs no token; the call needs a token, and the page can read the 401', async () => {
    const { clearingHouse, reporting } = await startPageApp()
    const headers = { Origin: clearingHouse.url, 'Access-Control-Request-Method': 'GET' }
    expect(await fetch(reporting.url + REPORT, { method: 'OPTIONS', headers })).toMatchObject({ status: 204 })
    const refused = await fetch(reporting.url + REPORT, { headers: { Origin: clearingHouse.url } })
    expect(refused.status).toBe(401)
    expect(refused.headers.get('Access-Control-Allow-Origin')).toBe(clearingHouse.url)
    expect(refused.headers.get('Vary')).toBe('Origin')
  })
})

describe('address of the reporting API in the page', () => {
  const urlInPage = async (url: string) =>
    /name="reporting-url" content="(.*?)"/.exec(await (await fetch(url)).text())?.[1]

  test('npm start passes the address of the reporting API', async () => {
    const { url, reporting, output } = await startBoth({ DATA_DIR: await tempDir() })
    expect(output()).toContain(`\nSign in with a browser: ${url}/\n`)
    await until(async () => expect(await urlInPage(`${url}/`)).toBe(reporting))
    expect(policyOf(await fetch(url))).toContain(`connect-src 'self' ${reporting};`)
  })

  test('REPORTING_URL and BASE_URL replace the addresses behind a proxy', async () => {
    const settings = { BASE_URL: 'http://localhost:8080/x', REPORTING_URL: 'https://reports.example.com' }
    const { url, output } = await startBoth({ DATA_DIR: await tempDir(), ...settings })
    expect(output()).toContain('\nSign in with a browser: http://localhost:8080/x/\n')
    expect(await urlInPage(url)).toBe(settings.REPORTING_URL)
  })
})

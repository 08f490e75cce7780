import express from 'express'
import request from 'supertest'
import { describe, expect, test } from 'vitest'
import { allowPage } from '../../../../example-app/web/cross-origin.js'
import { pageRouter } from '../../../../example-app/web/documents/page-router.js'
import { securityHeaders } from '../../../../example-app/web/security-headers.js'
import { NO_REDIS, startRedis } from '../../../support/services/redis.js'
import { startPageApp } from '../../page/page-app.js'
import { ALICE, FOLDER, login, NORTH, REPORT, start, startBoth, tempDir, tokenFrom } from '../../support.js'

const NOTHING = "default-src 'none';base-uri 'none';form-action 'none';frame-ancestors 'none'"
const policyOf = ({ headers }: Pick<Response, 'headers'>) => headers.get('Content-Security-Policy')

describe('the page', () => {
  const pageFor = (reportingUrl?: string) =>
    request(express().use(pageRouter({ folder: FOLDER, reportingUrl: () => reportingUrl })))

  test('may do nothing but load its own files, and call the two APIs that it is told of', async () => {
    const answer = await pageFor('https://reports.example.com/x?a&"b"').get('/').expect(200)
    expect(answer.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy': `${NOTHING};script-src 'self';style-src 'self';img-src 'self';connect-src 'self' https://reports.example.com;require-trusted-types-for 'script';trusted-types 'none'`,
    })
    expect(answer.text).toContain('content="https://reports.example.com/x?a&amp;&quot;b&quot;"')
  })

  test('is told of no reporting API where none is known', async () => {
    const answer = await pageFor().get('/').expect(200)
    expect(answer.headers['content-security-policy']).toContain(";connect-src 'self' ;")
    expect(answer.text).toContain('name="reporting-url" content=""')
  })

  test('has no script and no style in its text', async () => {
    const { text } = await pageFor().get('/')
    expect(text).not.toMatch(/<style|\sstyle=|\son\w+=|javascript:|<script(?! type="module" src=")/)
  })

  test('has its files below /page, and nothing else is there', async () => {
    for (const [file, type] of [
      ['page.css', 'text/css; charset=utf-8'],
      ['icon.svg', 'image/svg+xml'],
      ['main.js', 'text/javascript; charset=utf-8'],
    ]) {
      await pageFor()
        .get(`/page/${file}`)
        .expect(200)
        .expect('Content-Type', type ?? '')
    }
    for (const path of ['/page', '/page/', '/page/main.ts', '/page/index.html', '/page/../config.js', '/index.html']) {
      await pageFor().get(path).expect(404)
    }
  })
})

describe('every answer of both APIs', () => {
  test('tells browsers to do nothing with it', async () => {
    const { clearingHouse, reporting } = await startPageApp()
    const token = await tokenFrom(clearingHouse.url, ALICE)
    const headers = { Authorization: `Bearer ${token}` }
    const answers = await Promise.all([
      login(clearingHouse.url, ALICE),
      login(clearingHouse.url, { ...ALICE, password: 'wrong' }),
      fetch(clearingHouse.url + NORTH, { headers }),
      fetch(`${clearingHouse.url}/healthz`),
      fetch(`${clearingHouse.url}/nowhere`),
      fetch(reporting.url + REPORT, { headers }),
      fetch(reporting.url + REPORT),
    ])
    expect(answers.map(({ status }) => status)).toEqual([200, 403, 200, 200, 404, 200, 401])
    for (const answer of answers) {
      expect(policyOf(answer)).toBe(NOTHING)
      expect(answer.headers.get('X-Content-Type-Options')).toBe('nosniff')
      expect(answer.headers.get('Referrer-Policy')).toBe('no-referrer')
      expect([...answer.headers.keys()].filter((name) => /powered|strict-transport/.test(name))).toEqual([])
    }
  })

  test('and to stay with https where the environment is on https', async () => {
    const headersAt = async (baseUrl: string) =>
      (await request(express().use(securityHeaders(baseUrl))).get('/')).headers['strict-transport-security']
    expect(await headersAt('https://api.example.com')).toMatch(/^max-age=\d{8,}; includeSubDomains$/)
    expect(await headersAt('http://127.0.0.1:3000')).toBeUndefined()
  })

  test('leaves the token call as it is specified', async () => {
    const { clearingHouse } = await startPageApp()
    const [good, bad] = [
      await login(clearingHouse.url, ALICE),
      await login(clearingHouse.url, { ...ALICE, password: 'x' }),
    ]
    expect(Object.keys((await good.json()) as object)).toEqual(['authenticationToken', 'expiration'])
    expect(good.headers.get('Cache-Control')).toBe('no-store')
    expect([bad.status, await bad.text(), bad.headers.get('Content-Type')]).toEqual([403, '', null])
  })
})

describe('who may call the reporting API from a browser', () => {
  const preflight = async (baseUrl: string, origin: string) => {
    const answer = await request(express().use(allowPage(baseUrl)))
      .options(REPORT)
      .set({
        Origin: origin,
        'Access-Control-Request-Method': 'GET',
        'Access-Control-Request-Headers': 'authorization',
      })
    return answer.headers
  }

  test.each([
    ['https://api.example.com/x', 'https://api.example.com'],
    ['https://api.example.com:8443', 'https://api.example.com:8443'],
    ['http://127.0.0.1:3000', 'http://127.0.0.1:3000'],
    ['http://127.0.0.1:3000', 'http://localhost:3000'],
    ['http://localhost', 'http://127.0.0.1'],
  ])('with the page at %s: %s', async (baseUrl, origin) => {
    expect(await preflight(baseUrl, origin)).toMatchObject({
      'access-control-allow-origin': origin,
      'access-control-allow-methods': 'GET',
      'access-control-allow-headers': 'Authorization',
      'access-control-expose-headers': 'Retry-After,WWW-Authenticate',
    })
  })

  test.each([
    ['https://api.example.com', 'https://example.com'],
    ['https://api.example.com', 'http://api.example.com'],
    ['https://api.example.com', 'https://api.example.com.evil.example'],
    ['https://api.example.com', 'http://localhost'],
    ['https://api.example.com', 'null'],
    ['http://127.0.0.1:3000', 'http://127.0.0.1:3001'],
    ['http://127.0.0.1:3000', 'http://localhost'],
  ])('with the page at %s: not %s', async (baseUrl, origin) => {
    const headers = await preflight(baseUrl, origin)
    expect(headers).not.toHaveProperty('access-control-allow-origin')
    expect(headers).not.toHaveProperty('access-control-allow-credentials')
  })

  test('a preflight has no token, and passes; the call itself needs one, and its refusal can be read', async () => {
    const { clearingHouse, reporting } = await startPageApp()
    const headers = { Origin: clearingHouse.url, 'Access-Control-Request-Method': 'GET' }
    expect(await fetch(reporting.url + REPORT, { method: 'OPTIONS', headers })).toMatchObject({ status: 204 })
    const refused = await fetch(reporting.url + REPORT, { headers: { Origin: clearingHouse.url } })
    expect(refused.status).toBe(401)
    expect(refused.headers.get('Access-Control-Allow-Origin')).toBe(clearingHouse.url)
    expect(refused.headers.get('Vary')).toBe('Origin')
  })
})

describe('where the page finds the reporting API', () => {
  const toldAt = async (url: string) =>
    /name="reporting-url" content="(.*?)"/.exec(await (await fetch(url)).text())?.[1]

  test('npm start tells it', async () => {
    const { url, reporting, output } = await startBoth({ DATA_DIR: await tempDir() })
    expect(output()).toContain(`\nTo sign in with a browser: ${url}/\n`)
    await expect.poll(() => toldAt(`${url}/`)).toBe(reporting)
    expect(policyOf(await fetch(url))).toContain(`connect-src 'self' ${reporting};`)
  })

  test('the clearing-house API alone has none to tell of', async () => {
    const { url, output } = await start({ DATA_DIR: await tempDir() })
    expect(output()).toContain(`\nTo sign in with a browser: ${url}/\n`)
    expect(await toldAt(url)).toBe('')
  })

  test('REPORTING_URL and BASE_URL, where both are behind something else', async () => {
    const settings = { BASE_URL: 'http://localhost:8080/x', REPORTING_URL: 'https://reports.example.com' }
    const { url, output } = await startBoth({ DATA_DIR: await tempDir(), ...settings })
    expect(output()).toContain('\nTo sign in with a browser: http://localhost:8080/x/\n')
    expect(await toldAt(url)).toBe(settings.REPORTING_URL)
  })

  test.skipIf(NO_REDIS)('processes that take the place of others know it too', async () => {
    const env = { DATA_DIR: await tempDir(), REDIS_URL: (await startRedis()).url, WORKERS: '2' }
    const { url, reporting, kill, printed } = await startBoth(env)
    await expect.poll(() => toldAt(url)).toBe(reporting)
    kill('SIGUSR2')
    await printed('Restarted.')
    const told = await Promise.all(Array.from({ length: 8 }, () => toldAt(url)))
    expect(told).toEqual(Array(8).fill(reporting))
  })
})

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import codegenie from '@codegenie/serverless-express'
import vendia from '@vendia/serverless-express'
import type { Auth } from 'express-token-endpoint'
import serverlessHttp from 'serverless-http'
import request from 'supertest'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { newKeyPair } from '../../../../src/tokens/algorithms/new-key-pair.js'
import { transpile } from '../../../support/documents/compiler.js'
import { get, type Names, signIn, startExamples } from '../../../support/documents/examples.js'
import { readPage } from '../../../support/documents/pages.js'
import { root } from '../../../support/documents/repository.js'
import { issueNow, makeIssuer } from '../../../support/fixtures.js'
import { TOKEN_PATH } from '../../../support/http.js'
import { freePort } from '../../../support/services/servers/free-port.mjs'

const { run, fileOf, folder } = startExamples(import.meta.url)

const { privateKey } = newKeyPair('ec', { namedCurve: 'P-256' })
const ofKey = () => issueNow(makeIssuer({ keys: { alg: 'ES256', privateKey } }), { accountId: 'acc-1' })

describe('the page on keys', () => {
  it('key-from-env: reads a PEM with real line ends, and one on a single line', async () => {
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string
    for (const [again, text] of Object.entries({ lines: pem, line: pem.trim().replaceAll('\n', '\\n') })) {
      process.env['TOKEN_KEY'] = text
      const { auth } = await run('key-from-env', again)
      expect(await auth.tokens.verify(ofKey().token)).toMatchObject({ accountId: 'acc-1' })
    }
  })
})

describe('the page on other hosts', () => {
  it('passport: signs in, and guards with the scope', async () => {
    const { app, tokens } = await run('passport')
    const { body } = await signIn(app, '/login').expect(200)
    expect(Object.keys(body)).toEqual(['authenticationToken', 'expiration'])
    await get(app, '/statements', body.authenticationToken).expect(200, { account: 'acc-1' })
    await get(app, '/statements', issueNow(tokens, { accountId: 'acc-1' }).token).expect(403)
    const wrong = { email: 'alice@example.com', password: 'wrong' }
    await request(app).post('/login').send(wrong).expect(403, 'Forbidden')
    const tooLong = await request(app)
      .post('/login')
      .send({ ...wrong, padding: 'x'.repeat(11_000) })
      .expect(413)
    expect(tooLong.body).toMatchObject({ code: 'body_too_large' })
  })
})

describe('the page on proxies', () => {
  it('has the nginx configuration that the tests of the example app run, for one API and with TLS', () => {
    const directives = (text = '') => text.replace(/#.*/g, '').match(/\S.*\S|\S/g)
    const page = readPage('docs/guides/proxies-and-cors.md').blocks.find(({ language }) => language === 'nginx')?.code
    const tested = readFileSync(`${root}example-app/deploy/nginx.conf`, 'utf8').replaceAll('clearing_house', 'api')
    const [upstream, server] = tested.match(/^(upstream api|server) \{[\s\S]*?^\}/gm) ?? []
    const withoutTls = directives(
      page?.replace('listen 443 ssl;', 'listen 8080;').replace(/^ *(server_name|ssl_).*\n/gm, ''),
    )
    expect(withoutTls).toEqual(directives(`${upstream}\n${server}`))
    expect(withoutTls).toContain('location / {')
  })
})

describe('the page on serverless platforms', () => {
  type Handler = (event: object, context: object) => Promise<{ statusCode: number; body: string }>

  /** Calls a handler with an event of API Gateway. The gateway saw 203.0.113.1, and added it to the header. */
  function call(handler: Handler, method: string, path: string, headers: Record<string, string>, body?: object) {
    const requestContext = { http: { method, path, sourceIp: '203.0.113.1' }, stage: '$default' }
    const forwarded = [headers['x-forwarded-for'], '203.0.113.1'].filter(Boolean).join(', ')
    const event = { version: '2.0', rawPath: path, rawQueryString: '', requestContext }
    const sent = { ...headers, 'x-forwarded-for': forwarded }
    return handler({ ...event, headers: sent, body: body && JSON.stringify(body) }, {})
  }

  it('serverless-lambda: signs in, guards, and counts failed logins by the address that the gateway saw', async () => {
    const { handler } = (await import(/* @vite-ignore */ fileOf('serverless-lambda'))) as { handler: Handler }
    const logIn = (password: string, forged: string) => {
      const headers = { 'content-type': 'application/json', 'x-forwarded-for': forged }
      return call(handler, 'POST', TOKEN_PATH, headers, { email: 'alice@example.com', password })
    }
    const { authenticationToken } = JSON.parse((await logIn('secret', '198.51.100.1')).body)
    const guarded = await call(handler, 'GET', '/statements', { authorization: `Bearer ${authenticationToken}` })
    expect([guarded.statusCode, guarded.body]).toEqual([200, '{"account":"acc-1"}'])
    for (let i = 0; i < 10; i++) expect((await logIn('wrong', `198.51.100.${i}`)).statusCode).toBe(403)
    expect((await logIn('wrong', '198.51.100.99')).statusCode).toBe(429)
  })

  it.each([
    ['@codegenie/serverless-express', (app) => codegenie.configure({ app: app as never }) as never],
    ['@vendia/serverless-express', (app) => vendia.configure({ app: app as never }) as never],
    ['serverless-http', (app) => serverlessHttp(app as never) as never],
  ] satisfies [string, (app: Names['app']) => Handler][])(
    'serverless-cdn: %s shows the address that the CDN saw, and that of a client past the CDN',
    async (name, adapter) => {
      vi.stubEnv('CDN_SECRET', 'of the CDN')
      onTestFinished(() => void vi.unstubAllEnvs())
      const { app } = await run('serverless-cdn', name)
      app.get('/address', (req, res) => void res.send(req.ip))
      const addressOf = async (headers: Record<string, string>) =>
        (await call(adapter(app), 'GET', '/address', { 'x-forwarded-for': '192.0.2.66, 198.51.100.7', ...headers }))
          .body
      expect(await addressOf({ 'x-cdn-secret': 'of the CDN' })).toBe('198.51.100.7')
      for (const headers of [{}, { 'x-cdn-secret': 'guessed' }]) expect(await addressOf(headers)).toBe('203.0.113.1')
      vi.stubEnv('CDN_SECRET', undefined)
      for (const headers of [{}, { 'x-cdn-secret': '' }]) expect(await addressOf(headers)).toBe('203.0.113.1')
    },
  )

  it('serverless-azure: listens on the port that the platform passes', async () => {
    const port = await freePort()
    vi.stubEnv('FUNCTIONS_CUSTOMHANDLER_PORT', String(port))
    onTestFinished(() => void vi.unstubAllEnvs())
    const { httpServer } = await run('serverless-azure')
    onTestFinished(() => void httpServer.close())
    expect(await (await fetch(`http://127.0.0.1:${port}/me`)).json()).toEqual({ account: 'acc-1' })
  })
})

describe('the page on deployment', () => {
  it('server: finishes a request in flight after SIGTERM, and exits with 0', async () => {
    const code = transpile(readFileSync(fileOf('server'), 'utf8'))
    const file = `${folder}/server.mjs`
    const port = await freePort()
    writeFileSync(file, `${code}\nhttpServer.on('listening', () => console.log('listening'))`)
    const child = spawn(process.execPath, [file], { env: { PATH: process.env['PATH'], PORT: String(port) } })
    onTestFinished(() => void child.kill('SIGKILL'))
    await once(child.stdout, 'data')
    const response = fetch(`http://127.0.0.1:${port}/slow`)
    await once(child.stdout, 'data')
    child.kill('SIGTERM')
    expect(await (await response).text()).toBe('done')
    expect(await once(child, 'exit')).toEqual([0, null])
  })

  it('maintenance: closes the sign-in, and issued tokens keep working', async () => {
    const { app, auth } = await run<{ auth: Auth }>('maintenance')
    app.get('/me', auth.guard(), (_req, res) => void res.sendStatus(204))
    const { body } = await signIn(app, '/login').expect(200)
    vi.stubEnv('MAINTENANCE', '1')
    onTestFinished(() => void vi.unstubAllEnvs())
    const closed = await signIn(app, '/login').expect(503)
    expect(closed.headers['retry-after']).toBe('600')
    await get(app, '/me', body.authenticationToken).expect(204)
  })

  it('health: stays alive and stops being ready while the database is down', async () => {
    const { app, database } = await run<{ database: { up: boolean } }>('health')
    await request(app).get('/readyz').expect(200, { ready: true, active: 0, waiting: 0 })
    database.up = false
    await request(app).get('/readyz').expect(503, { ready: false, active: 0, waiting: 0 })
    await request(app).get('/healthz').expect(200)
  })
})

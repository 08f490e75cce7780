import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import type { Server } from 'node:http'
import type { TokenIssuer, TokenVerifier } from 'express-token-endpoint'
import request from 'supertest'
import ts from 'typescript'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { newKeyPair } from '../../../../src/tokens/algorithms/new-key-pair.js'
import { get, type Host, signIn, startExamples } from '../../../support/documents/examples.js'
import { root } from '../../../support/documents/repository.js'
import { issueNow, makeIssuer } from '../../../support/fixtures.js'
import { freePort } from '../../../support/services/servers/free-port.mjs'

const { run, fileOf, folder } = startExamples(import.meta.url)

const { privateKey, publicKey } = newKeyPair('ec', { namedCurve: 'P-256' })

describe('the page on keys', () => {
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string
  const expectSameKey = async (name: string, again?: string) => {
    const { tokens } = await run<{ tokens: TokenIssuer }>(name, again)
    const issuer = makeIssuer({ keys: { alg: 'ES256', privateKey } })
    expect(await tokens.verify(issueNow(issuer, { accountId: 'acc-1' }).token)).toMatchObject({ accountId: 'acc-1' })
  }

  it('key-from-env: reads a PEM with real line ends, and one on a single line', async () => {
    process.env['TOKEN_KEY'] = pem
    await expectSameKey('key-from-env', 'lines')
    process.env['TOKEN_KEY'] = pem.trim().replaceAll('\n', '\\n')
    await expectSameKey('key-from-env', 'one line')
  })
})

describe('the page on other services', () => {
  it('remote-guard: admits a token with the scope', async () => {
    const { app, tokens } = await run<Host>('remote-guard')
    const token = (scopes: string[]) => issueNow(tokens, { accountId: 'acc-1', scopes }).token
    await get(app, '/reports', token(['reports:read'])).expect(200, { account: 'acc-1' })
    await get(app, '/reports', token([])).expect(403)
  })

  it('fixed-key: verifies with a public key, and cannot issue', async () => {
    process.env['TOKEN_PUBLIC_KEY'] = publicKey.export({ type: 'spki', format: 'pem' }) as string
    const { tokens } = await run<{ tokens: TokenVerifier }>('fixed-key')
    const { token } = issueNow(makeIssuer({ keys: { alg: 'ES256', privateKey } }), { accountId: 'acc-1' })
    expect(await tokens.verify(token)).toMatchObject({ accountId: 'acc-1' })
    expect(tokens).not.toHaveProperty('issue')
  })

  it('verify-text: returns the account, and nothing for an invalid token', async () => {
    type AccountOf = (text: string) => Promise<string | undefined>
    const { accountOf, tokens } = await run<{ accountOf: AccountOf; tokens: TokenIssuer }>('verify-text')
    expect(await accountOf(issueNow(tokens, { accountId: 'acc-1' }).token)).toBe('acc-1')
    expect(await accountOf('x.y.z')).toBeUndefined()
  })
})

describe('the page on other hosts', () => {
  it('passport: signs in, and guards with the scope', async () => {
    const { app, tokens } = await run<Host>('passport')
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

describe('the page on deployment', () => {
  it('server: finishes a request in flight after SIGTERM, and exits with 0', async () => {
    const { outputText } = ts.transpileModule(readFileSync(fileOf('server'), 'utf8'), {
      compilerOptions: { module: ts.ModuleKind.ESNext },
    })
    const file = `${folder}/server.mjs`
    const port = await freePort()
    writeFileSync(file, `${outputText}\nhttpServer.on('listening', () => console.log('listening'))`)
    const child = spawn(process.execPath, [file], { env: { PATH: process.env['PATH'], PORT: String(port) } })
    onTestFinished(() => void child.kill('SIGKILL'))
    await once(child.stdout, 'data')
    const response = fetch(`http://127.0.0.1:${port}/slow`)
    await once(child.stdout, 'data')
    child.kill('SIGTERM')
    expect(await (await response).text()).toBe('done')
    expect(await once(child, 'exit')).toEqual([0, null])
  })

  it('faster-express: has the prototypes of the app before Express sets them, and the classes of the example app', async () => {
    vi.stubEnv('PORT', '0')
    onTestFinished(() => void vi.unstubAllEnvs())
    const { app, httpServer, tokens } = await run<Host & { httpServer: Server }>('faster-express')
    onTestFinished(() => void httpServer.close())
    const early: unknown[] = []
    httpServer.prependListener('request', (req, res) => early.push(...[req, res].map(Object.getPrototypeOf)))
    const { token } = issueNow(tokens, { accountId: 'acc-1' })
    await request(httpServer).get('/').auth(token, { type: 'bearer' }).expect(200, 'admitted')
    expect(early[0]).toBe(app.request)
    expect(early[1]).toBe(app.response)
    const [page, example] = [fileOf('faster-express'), `${root}/example-app/web/message-classes.ts`].map(
      (file) => /^export const messageClasses .*?^function .*?^}$/ms.exec(readFileSync(file, 'utf8'))?.[0],
    )
    expect(page).toBeDefined()
    expect(page).toBe(example)
  })

  it('health: stays alive and stops being ready while the database is down', async () => {
    const { app, database } = await run<Host & { database: { up: boolean } }>('health')
    await request(app).get('/readyz').expect(200, { ready: true, active: 0, waiting: 0 })
    database.up = false
    await request(app).get('/readyz').expect(503, { ready: false, active: 0, waiting: 0 })
    await request(app).get('/healthz').expect(200)
  })
})

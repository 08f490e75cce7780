import express from 'express'
import {
  authErrors,
  createAuth,
  createSessions,
  type HostOptions,
  memorySessions,
  requireBearer,
  SignInRefusal,
  tokenRouter,
} from 'express-token-endpoint'
import { describe, expect, it, vi } from 'vitest'
import { expectMisuse } from '../../support/failures.js'
import { fastPasswords, ISSUER, makeIssuer, makeStore, SECRET } from '../../support/fixtures.js'
import { asJson, GOOD } from '../../support/host.js'
import { client, listen, TOKEN_PATH } from '../../support/http.js'

type Refuse = NonNullable<HostOptions['refuse']>

async function start(refuse: Refuse) {
  const tokens = makeIssuer()
  const accounts = makeStore()
  const quiet = { onEvent() {}, refuse }
  const app = express()
  const own = { passwords: fastPasswords(), limits: false as const, extraFields: ['code'] }
  const beforeSignIn = ({ fields }: { fields: Record<string, unknown> }) => {
    if (fields['code'] === 'x') throw new SignInRefusal('wrong_code', { headers: { 'X-Left': '3' } })
  }
  app.use(tokenRouter({ tokens, accounts, ...own, ...quiet, beforeSignIn }))
  app.get('/guarded', requireBearer({ tokens, ...quiet }), (_req, res) => void res.json(1))
  app.get('/custom', () => {
    throw new SignInRefusal('custom')
  })
  app.use(authErrors(quiet))
  const send = client((await listen(app)).port)
  const signIn = (body: object) => send({ ...asJson(body), method: 'POST', path: TOKEN_PATH })
  const get = (path: string) => send({ method: 'GET', path, headers: {} })
  return { signIn, get }
}

const asOwn: Refuse = (error, req) => ({ status: 422, body: { errors: { [error.code]: [req.method] } } })

describe('the option refuse', () => {
  it('gives the refusals of the router the form of the host, also the empty one, and keeps the headers', async () => {
    const { signIn } = await start(asOwn)
    const wrong = await signIn({ ...GOOD, password: 'x' })
    expect(wrong).toMatchObject({ status: 422, body: '{"errors":{"invalid_credentials":["POST"]}}' })
    expect(wrong.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
    })
    expect(await signIn({})).toMatchObject({ status: 422, body: '{"errors":{"invalid_body":["POST"]}}' })
    const code = await signIn({ ...GOOD, code: 'x' })
    expect(code).toMatchObject({ body: '{"errors":{"wrong_code":["POST"]}}', headers: { 'x-left': '3' } })
  })

  it('gives it to those of the guard, with the challenge, and of authErrors', async () => {
    const { get } = await start(asOwn)
    const guarded = await get('/guarded')
    expect(guarded).toMatchObject({ status: 422, body: '{"errors":{"missing_token":["GET"]}}' })
    expect(guarded.headers['www-authenticate']).toContain('Bearer realm=')
    expect(await get('/custom')).toMatchObject({ status: 422, body: '{"errors":{"custom":["GET"]}}' })
  })

  it('sends a text as text, and nothing as an empty body', async () => {
    const text = await start(() => ({ status: 401, body: 'Unauthorized' }))
    expect(await text.get('/guarded')).toMatchObject({
      status: 401,
      body: 'Unauthorized',
      headers: { 'content-type': 'text/plain; charset=utf-8' },
    })
    for (const body of [undefined, null]) {
      const none = await (await start(() => ({ status: 404, body }))).get('/guarded')
      expect(none).toMatchObject({ status: 404, body: '' })
      expect(none.headers).not.toHaveProperty('content-type')
    }
  })

  it.each([400, 599])('takes the status %i', async (status) => {
    const { get } = await start(() => ({ status, body: {} }))
    expect(await get('/guarded')).toMatchObject({ status })
  })

  it.each<[string, () => unknown]>([
    ['throws', () => expect.fail('bug')],
    ['returns nothing', () => undefined],
    ['returns a status of a success', () => ({ status: 200, body: {} })],
    ['returns a status that HTTP does not have', () => ({ status: 600, body: {} })],
    ['returns a body that JSON cannot hold', () => ({ status: 400, body: 1n })],
    ['returns a function as body', () => ({ status: 400, body: () => 1 })],
    ['returns a promise', async () => ({ status: 400 })],
    ['rejects', async () => expect.fail('down')],
  ])('leaves a refusal as it is when the function %s, and warns once', async (_, broken) => {
    vi.resetModules()
    const { get } = await start(broken as Refuse)
    const { status, headers } = await get('/guarded')
    expect({ status, type: headers['content-type'] }).toEqual({ status: 401, type: 'application/problem+json' })
  })

  it('is an option of createAuth, for all its parts', async () => {
    const keys = { alg: 'HS256', secret: SECRET } as const
    const auth = createAuth({
      issuer: ISSUER,
      keys,
      accounts: () => null,
      passwords: fastPasswords(),
      refuse: asOwn,
      onEvent() {},
    })
    const app = express().use(auth.router)
    app.get('/guarded', auth.guard(), (_req, res) => void res.json(1))
    app.use(auth.errors)
    const send = client((await listen(app)).port)
    expect(await send({ method: 'GET', path: '/guarded' })).toMatchObject({ status: 422 })
    expect(await send({ ...asJson(GOOD), method: 'POST', path: TOKEN_PATH })).toMatchObject({ status: 422 })
  })

  it('gives the refusals of the sessions of a user the form of the host', async () => {
    const keys = { alg: 'HS256', secret: SECRET } as const
    const sessions = createSessions(memorySessions())
    const quiet = { onEvent() {}, refuse: asOwn }
    const auth = createAuth({
      issuer: ISSUER,
      keys,
      accounts: makeStore(),
      passwords: fastPasswords(),
      sessions,
      ...quiet,
    })
    const send = client((await listen(express().use(auth.router))).port)
    const signedIn = await send({ ...asJson(GOOD), method: 'POST', path: TOKEN_PATH })
    const headers = { Authorization: `Bearer ${JSON.parse(signedIn.body).authenticationToken}` }
    const codeOf = async (method: string, path: string) => {
      const { status, body } = await send({ method, path, headers })
      return [status, body]
    }
    expect(await codeOf('DELETE', '/sessions/unknown')).toEqual([422, '{"errors":{"unknown_session":["DELETE"]}}'])
    for (const path of ['/sessions', '/sessions/unknown', '/sessions/sign-out']) {
      expect(await codeOf('PUT', path)).toEqual([422, '{"errors":{"method_not_allowed":["PUT"]}}'])
    }
    expect(await send({ method: 'PUT', path: '/sessions', headers })).toMatchObject({
      headers: { allow: 'GET, HEAD, DELETE' },
    })
  })

  it('must be a function', () => {
    expectMisuse(() => requireBearer({ tokens: makeIssuer(), refuse: 422 as never }), 'option "refuse"')
  })
})

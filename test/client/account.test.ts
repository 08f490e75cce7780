// Tests client/token-client.ts, client/api-fetch.ts and client/sign-in/token-call.ts: the routes around the password

import { createTokenClient, type TokenClient, type TokenClientOptions } from 'express-token-endpoint/client'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { ACCOUNT, accountPackage, STRONG } from '../support/account-app.js'
import { deferred, settled } from '../support/concurrency.js'
import { EXPRESS, TOKEN_PATH } from '../support/http.js'

const URL_OF_API = 'https://api.example.com/v1'
const ALICE = { email: 'alice@example.com', password: 'secret' }
const CODE = 'a-code'
const CALLS: [string, string, unknown, (api: TokenClient) => Promise<void>][] = [
  ['POST', '', { email: 'carol@example.com' }, (api) => api.signUp('carol@example.com')],
  ['POST', '/password/forgotten', { email: ALICE.email }, (api) => api.forgotten(ALICE.email)],
  ['POST', '/password/reset', { code: CODE, password: STRONG }, (api) => api.reset({ code: CODE, password: STRONG })],
]
const WITH_TOKEN: typeof CALLS = [
  [
    'POST',
    '/password',
    { password: 'secret', newPassword: STRONG },
    (api) => api.changePassword({ password: 'secret', newPassword: STRONG }),
  ],
  ['POST', '/address', { email: 'a@example.net' }, (api) => api.changeAddress('a@example.net')],
  ['POST', '/address/confirm', { code: CODE }, (api) => api.confirmAddress(CODE)],
  ['DELETE', '', undefined, (api) => api.remove()],
]
const CONFIRM = (api: TokenClient) => api.confirm({ code: CODE, password: STRONG, name: 'Carol' })

interface Sent {
  url: string
  init: RequestInit
  token: string | null
}

const granted = (token: string) =>
  Response.json({ authenticationToken: token, expiration: new Date(Date.now() + 3_600_000).toISOString() })

/** Creates a client whose account routes give these responses, in order, and then 204. */
function open(responses: (Response | Error | Promise<Response>)[] = [], options: Partial<TokenClientOptions> = {}) {
  const sent: Sent[] = []
  let issued = 0
  const api = createTokenClient({
    url: URL_OF_API,
    credentials: () => ALICE,
    fetch: (async (input: string | URL, init: RequestInit = {}) => {
      const url = String(input)
      if (url.endsWith(TOKEN_PATH)) return granted(`T${++issued}`)
      sent.push({ url, init, token: new Headers(init.headers).get('Authorization') })
      const response = responses.shift() ?? new Response(null, { status: 204 })
      if (response instanceof Error) throw response
      return response
    }) as typeof fetch,
    ...options,
  })
  onTestFinished(api.close)
  return { api, sent }
}

const problem = (status: number, members: object, headers = {}) =>
  new Response(JSON.stringify(members), {
    status,
    headers: { 'Content-Type': 'application/problem+json; charset=utf-8', ...headers },
  })

const bodyOf = ({ init }: Sent) => (init.body === undefined ? undefined : JSON.parse(String(init.body)))

describe('a call of an account route', () => {
  it.each(CALLS)('%s %s is sent without a token, and nobody signs in', async (method, path, body, call) => {
    const { api, sent } = open([new Response(null, { status: 202 })])
    expect(await call(api)).toBeUndefined()
    expect(sent.map((one) => [one.init.method, one.url, bodyOf(one), one.token])).toEqual([
      [method, `${URL_OF_API}/auth/account${path}`, body, null],
    ])
    expect(sent[0]?.init).toMatchObject({ redirect: 'manual', credentials: 'omit' })
    expect(api.state.expiresAt).toBeUndefined()
  })

  it.each(WITH_TOKEN)('%s %s is sent with the token', async (method, path, body, call) => {
    const { api, sent } = open()
    expect(await call(api)).toBeUndefined()
    expect(sent.map((one) => [one.init.method, one.url, bodyOf(one), one.token])).toEqual([
      [method, `${URL_OF_API}/auth/account${path}`, body, 'Bearer T1'],
    ])
    expect(sent[0]?.init).toMatchObject({ redirect: 'manual', credentials: 'omit' })
  })

  it('confirm() is a sign-in', async () => {
    const { api, sent } = open([granted('NEW')])
    expect(await CONFIRM(api)).toBeUndefined()
    expect(sent.map((one) => [one.url, bodyOf(one), one.token])).toEqual([
      [`${URL_OF_API}/auth/account/confirm`, { code: CODE, password: STRONG, name: 'Carol' }, null],
    ])
    expect(await api.token()).toBe('NEW')
  })

  it.each<[string, (api: TokenClient) => Promise<void>]>([
    ...[...CALLS, ...WITH_TOKEN].map(([method, path, , call]) => [`${method} ${path}`, call] as never),
    ['POST /confirm', CONFIRM],
  ])('%s rejects with the errors of the client', async (_, call) => {
    const refusal = { code: 'weak_password', detail: 'Too short.', reason: 'too_short' }
    const { api } = open([
      problem(422, refusal),
      new Response(null, { status: 403 }),
      problem(429, { code: 'too_many_attempts' }, { 'Retry-After': '60' }),
      problem(503, { code: 'unavailable' }),
      new Response(null, { status: 404 }),
      new TypeError('fetch failed', { cause: Object.assign(new Error(), { code: 'ECONNREFUSED' }) }),
    ])
    await expect(call(api)).rejects.toMatchObject({ code: 'refused', status: 422, refused: refusal })
    await expect(call(api)).rejects.toMatchObject({ code: 'refused', refused: { code: 'invalid_credentials' } })
    await expect(call(api)).rejects.toMatchObject({ code: 'try_later', status: 429, retryAt: expect.any(Date) })
    await expect(call(api)).rejects.toMatchObject({ code: 'try_later', status: 503 })
    await expect(call(api)).rejects.toMatchObject({ code: 'unexpected', status: 404 })
    await expect(call(api)).rejects.toMatchObject({
      code: 'unreachable',
      message: expect.stringContaining('ECONNREFUSED'),
    })
  })

  it.each([...CALLS, ...WITH_TOKEN])('%s %s ends after the time limit', async (_method, _path, _body, call) => {
    const { api } = open([new Promise<never>(() => {})], { timeout: 7 })
    await api.token()
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const late = expect(call(api)).rejects.toMatchObject({ code: 'unreachable' })
    await settled()
    await vi.advanceTimersByTimeAsync(7000)
    await late
  })

  it('goes below "accountPath", with the cookies in cookie mode', async () => {
    const { api, sent } = open([], { accountPath: '/me', refresh: 'cookie' })
    await api.forgotten(ALICE.email)
    expect(sent).toMatchObject([{ url: `${URL_OF_API}/me/password/forgotten`, init: { credentials: 'include' } }])
    for (const accountPath of ['me', '/me?a', '/m e', ''])
      expect(() => open([], { accountPath })).toThrow('option "accountPath" must begin with "/"')
  })

  it('gets a new token, and is sent again, after a 401', async () => {
    const { api, sent } = open([new Response(null, { status: 401 })])
    await api.changeAddress('a@example.net')
    expect(sent.map(({ token }) => token)).toEqual(['Bearer T1', 'Bearer T2'])
  })

  it('that needs a recent sign-in is refused, or asks for a step-up', async () => {
    const code = 'insufficient_user_authentication'
    const demand = () => problem(401, { code }, { 'WWW-Authenticate': `Bearer error="${code}", max_age="600"` })
    await expect(open([demand()]).api.remove()).rejects.toMatchObject({
      code: 'refused',
      status: 401,
      refused: { code },
    })
    const { api, sent } = open([demand(), granted('RECENT')], { onStepUp: () => ({ password: 'secret' }) })
    await api.remove()
    expect(sent.map(({ url, token }) => [url.slice(URL_OF_API.length), token])).toEqual([
      ['/auth/account', 'Bearer T1'],
      [`${TOKEN_PATH}/confirm`, 'Bearer T1'],
      ['/auth/account', 'Bearer RECENT'],
    ])
  })

  it('stepUp() keeps the refresh token, which its response does not have', async () => {
    const load = vi.fn(() => undefined)
    const save = vi.fn()
    const { api } = open([granted('RECENT')], { refresh: { load, save, remove: () => {} } })
    await api.signIn(async () => {
      const body: object = JSON.parse(await granted('T').text())
      return Response.json({ ...body, refreshToken: 'R' })
    })
    await api.stepUp({ password: 'secret' })
    expect(await api.token()).toBe('RECENT')
    expect(save.mock.calls).toEqual([['R']])
  })

  it('rejects with the error of "credentials"', async () => {
    const closed = new Error('the form was closed')
    const { api } = open([], { credentials: () => Promise.reject(closed) })
    await expect(api.changeAddress('a@example.net')).rejects.toBe(closed)
  })

  it('rejects after close()', async () => {
    const { api } = open()
    api.close()
    for (const call of [...CALLS, ...WITH_TOKEN].map(([, , , call]) => call))
      await expect(call(api)).rejects.toMatchObject({ code: 'closed' })
  })
})

it('onStepUp returns members or a falsy value, for the compiler too', () => {
  interface Own {
    password: string
  }
  const own: Own = { password: 'secret' }
  const right: TokenClientOptions['onStepUp'][] = [() => own, async () => false, () => undefined, () => ({ otp: 1 })]
  // @ts-expect-error -- as older code consented to a sign-in
  const wrong: TokenClientOptions['onStepUp'] = () => true
  for (const onStepUp of [...right, wrong]) expect(() => open([], { onStepUp })).not.toThrow()
})

describe('remove()', () => {
  it('signs out, and not after a refusal', async () => {
    const { api } = open([problem(403, { code: 'forbidden' })])
    await expect(api.remove()).rejects.toMatchObject({ code: 'refused' })
    expect(api.state.expiresAt).toBeDefined()
    await api.remove()
    expect(api.state.expiresAt).toBeUndefined()
  })

  it('does not sign the next person out', async () => {
    const { promise, resolve } = deferred<Response>()
    const { api } = open([promise])
    const removing = api.remove()
    await settled()
    api.signOut()
    await api.token()
    resolve(new Response(null, { status: 204 }))
    await removing
    expect(api.state.expiresAt).toBeDefined()
  })
})

describe.each(EXPRESS)('an app of createAuth, on %s', async (_name, express) => {
  const { start, ACCOUNTS } = await accountPackage(express)

  /** Starts an app, and a client that keeps its refresh token. */
  async function startClient(options: Partial<TokenClientOptions> = {}) {
    const app = await start()
    const kept = { text: undefined as string | undefined }
    const api = createTokenClient({
      url: app.url,
      credentials: () => Promise.reject(new Error('nobody types')),
      refresh: {
        load: () => kept.text,
        save: (text) => {
          kept.text = text
        },
        remove: () => {
          kept.text = undefined
        },
      },
      ...options,
    })
    onTestFinished(api.close)
    return { app, api, kept }
  }

  it('is used by one client from the sign-up to the deletion', async () => {
    const { app, api, kept } = await startClient()
    const email = 'carol@example.com'
    await api.signUp(email)
    const code = await app.codeOf('sign-up', email)
    await expect(api.confirm({ code, password: 'short', name: 'Carol' })).rejects.toMatchObject({
      refused: { code: 'weak_password', reason: 'too_short' },
    })
    await api.confirm({ code, password: STRONG, name: 'Carol' })
    expect(kept.text).toBeDefined()
    expect((await api.fetch('/in')).status).toBe(200)

    const newPassword = `${STRONG}!`
    await expect(api.changePassword({ password: 'wrong', newPassword })).rejects.toMatchObject({
      refused: { code: 'invalid_credentials' },
    })
    await api.changePassword({ password: STRONG, newPassword })
    await app.signIn(email, newPassword)

    const [refreshToken, token] = [kept.text, await api.token()]
    await expect(api.stepUp({ password: STRONG })).rejects.toMatchObject({ refused: { code: 'invalid_credentials' } })
    expect(await api.token()).toBe(token)
    await api.stepUp({ password: newPassword })
    expect(await api.token()).not.toBe(token)
    expect(kept.text).toBe(refreshToken)

    await api.changeAddress('new@example.com')
    await api.confirmAddress(await app.codeOf('new-address', 'new@example.com'))
    await app.signIn('new@example.com', newPassword)
    expect((await api.fetch('/in')).status).toBe(200)

    await api.remove()
    expect(await app.accounts.findByEmail('new@example.com')).toBeUndefined()
    expect(await api.restore()).toBe(false)
  })

  it('resets a password', async () => {
    const { app, api } = await startClient()
    const { email } = ACCOUNTS.alice
    await api.forgotten(email)
    await app.settle()
    const code = await app.codeOf('password-reset', email)
    await expect(api.reset({ code: 'x', password: STRONG })).rejects.toMatchObject({
      refused: { code: 'invalid_code' },
    })
    await api.reset({ code, password: STRONG })
    await app.signIn(email, STRONG)
  })
})

it('the default of "accountPath" is that of the server', () => expect(ACCOUNT).toBe('/auth/account'))

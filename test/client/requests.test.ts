// Tests client/{api-fetch,challenge,discard,runtime,send,token-client-error}.ts

import { getEventListeners, once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { createTokenClient, type TokenClient, type TokenClientOptions } from 'express-token-endpoint/client'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { bearerError } from '../../src/client/challenge.js'
import { deferred, settled } from '../support/concurrency.js'
import { polluted } from '../support/pollution.js'

const URL_OF_API = 'https://api.example.com'
const credentials = () => ({ email: 'alice@example.com', password: 'secret' })
const grant = () => ({ authenticationToken: 'T', expiration: new Date(Date.now() + 3_600_000).toISOString() })

type Send = (url: string, init: RequestInit & { cache?: string }) => Response | Promise<Response>

/** Returns a fetch that signs in, and sends the calls of the API to `send`. */
const signInThen = (send: Send) =>
  (async (input: string | URL | Request, init: RequestInit = {}) =>
    String(input).endsWith('/token') ? Response.json(grant()) : send(String(input), init)) as typeof fetch

/** Creates a client that is signed in, and whose calls of the API go to `send`. */
function clientWith(send: Send, options: Partial<TokenClientOptions> = {}) {
  return createTokenClient({
    url: URL_OF_API,
    credentials,
    fetch: signInThen(send),
    ...options,
  })
}

describe('the error code of a WWW-Authenticate header', () => {
  it.each([
    ['Bearer error="invalid_token"', 'invalid_token'],
    ['bearer realm="a, b", ERROR = invalid_token', 'invalid_token'],
    ['Bearer realm="x" error="invalid_token"', 'invalid_token'],
    ['Negotiate YII=, Bearer realm="x", error="invalid_token"', 'invalid_token'],
    ['Basic realm="Bearer error=\\"no\\"", Bearer error="invalid\\_token"', 'invalid_token'],
    ['Bearer realm="x", Bearer error="invalid_token"', 'invalid_token'],
    ['Bearer error_description="error=invalid_token"', undefined],
    ['Bearer realm="error=invalid_token', undefined],
    ['DPoP error="invalid_token"', undefined],
    ['Bearer realm="x", DPoP error="use_dpop_nonce"', undefined],
    ['Basic realm="x"', undefined],
    ['Bearer', undefined],
    ['', undefined],
    ['error="invalid_token"', undefined],
  ])('of %s', (header, expected) => {
    expect(bearerError(header)).toBe(expected)
  })

  it('is not found after 8 kB', () => {
    const codeAfter = (length: number) => bearerError(`Bearer a="${'b'.repeat(length)}", error="invalid_token"`)
    expect([codeAfter(8000), codeAfter(8192)]).toEqual(['invalid_token', undefined])
  })
})

it('a fetch of the app gets no settings as "this", because they include the credentials', async () => {
  const seen: unknown[] = []
  const api = createTokenClient({
    url: URL_OF_API,
    credentials(this: unknown) {
      seen.push(this)
      return credentials()
    },
    async fetch(this: unknown) {
      seen.push(this)
      return Response.json(grant())
    },
  })
  await api.fetch('/x')
  expect(seen).toEqual([undefined, undefined, undefined])
})

describe('in a browser', () => {
  function inBrowser() {
    vi.stubGlobal('location', { origin: 'https://app.example.com' })
    onTestFinished(() => void vi.unstubAllGlobals())
  }

  const request = (cache: string) => {
    const made = new Request(`${URL_OF_API}/x`, { cache } as RequestInit)
    return Object.defineProperty(made, 'toString', { value: () => `${URL_OF_API}/x` })
  }
  it.each<[string | undefined, string, string | Request, object?]>([
    ['no-store', 'no settings', '/x', {}],
    ['no-store', 'no cache', '/x', { cache: undefined }],
    ['default', 'the default cache', '/x', { cache: 'default' }],
    ['reload', 'a reload', '/x', { cache: 'reload' }],
    ['no-store', 'a Request', request('default')],
    [undefined, 'a Request that reloads', request('reload')],
  ])('the cache is %s with %s', async (expected, _, input, init) => {
    inBrowser()
    const sent: unknown[] = []
    const api = clientWith((_, { cache, redirect }) => {
      sent.push(cache, redirect)
      return new Response()
    })
    await api.fetch(input, init as RequestInit)
    expect(sent).toEqual([expected, undefined])
  })

  it('a 401 is judged by the origin that sent it', async () => {
    inBrowser()
    const tokens: (string | null)[] = []
    const api = clientWith((_, { headers }) => {
      tokens.push(new Headers(headers).get('Authorization'))
      const response = new Response('', { status: 401 })
      return Object.defineProperty(response, 'url', { value: 'https://login.example.net/' })
    })
    expect((await api.fetch('/x')).status).toBe(401)
    expect(tokens).toEqual(['Bearer T'])
  })
})

describe('a step-up', () => {
  const challengeOf = (age: number) => `Bearer error="insufficient_user_authentication", max_age="${age}"`
  const demand = (age = 300) => new Response('why', { status: 401, headers: { 'WWW-Authenticate': challengeOf(age) } })

  const GIVEN = { password: 'secret', otp: '123456' }

  /** Creates an API that demands a step-up of the first token. Returns the client and the requests that the server received. */
  function stepUpWith(
    onStepUp: TokenClientOptions['onStepUp'],
    respond: (path: string) => unknown = () => demand(),
    options: Partial<TokenClientOptions> & { refusals?: Response[] } = {},
  ) {
    const tokens: string[] = []
    const stepUps: unknown[] = []
    const { refusals = [], ...others } = options
    let issued = 0
    const api = createTokenClient({
      url: URL_OF_API,
      credentials,
      onStepUp,
      fetch: (async (input: string | URL, init: RequestInit) => {
        const token = new Headers(init.headers).get('Authorization')?.slice(7) ?? ''
        const granted = () => Response.json({ ...grant(), authenticationToken: `T${++issued}` })
        if (String(input).endsWith('/token')) return granted()
        if (String(input).endsWith('/token/confirm')) {
          stepUps.push([init.method, token, JSON.parse(String(init.body))])
          return refusals.shift() ?? granted()
        }
        tokens.push(token)
        return token === 'T1' ? respond(new URL(input).pathname) : new Response('done')
      }) as typeof fetch,
      ...others,
    })
    return { api, tokens, stepUps }
  }

  it('sends what the owner gives with the held token, and repeats the call with the new one', async () => {
    const { api, tokens, stepUps } = stepUpWith(() => GIVEN)
    expect(await (await api.fetch('/x')).text()).toBe('done')
    expect(stepUps).toEqual([['POST', 'T1', GIVEN]])
    expect(tokens).toEqual(['T1', 'T2'])
    expect(await api.token()).toBe('T2')
  })

  const wrongCode = () =>
    new Response('{"code":"wrong_code","detail":"Try again."}', {
      status: 403,
      headers: { 'Content-Type': 'application/problem+json' },
    })
  const wrongPassword = () => new Response(null, { status: 403 })

  it('asks a person again after a refusal, with a copy of the 401 and the reason', async () => {
    const asked: unknown[] = []
    const { api, stepUps } = stepUpWith(
      async (response, { refused, signal }) => {
        asked.push([await response.text(), refused, signal.aborted])
        return GIVEN
      },
      undefined,
      { interactive: true, refusals: [wrongPassword(), wrongCode()] },
    )
    expect(await (await api.fetch('/x')).text()).toBe('done')
    expect(asked).toEqual([
      ['why', false, false],
      ['why', { code: 'invalid_credentials' }, false],
      ['why', { code: 'wrong_code', detail: 'Try again.' }, false],
    ])
    expect(stepUps).toHaveLength(3)
  })

  it.each([
    [true, 5],
    [false, 1],
  ])('with interactive: %s asks at most %i times for one 401', async (interactive, times) => {
    const onStepUp = vi.fn(() => GIVEN)
    const refusals = Array.from({ length: 6 }, wrongPassword)
    const { api, stepUps } = stepUpWith(onStepUp, undefined, { interactive, refusals })
    expect(await (await api.fetch('/x')).text()).toBe('why')
    expect(stepUps).toHaveLength(times)
    expect(api.state.error).toMatchObject({ code: 'refused', status: 403 })
  })

  it('does not ask a person again after another failure', async () => {
    const { api, stepUps } = stepUpWith(() => GIVEN, undefined, {
      interactive: true,
      refusals: [new Response(null, { status: 429, headers: { 'Retry-After': '60' } })],
    })
    expect((await api.fetch('/x')).status).toBe(401)
    expect(stepUps).toHaveLength(1)
    expect(api.state.error).toMatchObject({ code: 'try_later', status: 429, retryAt: expect.any(Date) })
  })

  it('of older code, which returns true, is an error that says what to return', async () => {
    const { api, stepUps } = stepUpWith((() => true) as never)
    expect((await api.fetch('/x')).status).toBe(401)
    expect(stepUps).toEqual([])
    expect(String(api.state.error)).toContain('"onStepUp" must return { password }')
  })

  it('of stepUp() replaces the token, and keeps it after a refusal', async () => {
    const { api, stepUps } = stepUpWith(undefined, undefined, { refusals: [wrongPassword()] })
    const refused = { code: 'refused', status: 403, refused: { code: 'invalid_credentials' } }
    await expect(api.stepUp({ password: 'wrong' })).rejects.toMatchObject(refused)
    expect(await api.token()).toBe('T1')
    expect(await api.stepUp({ password: 'secret' })).toBeUndefined()
    expect(await api.token()).toBe('T2')
    expect(stepUps).toEqual([
      ['POST', 'T1', { password: 'wrong' }],
      ['POST', 'T1', { password: 'secret' }],
    ])
  })

  it('of stepUp() that ends after the sign-out gives the next person no token', async () => {
    const { promise: arrived, resolve: arrive } = deferred<void>()
    const api = clientWith(async (url) => {
      if (!url.endsWith('/confirm')) return new Response()
      await arrived
      return Response.json({ ...grant(), authenticationToken: 'LATE' })
    })
    await api.token()
    const stepUp = expect(api.stepUp({ password: 'secret' })).rejects.toMatchObject({ code: 'signed_out' })
    await settled()
    api.signOut()
    arrive()
    await stepUp
    expect(api.state.expiresAt).toBeUndefined()
    expect(await api.token()).toBe('T')
  })

  it('asks nobody for a call before the sign-out', async () => {
    const onStepUp = vi.fn(() => GIVEN)
    const { api } = stepUpWith(onStepUp, () => {
      api.signOut()
      return demand()
    })
    expect((await api.fetch('/x')).status).toBe(401)
    expect(onStepUp).not.toHaveBeenCalled()
  })

  it.each([
    ['at once', () => GIVEN],
    ['later', () => settled().then(() => GIVEN)],
  ])(
    'asks once for five calls, also when their 401 comes after the step-up, when the owner consents %s',
    async (_, consent) => {
      const { promise: late, resolve: send } = deferred<void>()
      const onStepUp = vi.fn(consent)
      const { api, tokens } = stepUpWith(onStepUp, (path) => {
        // Five calls whose responses come in one turn of the event loop, but not in one microtask.
        let response: Promise<unknown> = path === '/late' ? late : Promise.resolve()
        for (let turns = Number(path.slice(1)) || 0; turns > 0; turns--) response = response.then(() => {})
        return response.then(() => demand())
      })
      const calls = ['/0', '/3', '/6', '/9', '/late'].map((path) => api.fetch(path))
      await Promise.all(calls.slice(0, -1))
      send()
      for (const call of calls) expect(await (await call).text()).toBe('done')
      expect(onStepUp).toHaveBeenCalledOnce()
      expect(tokens.sort()).toEqual([...Array(5).fill('T1'), ...Array(5).fill('T2')])
    },
  )

  it('asks for each demand', async () => {
    const onStepUp = vi.fn(() => settled().then(() => GIVEN))
    const { api } = stepUpWith(onStepUp, (path) => demand(Number(path.slice(1))))
    for (const response of await Promise.all(['/1', '/2', '/1', '/2'].map((path) => api.fetch(path))))
      expect(response.status).toBe(200)
    expect(onStepUp).toHaveBeenCalledTimes(2)
  })

  it.each<[string, TokenClientOptions['onStepUp'], unknown?]>([
    ['declines', () => false],
    ['reads the response', async (response) => (await response.text()) === '' && GIVEN],
    ['cancels the response', async (response) => !!(await response.body?.cancel()) && GIVEN],
    ['keeps the response locked', (response) => !response.body?.getReader() && GIVEN],
    ['throws', () => Promise.reject(new Error('a fault of the app')), new Error('a fault of the app')],
    ['throws at once', () => expect.fail('a fault of the app'), expect.any(Error)],
    [
      'reads the response and throws',
      async (response) => Promise.reject(new Error(await response.text())),
      new Error('why'),
    ],
  ])(
    'leaves each caller a readable 401 when the owner %s, and asks again for the next call',
    async (_, owner, error) => {
      const onStepUp = vi.fn(owner)
      const { api, tokens } = stepUpWith(onStepUp)
      for (const times of [1, 2]) {
        for (const response of await Promise.all([api.fetch('/x'), api.fetch('/y')]))
          expect([response.status, await response.text().catch(String)]).toEqual([401, 'why'])
        expect(onStepUp).toHaveBeenCalledTimes(times)
      }
      expect(tokens).toEqual(Array(4).fill('T1'))
      expect(api.state.error).toEqual(error)
    },
  )

  it('asks again after a step-up that failed', async () => {
    const onStepUp = vi.fn(() => GIVEN)
    const { api } = stepUpWith(onStepUp, undefined, { refusals: [wrongPassword()] })
    expect((await api.fetch('/x')).status).toBe(401)
    expect((await api.fetch('/x')).status).toBe(200)
    expect(onStepUp).toHaveBeenCalledTimes(2)
  })

  it('asks the next person again, and lets a caller leave without an effect on the others', async () => {
    const consents: ((consent: false) => void)[] = []
    const onStepUp = vi.fn(() => new Promise<false>((resolve) => consents.push(resolve)))
    const api = clientWith(() => demand(), { onStepUp })
    const first = api.fetch('/x')
    await settled()
    api.signOut()
    expect((await first).status).toBe(401)
    const aborter = new AbortController()
    const leaves = expect(api.fetch('/x', { signal: aborter.signal })).rejects.toThrow('aborted')
    await settled()
    aborter.abort()
    await leaves
    const patient = api.fetch('/x')
    await settled()
    expect(onStepUp).toHaveBeenCalledTimes(2)
    consents[1]?.(false)
    expect(await (await patient).text()).toBe('why')
  })

  it('tells the owner the URL, and frees the connection before the request is repeated', async () => {
    const urls: string[] = []
    const { promise: freed, resolve: free } = deferred<void>()
    const { api } = stepUpWith(
      ({ url }) => !!urls.push(url) && GIVEN,
      () => {
        const end = new TransformStream({ flush: () => free() })
        const response = new Response(new Blob(['why']).stream().pipeThrough(end), demand())
        return Object.defineProperty(response, 'url', { value: `${URL_OF_API}/x` })
      },
    )
    expect((await api.fetch('/x')).status).toBe(200)
    await freed
    expect(urls).toEqual([`${URL_OF_API}/x`])
  })

  it('asks nobody for a response whose body does not arrive within the time limit', async () => {
    const onStepUp = vi.fn(() => GIVEN)
    const { api } = stepUpWith(onStepUp, () => new Response(new ReadableStream(), demand()))
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const call = api.fetch('/x')
    await settled()
    vi.advanceTimersByTime(10_000)
    expect((await call).status).toBe(401)
    expect(onStepUp).not.toHaveBeenCalled()
    expect(api.state.error).toMatchObject({ code: 'unreachable' })
  })
})

describe('the second argument is read as the fetch of Node reads it', () => {
  const HEADERS = { 'X-App': 'a', 'Content-Type': 'text/x' }
  /** Has its members on its prototype, and reads them in a private field. */
  class Settings {
    #body = 'a=2'
    get method() {
      return 'PATCH'
    }
    get body() {
      return this.#body
    }
  }
  const withMembers = (target: object, members: object) => Object.assign(target, members)
  const aborted = (url: string) => new Request(url, { signal: AbortSignal.abort() })
  const withBody = (url: string) => new Request(url, { method: 'PUT', body: 'a=1', headers: HEADERS })
  const cases: [string, unknown, ((url: string) => Request)?][] = [
    ['null', null],
    ['null, for a Request with a body', null, withBody],
    ['undefined, for a Request with a body', undefined, withBody],
    ['text', 'POST'],
    ['a number', 5],
    ['an array', []],
    ['a function', withMembers(() => {}, { method: 'DELETE' })],
    ['an object with inherited members', Object.create({ method: 'POST', body: 'a=2' })],
    ['an object with inherited and own members', withMembers(Object.create({ method: 'PUT' }), { body: 'a=2' })],
    ['an object without a prototype', withMembers(Object.create(null), { method: 'POST' })],
    ['an instance', new Settings()],
    ['an instance, for a Request with a body', new Settings(), withBody],
    ['a Request, for a Request with a body', new Request('http://localhost', { method: 'DELETE' }), withBody],
    ['signal: null, for a Request that was aborted', { signal: null }, aborted],
    ['signal: undefined, for a Request that was aborted', { signal: undefined }, aborted],
    ['another signal, for a Request that was aborted', { signal: new AbortController().signal }, aborted],
    ['a signal that is none', { signal: {} }],
    ['headers: null', { headers: null }],
    ['headers: undefined, for a Request with headers', { headers: undefined }, withBody],
    ['no headers, for a Request with headers', { headers: {} }, withBody],
    ['method: undefined, for a Request with a method', { method: undefined }, withBody],
    ['a method in small letters', { method: 'post' }],
    ['body: null, for a Request with a body', { body: null }, withBody],
    ['another body, for a Request with a body', { body: 'b' }, withBody],
    ['GET, for a Request with a body', { method: 'GET' }, withBody],
    ['a stream without duplex', { method: 'POST', body: new Blob(['a']).stream() }],
    ['redirect: null', { redirect: null }],
    ['an unknown redirect', { redirect: 'never' }],
    ['redirect: undefined, for a Request', { redirect: undefined }, (url) => new Request(url, { redirect: 'error' })],
    [
      'nothing, for a Request with a referrer',
      undefined,
      (url) => new Request(url, { referrer: url, referrerPolicy: 'unsafe-url' }),
    ],
  ]

  it.each(cases)('%s', async (_, init, make) => {
    const seen: unknown[] = []
    const server = createServer(async (req, res) => {
      const { 'x-app': app, 'content-type': type, referer } = req.headers
      seen.push([req.method, app, type, referer?.replace(/^.*\d/, ''), await text(req)])
      res.end()
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/x`
    const send = async (input: string | URL | Request, init?: RequestInit) =>
      String(input).endsWith('/token') ? Response.json(grant()) : fetch(input, init)
    const api = createTokenClient({ url, credentials, fetch: send as typeof fetch })
    const results: unknown[] = []
    for (const call of [fetch, api.fetch]) {
      const result = await call(make?.(url) ?? url, init as RequestInit).then(
        ({ status }) => status,
        ({ name }) => name,
      )
      results.push([result, seen.splice(0)])
    }
    expect(results[1]).toEqual(results[0])
  })

  it('at once, so that a later change and a second try do not matter', async () => {
    const sent: unknown[] = []
    const api = clientWith((_, { method, headers }) => {
      sent.push([method, new Headers(headers).get('X-App')])
      return new Response('', { status: sent.length === 1 ? 401 : 200 })
    })
    const headers = new Headers(HEADERS)
    const init = { method: 'PUT', headers: headers.entries() as unknown as Headers }
    const call = api.fetch('/x', init)
    headers.set('X-App', 'b')
    init.method = 'DELETE'
    expect((await call).status).toBe(200)
    expect(sent).toEqual([
      ['PUT', 'a'],
      ['PUT', 'a'],
    ])
  })

  it('without the members that another package added to all objects', async () => {
    const sent: unknown[] = []
    const api = clientWith((_, { method, credentials }) => {
      sent.push([method, credentials])
      return new Response()
    })
    await polluted({ method: 'DELETE', credentials: 'include', signal: AbortSignal.abort() }, () => api.fetch('/x', {}))
    expect(sent).toEqual([[undefined, undefined]])
  })
})

describe('redirects outside of browsers', () => {
  /** Starts a server that redirects as a path says: `/302/next`. Notes what else it receives. */
  async function startServer() {
    const seen: unknown[] = []
    const server = createServer(async (req: IncomingMessage, res) => {
      const { method, url = '', headers } = req
      const body = await text(req)
      const [, status, target] = /^\/(30\d)\/(.*)$/.exec(url) ?? []
      if (status) {
        res.writeHead(Number(status), { Location: decodeURIComponent(target ?? '') }).end()
        return
      }
      const { authorization, cookie } = headers
      const ofBody = [headers['content-type'], headers['content-length'], headers['content-language']]
      seen.push({ method, url, authorization, cookie, ofBody, body })
      res.end('{}')
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen }
  }

  /** A fetch that sends everything to the target of a redirect that it follows, as old versions of workerd do. */
  const careless: Send = async (url, init) => {
    const response = await fetch(url, { ...init, redirect: 'manual' })
    const location = response.headers.get('Location')
    return location && init.redirect !== 'manual' ? careless(new URL(location, url).href, init) : response
  }

  const requests: [string, (url: string) => [string | Request, RequestInit?]][] = [
    ['GET', (url) => [url, { headers: { Cookie: 'a=1', 'Content-Language': 'en' } }]],
    ['HEAD', (url) => [url, { method: 'HEAD' }]],
    ['POST', (url) => [url, { method: 'POST', body: 'a=1', headers: { Cookie: 'a=1', 'Content-Language': 'en' } }]],
    ['PUT', (url) => [url, { method: 'PUT', body: new URLSearchParams('a=1') }]],
    ['a Request', (url) => [new Request(url)]],
    ['a Request with a body', (url) => [new Request(url, { method: 'POST', body: 'a=1' })]],
    ['a Request that is changed', (url) => [new Request(url, { method: 'PUT', body: 'a=1' }), { method: 'DELETE' }]],
  ]
  const cases = [301, 302, 303, 307, 308].flatMap((status) =>
    requests.map(([name, make]) => [status, name, make] as const),
  )

  it.each(cases)('%i for %s: as the fetch of Node does', async (status, _, make) => {
    const [own, other] = [await startServer(), await startServer()]
    const received: unknown[][] = []
    for (const way of ['node', 'client']) {
      const api = createTokenClient({
        url: own.url,
        credentials,
        fetch: (async (input: string | URL | Request, init: RequestInit) =>
          String(input).endsWith('/token')
            ? Response.json(grant())
            : typeof input === 'object' && 'clone' in input
              ? fetch(input, init)
              : careless(String(input), init)) as typeof fetch,
      })
      for (const target of ['/end', `/${status}/${encodeURIComponent('/end')}`, `${other.url}/end`]) {
        const url = `${own.url}/${status}/${encodeURIComponent(target)}`
        const [input, init] = make(url)
        const headers = new Headers(init?.headers ?? (typeof input === 'string' ? undefined : input.headers))
        headers.set('Authorization', 'Bearer T')
        await (way === 'node' ? fetch(input, { ...init, headers }) : api.fetch(input, init))
      }
      received.push([own.seen.splice(0), other.seen.splice(0)])
    }
    expect(received[1]).toEqual(received[0])
    expect(received[0]).toMatchObject([
      [{ authorization: 'Bearer T' }, { authorization: 'Bearer T' }],
      [{ authorization: undefined }],
    ])
  })

  it.each([
    ['too many', '/302/'],
    ['to a file', '/302/file:%2F%2F%2Fetc%2Fpasswd'],
    ['to data', '/302/data:,x'],
  ])('%s: the call fails', async (_, path) => {
    const { url } = await startServer()
    const api = clientWith((input, init) => fetch(input.replace(URL_OF_API, url), init))
    await expect(api.fetch(path)).rejects.toThrow(TypeError)
  })

  it('a 401 after a redirect through another origin says nothing about the token, which it did not get', async () => {
    const tokens: (string | null)[] = []
    const api = clientWith((url, { headers }) => {
      tokens.push(new Headers(headers).get('Authorization'))
      const Location = { [`${URL_OF_API}/x`]: 'https://login.example.net/', 'https://login.example.net/': URL_OF_API }[
        url
      ]
      return new Response('', Location ? { status: 302, headers: { Location } } : { status: 401 })
    })
    expect((await api.fetch('/x')).status).toBe(401)
    expect(tokens).toEqual(['Bearer T', null, null])
  })

  it.each(['manual', 'error'] as const)('redirect: %j of the caller is kept', async (redirect) => {
    const { url, seen } = await startServer()
    const api = clientWith((input, init) => fetch(input.replace(URL_OF_API, url), init))
    const result = await api.fetch('/302/%2Fend', { redirect }).then(
      ({ status }) => status,
      ({ name }) => name,
    )
    expect(result).toBe(redirect === 'manual' ? 302 : 'TypeError')
    expect(seen).toEqual([])
  })
})

describe('responses with streams of Node, as node-fetch has', () => {
  /** Returns a response of node-fetch. */
  const response = (status: number, body: string) => {
    const stream = Readable.from([Buffer.from(body)])
    return { status, headers: new Headers(), body: stream, url: '', text: () => text(stream) }
  }
  const withSignIn = (status: number, body: string) => {
    const signIn = vi.fn(async () => response(status, body))
    const send = async (url: string | URL) => (String(url).endsWith('/token') ? signIn() : response(401, 'no'))
    const api = createTokenClient({ url: URL_OF_API, credentials, fetch: send as unknown as typeof fetch })
    return { api, signIn }
  }

  it('a sign-in succeeds, and an API refuses the token', async () => {
    const { api, signIn } = withSignIn(200, JSON.stringify(grant()))
    expect((await api.fetch('/x')).status).toBe(401)
    expect(signIn).toHaveBeenCalledTimes(2)
  })

  it('a wrong password is sent once', async () => {
    const { api, signIn } = withSignIn(403, '')
    for (let call = 0; call < 3; call++) await expect(api.token()).rejects.toMatchObject({ code: 'refused' })
    expect(signIn).toHaveBeenCalledOnce()
  })
})

it('20 calls with one signal cause no warning', async () => {
  const warnings: Error[] = []
  const note = (warning: Error) => warnings.push(warning)
  process.on('warning', note)
  onTestFinished(() => void process.off('warning', note))
  const { promise: opened, resolve: open } = deferred<void>()
  const api = clientWith(() => new Response(), {
    credentials: () => opened.then(credentials),
  })
  const { signal } = new AbortController()
  const calls = Array.from({ length: 20 }, () => api.token({ signal }))
  await settled()
  open()
  await Promise.all(calls)
  await settled()
  expect(warnings).toEqual([])
})

describe('a call leaves no listener on the signal of its caller', () => {
  const refusal = (status: number, challenge?: string) =>
    new Response('', { status, headers: challenge ? { 'WWW-Authenticate': challenge } : {} })
  const never = () => new Promise<never>(() => {})
  const STEP_UP = 'Bearer error="insufficient_user_authentication"'

  it.each<[string, Partial<TokenClientOptions>, ((abort: () => void, api: TokenClient) => void)?]>([
    ['gets a response', {}],
    ['gets a 401 for each token', { fetch: signInThen(() => refusal(401)) }],
    ['has refused credentials', { fetch: async () => refusal(403) }],
    ['has to try later', { fetch: async () => refusal(503), maxWait: 0 }],
    ['cannot reach the server', { fetch: () => Promise.reject(new TypeError('fetch failed')), maxWait: 0 }],
    ['has no credentials', { credentials: () => Promise.reject(new Error('the vault is down')) }],
    ['aborts while a form is open', { interactive: true, credentials: never }, (abort) => abort()],
    ['waits for a form at the sign-out', { interactive: true, credentials: never }, (_, api) => api.signOut()],
    ['aborts at a step-up', { fetch: signInThen(() => refusal(401, STEP_UP)), onStepUp: never }, (abort) => abort()],
    [
      'waits for a step-up at the sign-out',
      { fetch: signInThen(() => refusal(401, STEP_UP)), onStepUp: never },
      (_, api) => api.signOut(),
    ],
  ])('that %s', async (_, options, act) => {
    const api = createTokenClient({ url: URL_OF_API, credentials, ...options })
    const aborter = new AbortController()
    const { signal } = new AbortController()
    const both = AbortSignal.any([aborter.signal, signal])
    const calls = [api.fetch('/x', { signal: both }), api.fetch('/y', { signal: both }), api.token({ signal: both })]
    const ended = Promise.allSettled(calls)
    await settled()
    act?.(() => aborter.abort(), api)
    await ended
    await settled()
    expect(getEventListeners(both, 'abort')).toEqual([])
  })
})

type Body = NonNullable<RequestInit['body']>

describe('a request with a body whose connection breaks', () => {
  const broken = () => Promise.reject(new TypeError('fetch failed'))

  /** Creates a client whose API breaks each connection to "/upload". Returns the tokens that the API has seen. */
  async function open(options: Partial<TokenClientOptions> = {}) {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] })
    onTestFinished(() => void vi.useRealTimers())
    const seen: (string | null)[] = []
    let issued = 0
    const api = createTokenClient({
      url: 'https://api.example.com',
      credentials: () => ({ email: 'alice@example.com', password: 'secret' }),
      fetch: async (input, init) => {
        if (String(input).endsWith('/token')) {
          const expiration = new Date(Date.now() + 3_600_000).toISOString()
          return Response.json({ authenticationToken: `T${++issued}`, expiration })
        }
        seen.push(new Headers(init?.headers).get('Authorization'))
        return String(input).endsWith('/upload') ? broken() : new Response()
      },
      ...options,
    })
    onTestFinished(api.close)
    await api.token()
    return { api, seen }
  }

  const upload = (api: { fetch: typeof fetch }, body: Body | null = 'x'.repeat(9)) =>
    api.fetch('/upload', { method: body === null ? 'GET' : 'POST', body, duplex: 'half' } as RequestInit)

  it.each<[string, () => Body]>([
    ['text', () => 'text'],
    ['a stream', () => new Blob(['text']).stream()],
  ])('is an error of its own, and the next call has another token: %s', async (_, body) => {
    const { api, seen } = await open()
    vi.setSystemTime(Date.now() + 21_000)
    await expect(upload(api, body())).rejects.toMatchObject({ name: 'TokenClientError', code: 'interrupted' })
    await api.fetch('/x')
    await expect(upload(api)).rejects.toThrow('fetch failed')
    expect(seen).toEqual(['Bearer T1', 'Bearer T2', 'Bearer T2'])
  })

  it.each<[string, number, Body | null, Partial<TokenClientOptions>]>([
    ['the token is new', 20_000, 'text', {}],
    ['there is no body', 60_000, null, {}],
    ['only a person can sign in again', 60_000, 'text', { interactive: true }],
  ])('is the error of fetch when %s', async (_, age, body, options) => {
    const { api, seen } = await open(options)
    vi.setSystemTime(Date.now() + age)
    await expect(upload(api, body)).rejects.toThrow('fetch failed')
    await api.fetch('/x')
    expect(seen).toEqual(['Bearer T1', 'Bearer T1'])
  })

  it('is the reason of the signal when the caller has aborted', async () => {
    const { api } = await open()
    vi.setSystemTime(Date.now() + 60_000)
    const signal = AbortSignal.abort(new Error('left'))
    await expect(api.fetch('/upload', { method: 'POST', body: 'x', signal })).rejects.toThrow('left')
  })
})

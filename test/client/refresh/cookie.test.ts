// Tests client/sign-in/{call-queue,tabs}.ts
import { createTokenClient, type TokenClientOptions } from 'express-token-endpoint/client'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { deferred } from '../../support/concurrency.js'
import { fatalErrors } from '../../support/failures.js'
import { TOKEN_PATH } from '../faults/server.js'
import { createRefreshServer, GRACE, type Jar, LIFETIME, type RefreshServer, URL_OF_API } from './server.js'

const DAY = 86_400_000
const CREDENTIALS = { email: 'alice@example.com', password: 'secret' }
const NOTE = `express-token-endpoint ${URL_OF_API}${TOKEN_PATH}`

let server: RefreshServer
let jar: Jar
let asked: number

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] })
  vi.spyOn(Math, 'random').mockReturnValue(0.5)
  server = createRefreshServer()
  jar = {}
  asked = 0
})
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
  vi.unstubAllGlobals()
})

/** Loads the page in a tab of the browser. */
function load(options: Partial<TokenClientOptions> = {}) {
  const api = createTokenClient({
    url: URL_OF_API,
    refresh: 'cookie',
    interactive: true,
    credentials: () => {
      asked++
      return CREDENTIALS
    },
    fetch: server.fetchOf(jar),
    ...options,
  })
  onTestFinished(api.close)
  return api
}

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)

/** Replaces the storage of the page. */
function stubStorage() {
  const texts = new Map<string, string>()
  const storage = {
    getItem: (name: string) => texts.get(name) ?? null,
    setItem: (name: string, text: string) => void texts.set(name, text),
    removeItem: (name: string) => void texts.delete(name),
  }
  vi.stubGlobal('localStorage', storage)
  vi.stubGlobal('sessionStorage', storage)
  return texts
}

/** Replaces the locks of the browser. Returns the function that takes the lock for ever, as a tab that hangs does. */
function stubLocks() {
  const last = new Map<string, Promise<unknown>>()
  vi.stubGlobal('navigator', {
    locks: {
      request(name: string, { signal }: { signal: AbortSignal }, work: () => Promise<unknown>) {
        if (signal.aborted) return Promise.reject(signal.reason)
        const turn = last.get(name) ?? Promise.resolve()
        const aborted = new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
        const result = Promise.race([turn, aborted]).then(work)
        last.set(name, Promise.allSettled([turn, result]))
        return result
      },
    },
  })
  return () => last.set(NOTE, new Promise(() => {}))
}

/** Lets each random number differ from the others. */
function useRandomNumbers(): void {
  let count = 0
  vi.mocked(Math.random).mockImplementation(() => ++count / 1000)
}

describe('a page with refresh: "cookie"', () => {
  it('asks for credentials once, and then renews its token in the background before the token expires', async () => {
    const texts = stubStorage()
    const api = load()
    const first = await api.token()
    await pass(LIFETIME * 0.97)
    expect(await api.token()).toBe(first)
    await pass(0)
    expect(await api.token()).not.toBe(first)
    for (let days = 0; days < 5; days++) {
      await pass(DAY)
      await api.fetch('/statements')
    }
    expect(asked).toBe(1)
    expect(server.routes()).toEqual(['refresh', 'sign-in', ...Array(6).fill('refresh')])
    expect(texts).toEqual(new Map([[NOTE, '+0.5']]))
    for (const { route, init, body } of server.sent) {
      const [credentials, text] = { refresh: ['include', ''], 'sign-in': ['include', JSON.stringify(CREDENTIALS)] }[
        route as 'refresh'
      ] ?? [undefined, '']
      expect([init.credentials, body]).toEqual([credentials, text])
    }
  })

  it('is signed in after a reload, without a form', async () => {
    expect(await load().restore()).toBe(false)
    await load().token()
    const api = load()
    expect(await Promise.all([api.restore(), api.restore(), api.restore()])).toEqual([true, true, true])
    expect(await api.restore()).toBe(true)
    expect(api.state.expiresAt).toBe(Date.now() + LIFETIME)
    expect(asked).toBe(1)
    expect(server.routes()).toEqual(['refresh', 'refresh', 'sign-in', 'refresh'])
  })

  it('restore() says that nobody is signed in, while a form of another call waits', async () => {
    const { promise: given, resolve: give } = deferred<typeof CREDENTIALS>()
    const api = load({ credentials: () => given })
    const token = api.token()
    expect(await api.restore()).toBe(false)
    give(CREDENTIALS)
    expect(await token).toBe('T1')
    expect(await api.restore()).toBe(true)
  })

  it('a call that begins during restore() asks for credentials when there is no session', async () => {
    const api = load()
    const [restored, token] = await Promise.all([api.restore(), api.token()])
    expect([restored, token]).toEqual([false, 'T1'])
    expect(server.routes()).toEqual(['refresh', 'sign-in'])
  })

  it.each<[string, () => void, object]>([
    ['the network is down', () => server.fail('refresh', ...Array(9).fill('request lost')), { code: 'unreachable' }],
    [
      'the server is down',
      () =>
        server.fail(
          'refresh',
          ...[1, 2, 3].map(() => new Response(null, { status: 503, headers: { 'Retry-After': '20' } })),
        ),
      { code: 'try_later', status: 503 },
    ],
    [
      'there are too many requests',
      () => server.fail('refresh', new Response(null, { status: 429, headers: { 'Retry-After': '60' } })),
      { code: 'try_later', status: 429 },
    ],
    ['no response comes', () => server.fail('refresh', 'response never comes'), { code: 'unreachable' }],
    [
      'a proxy fails',
      () => server.fail('refresh', new Response('<html>', { status: 500 })),
      { code: 'unexpected', status: 500 },
    ],
    [
      'the origin is not allowed',
      () => server.fail('refresh', Response.json({ code: 'cross_site_request' }, { status: 403 })),
      { code: 'unexpected', status: 403, message: expect.stringContaining('allowedOrigins') },
    ],
    [
      'the router has no refresh',
      () => server.fail('refresh', new Response('', { status: 404 })),
      { code: 'unexpected', status: 404, message: expect.stringContaining('"refresh"') },
    ],
  ])('when %s, restore() and token() reject, nobody is asked, and the user stays signed in', async (_, fail, error) => {
    await load().token()
    for (const call of ['restore', 'token'] as const) {
      const api = load()
      fail()
      const result = api[call]().catch((failure: unknown) => failure)
      await pass(60_000)
      expect(await result).toMatchObject(error)
      server.faults.length = 0
      await pass(60_000)
      expect(await api.restore()).toBe(true)
    }
    expect(asked).toBe(1)
  })

  it('a held token is used while the refresh fails', async () => {
    const api = load()
    const first = await api.token()
    await pass(LIFETIME - 1000)
    server.fail('refresh', 'request lost', 'request lost')
    const token = api.token()
    await pass(900)
    expect(await token).toBe(first)
  })

  it('is asked again when its session is over, and not before its token expires', async () => {
    const api = load()
    const first = await api.token()
    server.sessions.clear()
    await pass(LIFETIME * 0.97)
    for (let calls = 0; calls < 5; calls++) {
      expect(await api.token()).toBe(first)
      await pass(1)
    }
    expect(server.routes()).toEqual(['refresh', 'sign-in', 'refresh'])
    await pass(LIFETIME)
    expect(await api.token()).not.toBe(first)
    expect(asked).toBe(2)
  })

  it('a step-up is neither a sign-in nor a refresh', async () => {
    const challenge = { 'WWW-Authenticate': 'Bearer error="insufficient_user_authentication"' }
    const api = load({ onStepUp: () => ({ password: 'secret' }) })
    await api.token()
    server.fail('api', new Response(null, { status: 401, headers: challenge }))
    expect((await api.fetch('/transfer')).status).toBe(200)
    expect(server.routes()).toEqual(['refresh', 'sign-in', 'step-up'])
  })

  it('a revoked token is replaced by a refresh', async () => {
    const api = load()
    await api.token()
    server.fail('api', new Response(null, { status: 401 }))
    expect((await api.fetch('/statements')).status).toBe(200)
    expect(server.routes()).toEqual(['refresh', 'sign-in', 'refresh'])
  })

  it.each([
    [true, { remember: true }],
    [false, { remember: false }],
    [undefined, {}],
    ['no', {}],
  ])('remember: %j is sent when it is a boolean', async (remember, expected) => {
    await load({ credentials: () => ({ ...CREDENTIALS, remember }) as typeof CREDENTIALS }).token()
    expect(JSON.parse(server.sent.at(-1)?.body ?? '')).toEqual({ ...CREDENTIALS, ...expected })
  })
})

describe.each([
  ['with locks', stubLocks],
  ['without locks, as in React Native', () => vi.stubGlobal('navigator', {})],
])('published failures of refresh tokens, %s', (_, stub) => {
  beforeEach(stub)

  it('three tabs that refresh at once stay signed in', async () => {
    const tabs = [load(), load(), load()]
    await tabs[0]?.token()
    for (let times = 0; times < 5; times++) {
      await Promise.all(tabs.map((tab) => tab.token()))
      await pass(LIFETIME)
    }
    expect([asked, server.sessions.size]).toEqual([1, 1])
  })

  it('a response that is lost on its way signs nobody out', async () => {
    const api = load()
    await api.token()
    for (let times = 0; times < 3; times++) {
      await pass(LIFETIME)
      server.fail('refresh', 'response lost')
      const token = api.token()
      await pass(1000)
      await token
    }
    expect([asked, server.sessions.size]).toEqual([1, 1])
  })

  it('a tab that was forgiven once is not signed out later', async () => {
    const api = load()
    await api.token()
    for (let times = 0; times < 3; times++) {
      await pass(LIFETIME)
      // The request and its repetition.
      server.fail('refresh', 'response lost', 'response lost')
      const failure = api.token().catch((error: unknown) => error)
      await pass(1000)
      expect(await failure).toMatchObject({ code: 'unreachable' })
      await pass(DAY)
      await api.token()
    }
    expect([asked, server.sessions.size]).toEqual([1, 1])
  })

  it('a response that never comes signs nobody out', async () => {
    const api = load()
    await api.token()
    await pass(LIFETIME)
    server.fail('refresh', 'response never comes')
    const failure = api.token().catch((error: unknown) => error)
    await pass(GRACE + 1000)
    expect(await failure).toMatchObject({ code: 'unreachable' })
    await pass(DAY)
    await api.token()
    expect(asked).toBe(1)
  })

  it('a server that restarts in between signs nobody out', async () => {
    const api = load()
    await api.token()
    await pass(LIFETIME)
    server.fail('refresh', 'response lost', new Response('', { status: 502 }), new Response('', { status: 503 }))
    const token = api.token().catch(() => api.token())
    await pass(30_000)
    await token
    expect([asked, server.sessions.size]).toEqual([1, 1])
  })
})

it('the refusal of one tab does not delete the session of another tab', async () => {
  stubLocks()
  const api = load()
  await api.token()
  server.sessions.clear()
  await pass(LIFETIME)
  const { promise: arrived, resolve: arrive } = deferred<void>()
  server.after = ({ route }) => route === 'refresh' && arrived
  const restored = api.restore()
  const other = load({ credentials: () => CREDENTIALS }).token()
  await pass(10)
  arrive()
  expect(await restored).toBe(false)
  await other
  expect(jar.refreshToken).toBeDefined()
  expect(await load().restore()).toBe(true)
})

describe('the lock of the tabs', () => {
  const slowly = () => new Promise<void>((resolve) => setTimeout(resolve, 2000))

  it.each([7, 20])('%i tabs refresh one after the other, and none is unreachable', async (count) => {
    stubLocks()
    await load().token()
    const tabs = Array.from({ length: count }, () => load())
    server.before = slowly
    const restored = Promise.all(tabs.map((tab) => tab.restore()))
    await pass(count * 2000)
    expect(new Set(await restored)).toEqual(new Set([true]))
    expect(asked).toBe(1)
  })

  it('a tab that hangs with the lock delays the others by 30 s at most', async () => {
    const hang = stubLocks()
    const api = load()
    await api.token()
    await pass(LIFETIME)
    hang()
    const token = api.token()
    await pass(29_000)
    expect(server.routes()).toEqual(['refresh', 'sign-in'])
    await pass(1000)
    expect(await token).toBe('T2')
  })

  it('a sign-out ends the wait', async () => {
    const hang = stubLocks()
    hang()
    const api = load()
    const restored = api.restore()
    const token = api.token().catch((error: unknown) => error)
    void api.signOut()
    expect(await token).toMatchObject({ code: 'signed_out' })
    await pass(90_000)
    expect(await restored).toBe(false)
  })

  it.each<[string, (error: DOMException) => unknown]>([
    ['rejects', (error) => Promise.reject(error)],
    [
      'throws',
      (error) => {
        throw error
      },
    ],
  ])('is not used in the frame of a sandbox, where the browser %s', async (_, refuse) => {
    const request = () => refuse(new DOMException('The request was denied.', 'SecurityError'))
    vi.stubGlobal('navigator', { locks: { request } })
    const api = load()
    expect([await api.restore(), await api.token()]).toEqual([false, 'T1'])
    await api.signOut()
    expect(await load().restore()).toBe(false)
  })
})

describe('the sign-in of another tab', () => {
  const BOB = { email: 'bob@example.com', password: 'secret' }
  let page: EventTarget
  let texts: Map<string, string>

  beforeEach(() => {
    texts = stubStorage()
    stubLocks()
    useRandomNumbers()
    page = new EventTarget()
    vi.stubGlobal('addEventListener', page.addEventListener.bind(page))
  })

  const told = (newValue: string | undefined) =>
    page.dispatchEvent(Object.assign(new Event('storage'), { key: NOTE, newValue }))
  const apiCalls = () => server.sent.filter(({ route }) => route === 'api').length

  /** Ann is signed in in a tab, her session ends, and Bob signs in in a second tab. */
  async function openTabs() {
    const ann = load()
    await ann.token()
    server.sessions.clear()
    await load().signOut()
    await pass(LIFETIME)
    const bob = load({ credentials: () => BOB })
    await bob.token()
    return { ann, bob }
  }

  it.each([true, false])(
    'what Ann has typed is never sent as Bob, until her tab restores the session of Bob (event: %j)',
    async (isTold) => {
      const { ann } = await openTabs()
      if (isTold) told(texts.get(NOTE))
      for (const call of [() => ann.fetch('/orders', { method: 'POST' }), () => ann.token(), () => ann.headers()])
        await expect(call()).rejects.toMatchObject({ code: 'signed_out', name: 'AbortError' })
      expect(apiCalls()).toBe(0)
      expect(await ann.restore()).toBe(true)
      expect((await ann.fetch('/orders')).status).toBe(200)
      expect(asked).toBe(1)
    },
  )

  it('calls of restore() at the same time share one session, also while the server is down', async () => {
    const { ann } = await openTabs()
    server.fail('refresh', new Response('', { status: 500 }))
    const both = () => Promise.allSettled([ann.restore(), ann.restore(), ann.restore()])
    const failed = await both()
    expect(failed.map(({ status }) => status)).toEqual(Array(3).fill('rejected'))
    await pass(60_000)
    const before = server.routes().length
    const results = await both()
    expect(results).toEqual(Array(3).fill({ status: 'fulfilled', value: true }))
    expect(server.routes().length - before).toBe(1)
    await ann.token()
  })

  it('no call gets a token while the page restores', async () => {
    const { ann } = await openTabs()
    const { promise: arrived, resolve: arrive } = deferred<void>()
    server.after = ({ route }) => route === 'refresh' && arrived
    const restored = ann.restore()
    await pass(10)
    await expect(ann.token()).rejects.toMatchObject({ code: 'signed_out' })
    arrive()
    expect(await restored).toBe(true)
    await ann.token()
  })

  it('a refresh that crosses the sign-in gives no token to calls from before it', async () => {
    const ann = load()
    await ann.token()
    await pass(LIFETIME)
    const { promise: arrived, resolve: arrive } = deferred<void>()
    server.after = ({ route }) => route === 'refresh' && arrived
    const call = ann.fetch('/orders').catch((error: unknown) => error)
    await pass(10)
    const signedIn = load({ credentials: () => BOB }).signIn(() =>
      server.fetchOf(jar)(`${URL_OF_API}${TOKEN_PATH}`, { method: 'POST', body: JSON.stringify(BOB) }),
    )
    // The lock does not hold where a tab hangs.
    texts.set(NOTE, '+elsewhere')
    arrive()
    expect(await call).toMatchObject({ code: 'signed_out' })
    await signedIn
    expect(apiCalls()).toBe(0)
  })

  it('a form of this tab closes, and its calls are not sent', async () => {
    const { promise: shown, resolve: show } = deferred<AbortSignal>()
    const ann = load({
      credentials: ({ signal }) => {
        show(signal)
        return new Promise(() => {})
      },
    })
    const call = ann.fetch('/orders').catch((error: unknown) => error)
    const signal = await shown
    await load({ credentials: () => BOB }).token()
    told(texts.get(NOTE))
    expect(signal.aborted).toBe(true)
    expect(await call).toMatchObject({ code: 'signed_out' })
    expect(apiCalls()).toBe(0)
    expect(await ann.restore()).toBe(true)
  })

  it('restore() of a page that loads meanwhile finds the new session', async () => {
    const { promise: arrived, resolve: arrive } = deferred<void>()
    server.after = ({ route }) => route === 'sign-in' && arrived
    const bob = load({ credentials: () => BOB }).token()
    await pass(10)
    const ann = load()
    const restored = ann.restore()
    arrive()
    await bob
    told(texts.get(NOTE))
    expect(await restored).toBe(true)
    await ann.token()
  })

  it('a sign-in in this tab, and a sign-out in the other one, are no sign-in of another tab', async () => {
    const { ann, bob } = await openTabs()
    await ann.signIn(() =>
      server.fetchOf(jar)(`${URL_OF_API}${TOKEN_PATH}`, { method: 'POST', body: JSON.stringify(BOB) }),
    )
    await ann.token()
    await bob.signOut()
    told('0.9')
    expect(await ann.token()).toBeTypeOf('string')
    expect(asked).toBe(2)
  })

  it('a page from the back/forward cache restores first', async () => {
    const { ann } = await openTabs()
    page.dispatchEvent(Object.assign(new Event('pageshow'), { persisted: true }))
    await expect(ann.token()).rejects.toMatchObject({ code: 'signed_out' })
    expect(await ann.restore()).toBe(true)
  })

  it('begins when the body of its response is lost, because the browser has the cookie', async () => {
    const ann = load()
    await ann.token()
    await pass(LIFETIME)
    const lost = new Response(new ReadableStream({ start: (controller) => controller.error(new TypeError('lost')) }))
    server.fail('sign-in', lost, lost.clone())
    const bob = load({ credentials: () => BOB })
    server.sessions.clear()
    const failed = bob.token().catch((error: unknown) => error)
    await pass(60_000)
    expect(await failed).toMatchObject({ code: 'unreachable' })
    await expect(ann.token()).rejects.toMatchObject({ code: 'signed_out' })
  })

  it('does not begin with a wrong password', async () => {
    const ann = load()
    await ann.token()
    const before = texts.get(NOTE)
    await expect(
      load({ interactive: false, credentials: () => ({ ...BOB, password: 'wrong' }) }).signIn(
        async () => new Response('', { status: 403 }),
      ),
    ).rejects.toMatchObject({ code: 'refused' })
    expect(texts.get(NOTE)).toBe(before)
    await ann.token()
  })
})

describe('signIn() with refresh: "cookie"', () => {
  const passkey = (signal?: AbortSignal) =>
    server.fetchOf(jar)(`${URL_OF_API}${TOKEN_PATH}`, {
      method: 'POST',
      body: JSON.stringify(CREDENTIALS),
      signal: signal ?? null,
    })

  beforeEach(stubLocks)

  it('removes the note of a sign-out without the network, so that restore() does not end the new session', async () => {
    const texts = stubStorage()
    const api = load()
    await api.token()
    server.fail('sign-out', ...Array(9).fill('request lost'))
    const failed = api.signOut().catch((error: unknown) => error)
    await pass(60_000)
    expect(await failed).toMatchObject({ code: 'unreachable' })
    expect(texts).toEqual(new Map([[NOTE, '0.5']]))
    server.faults.length = 0
    await api.signIn(passkey)
    expect(texts).toEqual(new Map([[NOTE, '+0.5']]))
    await pass(60_000)
    expect([await api.restore(), await load().restore()]).toEqual([true, true])
    expect(jar.refreshToken).toBeDefined()
    expect(asked).toBe(1)
  })

  it('ends a running refresh, whose late 403 does not delete the new cookie', async () => {
    const api = load()
    await api.token()
    server.sessions.clear()
    await pass(LIFETIME)
    const { promise: arrived, resolve: arrive } = deferred<void>()
    server.after = ({ route }) => route === 'refresh' && arrived
    const token = api.token()
    await pass(10)
    await api.signIn(passkey)
    arrive()
    expect(await token).toBe('T2')
    await pass(10)
    expect(jar.refreshToken).toBeDefined()
    expect([asked, await load().restore()]).toEqual([1, true])
  })

  it('waits for the refresh of another tab', async () => {
    await load().token()
    server.sessions.clear()
    const { promise: arrived, resolve: arrive } = deferred<void>()
    server.after = ({ route }) => route === 'refresh' && arrived
    const restored = load().restore()
    await pass(10)
    const signedIn = load().signIn(passkey)
    await pass(10)
    expect(server.routes()).toEqual(['refresh', 'sign-in', 'refresh'])
    arrive()
    await signedIn
    expect([await restored, await load().restore()]).toEqual([false, true])
  })

  it('after a sign-in that failed, the refresh that it ended begins again, and nobody is asked', async () => {
    const api = load()
    await api.token()
    await pass(LIFETIME)
    const { promise: arrived, resolve: arrive } = deferred<void>()
    server.before = ({ route }) => route === 'refresh' && arrived
    const token = api.token()
    await pass(10)
    const failed = api.signIn(() => new Response('', { status: 403 })).catch((error: unknown) => error)
    await pass(10)
    arrive()
    expect(await failed).toMatchObject({ code: 'refused' })
    expect(await token).toBe('T2')
    expect(asked).toBe(1)
  })
})

it('a visitor without a cookie is not signed in, and the server sends no error status', async () => {
  const fetch = server.fetchOf(jar)
  const statuses: number[] = []
  const api = load({
    fetch: async (input, init) => {
      const response = await fetch(input, init)
      statuses.push(response.status)
      return response
    },
  })
  expect(await api.restore()).toBe(false)
  expect(statuses).toEqual([204])
  expect(api.state).toEqual({ expiresAt: undefined, error: undefined })
  jar.refreshToken = 'S9.0'
  expect(await load().restore()).toBe(false)
  await api.token()
  expect(asked).toBe(1)
})

describe('signOut() with refresh: "cookie"', () => {
  it('ends the session at the server, and deletes the token at once', async () => {
    const api = load()
    await api.token()
    const ended = api.signOut()
    expect(api.state.expiresAt).toBeUndefined()
    await ended
    expect([server.sessions.size, jar.refreshToken]).toEqual([0, undefined])
    const { init, body } = server.sent.at(-1) ?? {}
    expect([init?.credentials, init?.keepalive, body]).toEqual(['include', true, ''])
    expect(await load().restore()).toBe(false)
    await api.signOut()
    api.close()
    await api.signOut()
  })

  it('sends the credentials of the next user after it, so that it ends no new session', async () => {
    const api = load()
    await api.token()
    const { promise: arrived, resolve: arrive } = deferred<void>()
    server.after = ({ route }) => route === 'sign-out' && arrived
    void api.signOut()
    const token = api.token()
    await pass(100)
    expect(server.routes()).toEqual(['refresh', 'sign-in', 'sign-out'])
    arrive()
    await token
    expect([server.sessions.size, await load().restore()]).toEqual([1, true])
  })

  it('without the network, rejects, and no reload brings the user back', async () => {
    const texts = stubStorage()
    const api = load()
    await api.token()
    server.fail('sign-out', ...Array(4).fill('request lost'))
    const failure = api.signOut().catch((error: unknown) => error)
    await pass(60_000)
    expect(await failure).toMatchObject({ code: 'unreachable' })
    expect(texts).toEqual(new Map([[NOTE, '0.5']]))
    expect(server.sessions.size).toBe(1)
    expect(await api.restore()).toBe(false)
    await pass(60_000)
    expect(await load().restore()).toBe(false)
    await pass(60_000)
    expect([server.sessions.size, texts.size]).toEqual([0, 0])
    expect(asked).toBe(1)
  })

  it('a call without await that fails is not an unhandled rejection', async () => {
    const api = load()
    await api.token()
    server.fail('sign-out', ...Array(9).fill('request lost'))
    const failures = fatalErrors()
    void api.signOut()
    await pass(60_000)
    await new Promise(setImmediate)
    expect(failures).toEqual([])
  })

  it('is tried again while the server is down, but not after the next sign-in', async () => {
    stubStorage()
    const api = load()
    await api.token()
    const busy = () => new Response('', { status: 503, headers: { 'Retry-After': '5' } })
    server.fail('sign-out', busy(), busy())
    const ended = api.signOut()
    await pass(7000)
    const token = load().token()
    await pass(20_000)
    await Promise.all([ended, token])
    expect(await load().restore()).toBe(true)
  })

  it('signs out the other tabs', async () => {
    const page = new EventTarget()
    vi.stubGlobal('addEventListener', page.addEventListener.bind(page))
    stubStorage()
    const api = load()
    await api.token()
    page.dispatchEvent(Object.assign(new Event('storage'), { key: 'theme', newValue: 'dark' }))
    page.dispatchEvent(Object.assign(new Event('storage'), { key: NOTE, newValue: null }))
    expect(api.state.expiresAt).toBeDefined()
    page.dispatchEvent(Object.assign(new Event('storage'), { key: NOTE, newValue: '1' }))
    expect(api.state.expiresAt).toBeUndefined()
  })
})

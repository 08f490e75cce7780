// Tests client/{abort,client-options,token-client}.ts

import {
  type CredentialsRequest,
  createTokenClient,
  type TokenClientOptions,
  type TokenClientState,
} from 'express-token-endpoint/client'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { deferred } from '../support/concurrency.js'
import { expectMisuse } from '../support/failures.js'
import { outcomeOf, polluted } from '../support/pollution.js'

const URL_OF_API = 'https://api.example.com/v1/'
const credentials = () => ({ email: 'alice@example.com', password: 'secret' })
const make = (options: object) => createTokenClient({ url: URL_OF_API, credentials, ...options } as TokenClientOptions)

/** The response to a sign-in. */
const granted = (authenticationToken = 'T') =>
  Response.json({ authenticationToken, expiration: new Date(Date.now() + 3_600_000).toISOString() })

/** Creates a client whose sign-in succeeds and whose calls only record their URL. */
function recorder(options: object = {}) {
  const urls: string[] = []
  const api = make({
    fetch: async (input: string | URL, init: RequestInit) => {
      urls.push(String(input))
      return init.method === 'POST' ? granted() : new Response()
    },
    ...options,
  })
  return { api, urls }
}

/** Creates a client whose sign-ins return T1, T2, and so on. */
function numbered() {
  let issued = 0
  return recorder({ fetch: async () => granted(`T${++issued}`) }).api
}

describe('options', () => {
  it.each([
    ['no URL', { url: undefined }, 'url'],
    ['a URL without a scheme', { url: 'api.example.com' }, 'url'],
    ['plain http', { url: 'http://user:hunter2@api.example.com' }, 'url'],
    ['another scheme', { url: 'ftp://api.example.com' }, 'url'],
    ['a URL with a user', { url: 'https://user:hunter2@api.example.com' }, 'url'],
    ['a URL with a query', { url: 'https://api.example.com/?a=1' }, 'url'],
    ['a URL with an empty fragment', { url: 'https://api.example.com/#' }, 'url'],
    ['plain http among the origins', { origins: ['http://api.example.com'] }, 'origins'],
    ['origins that are text', { origins: 'https://api.example.com' }, 'origins'],
    ['origins that are no array', { origins: {} }, 'origins'],
    ['origins that are a set', { origins: new Set(['https://reports.example.com']) }, 'origins'],
    ['credentials that are no function', { credentials: { email: 'a', password: 'hunter2' } }, 'credentials'],
    ['a path without a slash', { path: 'token' }, 'path'],
    ['a path with a query', { path: '/token?a=1' }, 'path'],
    ['a path that begins another URL', { path: '/\\evil.example' }, 'path'],
    ['a time limit in text', { timeout: '10s' }, 'timeout'],
    ['a time limit in milliseconds', { timeout: 10_000 }, 'timeout'],
    ['no time limit', { timeout: 0 }, 'timeout'],
    ['a negative wait', { maxWait: -1 }, 'maxWait'],
    ['a wait that is not a number', { maxWait: Number.NaN }, 'maxWait'],
    ['an answer in place of a switch', { interactive: 'yes' }, 'interactive'],
    ['onStepUp that is no function', { onStepUp: true }, 'onStepUp'],
    ['refresh that is true', { refresh: true }, 'refresh'],
    ['refresh that is false', { refresh: false }, 'refresh'],
    ['the mode of a router', { refresh: 'body' }, 'refresh'],
    ['a storage without remove()', { refresh: { load() {}, save() {} } }, 'refresh'],
    ['a mistyped option', { orgins: [] }, 'orgins'],
    ['a prototype in JSON', JSON.parse('{"__proto__":1}'), '__proto__'],
  ])('%s is an error that shows no password', (_, options, named) => {
    expectMisuse(() => make(options), new RegExp(named), ['hunter2'])
  })

  it.each([
    ['baseURL', 'Did you mean "url"?'],
    ['base', 'Did you mean "url"?'],
    ['tokenUrl', 'Did you mean "url"?'],
    ['tabs', 'unknown option "tabs"'],
  ])('the unknown option %s is an error: %s', (name, fix) => {
    expectMisuse(() => make({ url: undefined, [name]: URL_OF_API }), fix)
  })

  it('restore() without refresh is an error', async () => {
    await expect(make({}).restore()).rejects.toThrow('restore() needs "refresh"')
  })

  it('a 404 of the token endpoint names the options that may be wrong', async () => {
    const failure = make({ fetch: async () => new Response(null, { status: 404 }) }).token()
    await expect(failure).rejects.toMatchObject({ code: 'unexpected', status: 404 })
    await expect(failure).rejects.toThrow('No token: unexpected (404). Check "path"')
  })

  it('undefined is the same as no option, and this machine may get the password over http', () => {
    for (const url of ['http://localhost:3000', 'http://127.0.0.1', 'http://[::1]:8080', 'https://api.example.com'])
      expect(() => make({ url, path: undefined, timeout: undefined, onStepUp: undefined })).not.toThrow()
  })

  it('a polluted prototype changes nothing', async () => {
    const foreign = { origins: ['https://evil.example'], interactive: true, path: '/evil', maxWait: 0 }
    const { urls, failure } = await polluted(foreign, async () => {
      const { api, urls } = recorder()
      const { error } = await outcomeOf(() => api.fetch('https://evil.example/'))
      await api.token()
      return { urls, failure: error }
    })
    expect(failure).toBeInstanceOf(TypeError)
    expect(urls).toEqual(['https://api.example.com/v1/api/v2013/authentication/token'])
  })

  it('the path of the token endpoint is below the base URL', async () => {
    const { api, urls } = recorder({ path: '/sign-in' })
    await api.token()
    expect(urls).toEqual(['https://api.example.com/v1/sign-in'])
  })
})

describe('addresses', () => {
  it.each([
    ['/statements', 'https://api.example.com/v1/statements'],
    ['statements', 'https://api.example.com/v1/statements'],
    ['?page=2', 'https://api.example.com/v1/?page=2'],
    ['https://api.example.com/other', 'https://api.example.com/other'],
    [new URL('https://api.example.com/url'), 'https://api.example.com/url'],
  ])('%s', async (input, expected) => {
    const { api, urls } = recorder()
    await api.fetch(input)
    expect(urls.at(-1)).toBe(expected)
  })

  it('no text leads to another origin', async () => {
    const { api, urls } = recorder()
    const pieces = fc.constantFrom(
      '\t',
      '\n',
      ' ',
      ...'/ \\ // https: http:// evil.example @ : .. %2f ? # é'.split(' '),
    )
    const text = fc.array(fc.oneof(pieces, fc.string()), { maxLength: 8 }).map((parts) => parts.join(''))
    await fc.assert(
      fc.asyncProperty(text, async (input) => {
        await api.fetch(input).catch(() => {})
        expect(new URL(urls.at(-1) ?? 'https://api.example.com').origin).toBe('https://api.example.com')
      }),
      { seed: 19, numRuns: 2000 },
    )
  })

  it.each([
    '//evil.example/x',
    '/\\evil.example',
    '\\\\evil.example',
    ' https://evil.example',
    'ht\ntps://evil.example',
    'https:evil.example',
    '/relative',
    '',
  ])('headers() refuses %j, which another client may send elsewhere', async (url) => {
    const { api, urls } = recorder()
    await expect(api.headers({ url })).rejects.toThrow(TypeError)
    expect(urls).toEqual([])
  })

  it('a Request as the second argument keeps its method and its body', async () => {
    const sent: unknown[] = []
    const { api } = recorder({
      fetch: async (input: Request | string, init: RequestInit) => {
        if (!(input instanceof Request)) return granted()
        sent.push([input.method, await input.text(), new Headers(init.headers).get('Authorization')])
        return new Response()
      },
    })
    const like = new Request('https://api.example.com/v1/old', { method: 'POST', body: 'a=1' })
    await api.fetch('/statements', like as RequestInit)
    expect(sent).toEqual([['POST', 'a=1', 'Bearer T']])
  })

  it('headers() refuses a URL of another origin, before it signs in', async () => {
    const { api, urls } = recorder({ origins: ['https://reports.example.com'] })
    await expect(api.headers({ url: 'https://evil.example/x' })).rejects.toThrow(TypeError)
    expect(urls).toEqual([])
    const headers = { Authorization: 'Bearer T' }
    expect([await api.headers({ url: 'https://reports.example.com/x' }), await api.headers()]).toEqual([
      headers,
      headers,
    ])
    expect((await api.fetch('https://reports.example.com/x')).ok).toBe(true)
  })
})

it.each(['signOut', 'close'] as const)('%s() aborts the signals of credentials and of the token call', async (end) => {
  for (const step of ['credentials', 'fetch'] as const) {
    const { promise: given, resolve: reached } = deferred<AbortSignal>()
    const hang = (signal: AbortSignal) => {
      reached(signal)
      return new Promise<never>(() => {})
    }
    const api = make({
      credentials: ({ signal }: CredentialsRequest) => (step === 'credentials' ? hang(signal) : credentials()),
      fetch: (_: string, init: RequestInit) => hang(init.signal as AbortSignal),
    })
    const states: TokenClientState[] = []
    api.onChange((state) => states.push(state))
    const waiting = api.token().catch((error) => error)
    const signal = await given
    expect(signal.aborted).toBe(false)
    api[end]()
    expect(signal.aborted).toBe(true)
    expect(await waiting).toMatchObject({ code: end === 'close' ? 'closed' : 'signed_out', name: 'AbortError' })
    await new Promise(setImmediate)
    // A sign-out is not a failure.
    expect(states).toEqual(Array(end === 'signOut' ? 2 : 1).fill({ expiresAt: undefined, error: undefined }))
  }
})

describe('onChange() and state', () => {
  const SIGNED_OUT = { expiresAt: undefined, error: undefined }
  const SIGNED_IN = { expiresAt: expect.any(Number), error: undefined }

  it('tells the state at first, then the error of credentials, and nothing after the listener was removed', async () => {
    let isDown = true
    const { api } = recorder({
      credentials() {
        if (isDown) throw new Error('the secret store is down')
        return credentials()
      },
    })
    const states: TokenClientState[] = []
    const stop = api.onChange((state) => states.push(state))
    await expect(api.token()).rejects.toThrow('secret store')
    isDown = false
    await api.token()
    api.signOut()
    stop()
    await Promise.resolve()
    expect(states).toEqual([
      SIGNED_OUT,
      { expiresAt: undefined, error: new Error('the secret store is down') },
      SIGNED_IN,
    ])
  })

  it('a function that listens twice is told twice, until each of them is removed', async () => {
    const { api } = recorder()
    const listener = vi.fn()
    const stops = [api.onChange(listener), api.onChange(listener)]
    await api.token()
    stops[0]?.()
    api.signOut()
    await Promise.resolve()
    expect(listener.mock.calls).toEqual(
      [SIGNED_OUT, SIGNED_OUT, SIGNED_IN, SIGNED_IN, SIGNED_OUT].map((state) => [state]),
    )
  })

  it('is the state that a listener is told, frozen, and the same object until it changes', async () => {
    const { api } = recorder()
    // The parameters of React's useSyncExternalStore.
    const [subscribe, getSnapshot] = [api.onChange, () => api.state]
    const snapshots = [getSnapshot()]
    const unsubscribe = subscribe(() => snapshots.push(getSnapshot()))
    await api.token()
    expect(snapshots).toEqual([SIGNED_OUT, SIGNED_OUT, SIGNED_IN])
    expect(snapshots[0]).toBe(snapshots[1])
    await api.token()
    expect(getSnapshot()).toBe(snapshots[2])
    expect(Object.isFrozen(getSnapshot())).toBe(true)
    unsubscribe()
    api.close()
    expect(getSnapshot()).toEqual(SIGNED_OUT)
  })
})

it('a listener may sign out at each change', async () => {
  const { api } = recorder()
  let called = 0
  api.onChange(() => {
    called++
    api.signOut()
  })
  await expect(api.token()).rejects.toMatchObject({ code: 'signed_out' })
  await new Promise(setImmediate)
  expect(called).toBe(2)
})

it.each(['token', 'fetch', 'headers'] as const)(
  '%s() in credentials is an error, because it would wait for itself',
  async (call) => {
    const { api } = recorder({
      async credentials() {
        await (call === 'fetch' ? api.fetch('/settings') : api[call]())
        return credentials()
      },
    })
    await expect(api.fetch('/x')).rejects.toThrow(/"credentials" must not call its own client/)
  },
)

it('an error of another client in credentials is not a refusal of this endpoint', async () => {
  const vault = recorder({ fetch: async () => new Response('', { status: 403 }) }).api
  let isDown = true
  const { api } = recorder({
    async credentials() {
      if (isDown) await vault.token()
      return credentials()
    },
  })
  await expect(api.token()).rejects.toMatchObject({ code: 'refused' })
  isDown = false
  expect(await api.token()).toBe('T')
})

describe('events of the page', () => {
  /** Replaces the global function that a page adds its listeners with. Returns a function that calls them. */
  function fakePage() {
    const page = new EventTarget()
    vi.stubGlobal('addEventListener', page.addEventListener.bind(page))
    onTestFinished(() => void vi.unstubAllGlobals())
    return (type: string, members: object = {}) => page.dispatchEvent(Object.assign(new Event(type), members))
  }

  it('a page that comes from the back/forward cache has no token', async () => {
    const happens = fakePage()
    const { api, urls } = recorder()
    await api.token()
    happens('pageshow', { persisted: false })
    await api.token()
    expect(urls).toHaveLength(1)
    happens('pageshow', { persisted: true })
    expect(api.state.expiresAt).toBeUndefined()
    await api.token()
    expect(urls).toHaveLength(2)
    api.close()
    happens('pageshow', { persisted: true })
    await expect(api.token()).rejects.toMatchObject({ code: 'closed' })
  })

  it.each([
    ['ends the wait after a failure of the network', () => Promise.reject(new TypeError('fetch failed')), 2],
    ['ends no wait that the server asked for', async () => new Response('', { status: 503 }), 1],
  ])('"online" %s', async (_, fail, expected) => {
    const happens = fakePage()
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] })
    // Every random delay is half of its longest time.
    vi.spyOn(Math, 'random').mockReturnValue(0.5)
    onTestFinished(() => void vi.useRealTimers().restoreAllMocks())
    let calls = 0
    const { api } = recorder({ fetch: () => (calls++ ? Promise.resolve(granted()) : fail()) })
    const waiting = api.token()
    await vi.advanceTimersByTimeAsync(0)
    expect(calls).toBe(1)
    happens('online')
    await vi.advanceTimersByTimeAsync(0)
    expect(calls).toBe(expected)
    await vi.advanceTimersByTimeAsync(1000)
    expect(await waiting).toBe('T')
  })
})

it('token() returns another token for a rejected one, once for all', async () => {
  const api = numbered()
  const rejected = await api.token()
  const calls = [api.token({ rejected }), api.token({ rejected }), api.token()]
  expect(await Promise.all(calls)).toEqual(['T2', 'T2', 'T2'])
  expect(await api.token({ rejected })).toBe('T2')
})

describe('signIn()', () => {
  const elsewhere = () => granted('Elsewhere')
  const refusal = (code: string) =>
    new Response(JSON.stringify({ code }), { status: 403, headers: { 'Content-Type': 'application/problem+json' } })

  it('replaces the token, and tells listeners', async () => {
    const api = numbered()
    await api.token()
    const states: TokenClientState[] = []
    api.onChange((state) => states.push(state))
    await api.signIn(elsewhere)
    expect(await api.token()).toBe('Elsewhere')
    expect(states.map(({ expiresAt }) => expiresAt)).toEqual([expect.any(Number), api.state.expiresAt])
    expect(await api.token({ rejected: 'Elsewhere' })).toBe('T2')
  })

  it.each<[string, () => Response, object]>([
    ['an empty 403', () => new Response('', { status: 403 }), { code: 'refused', status: 403 }],
    ['a refusal with a code', () => refusal('wrong_code'), { code: 'refused', refused: { code: 'wrong_code' } }],
    ['too many requests', () => new Response('', { status: 429 }), { code: 'try_later', status: 429 }],
    ['a redirect', () => new Response('', { status: 302 }), { code: 'unexpected', status: 302 }],
    ['other members', () => Response.json({ token: 'T', expiresAt: Date.now() + 1 }), { code: 'unexpected' }],
    ['a token with a line break', () => granted('T\r\nX: 1'), { code: 'unexpected' }],
    ['a 404', () => new Response('', { status: 404 }), { code: 'unexpected', status: 404 }],
  ])('%s is an error with a code, and the token stays', async (_, respond, error) => {
    const api = numbered()
    await api.token()
    await polluted({ authenticationToken: 'evil', expiration: '2099-01-01T00:00:00Z' }, async () => {
      await expect(api.signIn(respond)).rejects.toMatchObject(error)
    })
    expect(await api.token()).toBe('T1')
    expect(api.state.error).toBeUndefined()
  })

  it.each([
    ['rejects', () => Promise.reject(new TypeError('fetch failed'))],
    [
      'throws',
      () => {
        throw new TypeError('fetch failed')
      },
    ],
  ])('rejects with the error of a function that %s', async (_, call) => {
    await expect(numbered().signIn(call)).rejects.toThrow('fetch failed')
  })

  it('ends the signal of the function after the time limit, after a sign-out, and at the end', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] })
    onTestFinished(() => void vi.useRealTimers())
    const { api } = recorder({ timeout: 1 })
    const hang = () => {
      const { promise: called, resolve: call } = deferred<AbortSignal>()
      const result = api.signIn((signal) => {
        call(signal)
        return new Promise(() => {})
      })
      result.catch(() => {})
      return { result, called }
    }
    const late = hang()
    await late.called
    await vi.advanceTimersByTimeAsync(1000)
    await expect(late.result).rejects.toMatchObject({ code: 'unreachable' })
    for (const [end, code] of [
      ['signOut', 'signed_out'],
      ['close', 'closed'],
    ] as const) {
      const { result, called } = hang()
      const signal = await called
      api[end]()
      expect(signal.aborted).toBe(true)
      await expect(result).rejects.toMatchObject({ code })
    }
    await expect(api.signIn(elsewhere)).rejects.toMatchObject({ code: 'closed' })
    expect(api.state.expiresAt).toBeUndefined()
  })

  it('ends a form, whose calls get the token, and keeps the form after a failure', async () => {
    const { promise: asked, resolve: ask } = deferred<AbortSignal>()
    const { api, urls } = recorder({
      interactive: true,
      credentials: ({ signal }: CredentialsRequest) => new Promise(() => ask(signal)),
    })
    const calls = [api.token(), api.fetch('/x')]
    const signal = await asked
    await expect(api.signIn(() => refusal('no_passkey'))).rejects.toMatchObject({ code: 'refused' })
    expect(signal.aborted).toBe(false)
    await api.signIn(elsewhere)
    expect(signal.aborted).toBe(true)
    expect((await Promise.all(calls))[0]).toBe('Elsewhere')
    expect(urls).toEqual(['https://api.example.com/v1/x'])
    expect(api.state.error).toBeUndefined()
  })

  it('gives calls from before a sign-out nothing, and works after refused credentials', async () => {
    const { api } = recorder({ fetch: async () => new Response('', { status: 403 }) })
    await expect(api.token()).rejects.toMatchObject({ code: 'refused' })
    const early = api.token()
    api.signOut()
    await Promise.all([expect(early).rejects.toMatchObject({ code: 'signed_out' }), api.signIn(elsewhere)])
    expect(await api.token()).toBe('Elsewhere')
    expect(api.state.error).toBeUndefined()
  })
})

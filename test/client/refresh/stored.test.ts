// Tests client/sign-in/refresh-storage.ts
import { createTokenClient, type RefreshTokenStorage, type TokenClientOptions } from 'express-token-endpoint/client'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { deferred } from '../../support/concurrency.js'
import { createRefreshServer, LIFETIME, type RefreshServer, URL_OF_API } from './server.js'

const CREDENTIALS = { email: 'alice@example.com', password: 'secret' }

/** A storage whose functions are asynchronous, as Expo's SecureStore is. */
class Storage implements RefreshTokenStorage {
  text: string | null = null
  readonly calls: string[] = []
  async load() {
    await Promise.resolve()
    return this.text
  }
  async save(text: string) {
    this.calls.push(`save ${text}`)
    await Promise.resolve()
    this.text = text
  }
  async remove() {
    this.calls.push('remove')
    await Promise.resolve()
    this.text = null
  }
}

let server: RefreshServer
let storage: Storage
let asked: number

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] })
  vi.spyOn(Math, 'random').mockReturnValue(0.5)
  server = createRefreshServer()
  storage = new Storage()
  asked = 0
})
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

/** Starts the app. */
function start(options: Partial<TokenClientOptions> = {}) {
  const api = createTokenClient({
    url: URL_OF_API,
    refresh: storage,
    credentials: () => {
      asked++
      return CREDENTIALS
    },
    fetch: server.fetchOf(),
    ...options,
  })
  onTestFinished(api.close)
  return api
}

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)

describe('an app with refresh: { load, save, remove }', () => {
  it('asks for credentials once, also when it starts again', async () => {
    expect(await start().restore()).toBe(false)
    expect(server.sent).toEqual([])
    await start().token()
    for (let times = 1; times < 4; times++) {
      await pass(LIFETIME)
      const api = start()
      expect(await api.restore()).toBe(true)
      expect(storage.text).toMatch(new RegExp(`\\.${times}$`))
    }
    expect(asked).toBe(1)
    expect(storage.calls.filter((call) => call === 'remove')).toEqual([])
    expect(server.sent.map(({ init }) => init.credentials)).toEqual(Array(4).fill('omit'))
  })

  it('has saved the refresh token before a call gets the token', async () => {
    const { promise: saved, resolve: save } = deferred<void>()
    storage.save = async () => saved
    let isDone = false
    const token = start()
      .token()
      .then(() => (isDone = true))
    await pass(100)
    expect(isDone).toBe(false)
    save()
    await token
  })

  it.each([[Buffer.from('r')], [{ refreshToken: 'r' }], [7]])(
    'names a load() that returns no text: %j',
    async (loaded) => {
      const api = start({ refresh: { load: () => loaded as never, save() {}, remove() {} } })
      await expect(api.restore()).rejects.toThrow('load() must return text')
      expect(server.sent).toEqual([])
    },
  )

  it('removes the refresh token of a session that is over, and asks for credentials', async () => {
    await start().token()
    server.sessions.clear()
    expect(await start().restore()).toBe(false)
    expect(storage.text).toBe(null)
    await start().token()
    expect(asked).toBe(2)
  })

  it('asks for credentials when the session is over, also when remove() fails', async () => {
    await start().token()
    server.sessions.clear()
    storage.remove = () => Promise.reject(new Error('the device is locked'))
    expect(await start().token()).toBe('T2')
    expect([asked, storage.text?.startsWith('S3.')]).toEqual([2, true])
  })

  it('does not remove the refresh token of a new sign-in of another process', async () => {
    await start().token()
    server.sessions.clear()
    const { promise: arrived, resolve: arrive } = deferred<void>()
    server.after = ({ route }) => route === 'refresh' && arrived
    const restored = start().restore()
    await pass(1)
    await start({ refresh: { load: () => null, save: (text) => storage.save(text), remove() {} } }).token()
    arrive()
    expect(await restored).toBe(true)
    expect(storage.text).toMatch(/\.1$/)
  })

  it.each<[string, () => unknown]>([
    ['rejects', () => Promise.reject(new Error('the device is locked'))],
    [
      'throws',
      () => {
        throw new Error('the device is locked')
      },
    ],
  ])('asks nobody when load() %s', async (_, fail) => {
    await start().token()
    const { load } = storage
    storage.load = fail as typeof load
    const api = start()
    await expect(api.restore()).rejects.toThrow('the device is locked')
    await expect(api.token()).rejects.toThrow('the device is locked')
    expect(api.state.error).toMatchObject({ message: 'the device is locked' })
    storage.load = load
    expect(await api.restore()).toBe(true)
    expect([asked, storage.calls]).toEqual([1, ['save S1.0', 'save S1.1']])
  })

  it('works with a refresh token that could not be saved, and reports it in the state', async () => {
    const { save } = storage
    storage.save = () => Promise.reject(new Error('the disk is full'))
    const api = start()
    await expect(api.token()).resolves.toBeTypeOf('string')
    for (let times = 0; times < 3; times++) {
      await pass(LIFETIME)
      await expect(api.token()).resolves.toBeTypeOf('string')
      expect(api.state).toEqual({ expiresAt: Date.now() + LIFETIME, error: new Error('the disk is full') })
    }
    storage.save = save
    await pass(LIFETIME)
    await api.token()
    expect(api.state.error).toBeUndefined()
    expect(storage.text).toBe('S1.4')
    expect(asked).toBe(1)
  })

  it('a sign-in whose response has no refresh token is an error that says what to do', async () => {
    const expiration = new Date(Date.now() + LIFETIME).toISOString()
    server.fail('sign-in', Response.json({ authenticationToken: 'T', expiration }))
    await expect(start().token()).rejects.toMatchObject({
      code: 'unexpected',
      status: 200,
      message: expect.stringContaining('"refresh"'),
    })
  })

  it('sends the refresh token only to the token endpoint, and no error shows it', async () => {
    const api = start({ origins: ['https://reports.example.com'] })
    await api.token()
    await pass(LIFETIME)
    server.fail('refresh', new Response(null, { status: 302, headers: { Location: 'https://evil.example' } }))
    const failure = await api.fetch('https://reports.example.com/x').catch((error: unknown) => error)
    expect(JSON.stringify(failure) + String(failure)).not.toContain('S1.')
    await pass(60_000)
    await api.fetch('https://reports.example.com/x')
    await api.signOut()
    const told = server.sent.filter(({ init, url }) => JSON.stringify([init, url]).includes('S1.'))
    expect(told.map(({ route }) => route)).toEqual(['refresh', 'refresh', 'sign-out'])
    for (const { init } of told) expect(init.redirect).toBe('manual')
  })

  it('a service without a person signs in by itself when its session is over', async () => {
    const api = start()
    await api.token()
    server.sessions.clear()
    await pass(LIFETIME * 0.97)
    await api.token()
    await pass(0)
    expect([await api.token(), asked]).toEqual(['T2', 2])
  })
})

describe('signIn() with refresh: { load, save, remove }', () => {
  const own = (body: object = CREDENTIALS) =>
    server.fetchOf()(`${URL_OF_API}/api/v2013/authentication/token`, {
      method: 'POST',
      body: JSON.stringify(body),
      credentials: 'omit',
    })

  it('saves the refresh token of the response', async () => {
    const api = start()
    await api.signIn(() => own())
    expect(storage.text).toBe('S1.0')
    expect([await start().restore(), asked]).toEqual([true, 0])
  })

  it('ends a running refresh, which saves nothing afterwards', async () => {
    await start().token()
    const { promise: arrived, resolve: arrive } = deferred<void>()
    server.after = ({ route }) => route === 'refresh' && arrived
    // Not every fetch obeys a signal.
    const fetch = server.fetchOf()
    const api = start({ fetch: (input, init) => fetch(input, { ...init, signal: null }) })
    const token = api.token()
    await pass(10)
    await api.signIn(() => own())
    arrive()
    await token
    await pass(10)
    expect([storage.text, asked]).toEqual(['S3.0', 1])
  })

  it('a response without a refresh token is an error, and the session before it stays', async () => {
    const api = start()
    await api.token()
    const body = { authenticationToken: 'T', expiration: new Date(Date.now() + LIFETIME).toISOString() }
    await expect(api.signIn(() => Response.json(body))).rejects.toMatchObject({ code: 'unexpected' })
    expect([storage.text, await start().restore()]).toEqual(['S1.0', true])
  })
})

describe('signOut() with refresh: { load, save, remove }', () => {
  it('removes the refresh token, and ends its session at the server', async () => {
    const api = start()
    await api.token()
    await api.signOut()
    expect([storage.text, server.sessions.size]).toEqual([null, 0])
    await api.signOut()
    expect(server.routes()).toEqual(['sign-in', 'sign-out'])
    expect(await api.restore()).toBe(false)
  })

  it('without the network, removes the refresh token and rejects', async () => {
    const api = start()
    await api.token()
    server.fail('sign-out', ...Array(9).fill('request lost'))
    const failure = api.signOut().catch((error: unknown) => error)
    await pass(60_000)
    expect(await failure).toMatchObject({ code: 'unreachable' })
    expect(storage.text).toBe(null)
  })

  it('ends the session at the server also when remove() fails', async () => {
    const api = start()
    await api.token()
    storage.remove = () => Promise.reject(new Error('the device is locked'))
    await expect(api.signOut()).rejects.toThrow('the device is locked')
    expect(server.sessions.size).toBe(0)
  })

  it.each(['before', 'after'] as const)('a refresh that is under way %s the server saves nothing', async (step) => {
    const api = start()
    await api.token()
    await pass(LIFETIME)
    const { promise: arrived, resolve: arrive } = deferred<void>()
    server[step] = ({ route }) => route === 'refresh' && arrived
    // Not every fetch obeys a signal.
    const fetch = server.fetchOf()
    const deaf = start({ fetch: (input, init) => fetch(input, { ...init, signal: null }) })
    const token = deaf.token().catch((error: unknown) => error)
    await pass(10)
    const ended = deaf.signOut()
    await pass(10)
    arrive()
    await ended
    expect(await token).toMatchObject({ code: 'signed_out' })
    await pass(10)
    expect(storage.text).toBe(null)
    expect(await start().restore()).toBe(false)
  })

  it('gives the next person a session, whatever is under way', async () => {
    const api = start()
    await api.token()
    void api.signOut()
    expect(await api.token()).toBe('T2')
    await pass(100)
    expect(storage.text).not.toBe(null)
    expect(server.sessions.size).toBe(1)
  })
})

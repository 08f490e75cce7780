// Tests client/abort.ts
import { createTokenClient, type RefreshTokenStorage, type TokenClientOptions } from 'express-token-endpoint/client'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { settled } from '../support/concurrency.js'
import { createRefreshServer, type RefreshServer, URL_OF_API } from './refresh/server.js'

/** The signal of the package abort-controller, which React Native has: without `reason`, `throwIfAborted`, `timeout` and `any`. */
class BareSignal extends EventTarget {
  aborted = false
}
class BareController {
  readonly signal = new BareSignal()
  abort() {
    if (this.signal.aborted) return
    this.signal.aborted = true
    this.signal.dispatchEvent(new Event('abort'))
  }
}

/** The URL of Expo, whose `canParse` calls a class without `new`. */
class BareUrl extends URL {
  static override canParse = () => false
}

/** The responses of React Native have no stream. */
const withoutStream = (response: Response) => Object.defineProperty(response, 'body', { value: undefined })

const ABSENT = [
  'BroadcastChannel',
  'navigator',
  'document',
  'location',
  'localStorage',
  'sessionStorage',
  'DOMException',
]

let server: RefreshServer
let stored: string | null
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] })
  for (const name of ABSENT) vi.stubGlobal(name, undefined)
  vi.stubGlobal('AbortController', BareController)
  vi.stubGlobal('URL', BareUrl)
  server = createRefreshServer()
  stored = null
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

const refresh: RefreshTokenStorage = {
  load: async () => stored,
  save: async (text) => {
    stored = text
  },
  remove: async () => {
    stored = null
  },
}

/** Starts the app. Its responses have no stream, as those of React Native. */
function start(options: Partial<TokenClientOptions> = {}) {
  const fetchOfServer = server.fetchOf()
  const api = createTokenClient({
    url: URL_OF_API,
    refresh,
    interactive: true,
    credentials: () => ({ email: 'alice@example.com', password: 'secret' }),
    fetch: async (...call) => withoutStream(await fetchOfServer(...call)),
    ...options,
  })
  onTestFinished(api.close)
  return api
}

describe('the client in React Native', () => {
  it('signs in, and stays signed in after a restart of the app', async () => {
    const first = start()
    expect(await first.restore()).toBe(false)
    expect((await first.fetch('/statements')).status).toBe(200)
    first.close()
    const second = start({ credentials: () => expect.fail('asked for the password') })
    expect(await second.restore()).toBe(true)
    expect((await second.fetch('/statements')).status).toBe(200)
    expect(server.routes()).toEqual(['sign-in', 'refresh'])
  })

  it('signs out at the server, and keeps no refresh token', async () => {
    const api = start()
    await api.fetch('/statements')
    await api.signOut()
    expect(stored).toBe(null)
    expect(server.routes()).toEqual(['sign-in', 'sign-out'])
    expect(await start().restore()).toBe(false)
  })

  it('rejects a call that began before a sign-out', async () => {
    const api = start({ credentials: () => new Promise(() => {}) })
    const call = api.fetch('/statements').catch((error: unknown) => error)
    await settled()
    await api.signOut()
    expect(await call).toMatchObject({ name: 'AbortError', code: 'signed_out' })
  })

  it('rejects when the server does not respond in time', async () => {
    const api = start({ fetch: () => new Promise(() => {}) })
    const call = api.fetch('/statements').catch((error: unknown) => error)
    await vi.advanceTimersByTimeAsync(10_000)
    expect(await call).toMatchObject({ code: 'unreachable' })
  })

  it.each([
    ['before the call', true],
    ['during the call', false],
  ])('rejects with an AbortError when the app aborts %s', async (_, isBefore) => {
    const api = start({ credentials: () => new Promise(() => {}) })
    const controller = new AbortController()
    if (isBefore) controller.abort()
    const call = api.fetch('/statements', { signal: controller.signal }).catch((error: unknown) => error)
    await settled()
    controller.abort()
    expect(await call).toMatchObject({ name: 'AbortError' })
  })

  it('rejects everything after it was closed', async () => {
    const api = start()
    api.close()
    await expect(api.fetch('/statements')).rejects.toMatchObject({ code: 'closed' })
  })
})

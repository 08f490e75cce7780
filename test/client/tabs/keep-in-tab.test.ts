// Tests client/tabs/{keep-in-tab,tab-link}.ts

import {
  createTokenClient,
  type Grant,
  keepInTab,
  type News,
  shareBetweenTabs,
  type TabLink,
  type TabOwner,
  type TokenClientOptions,
  type TokenClientState,
} from 'express-token-endpoint/client'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { settled } from '../../support/concurrency.js'
import { unhandledRejections } from '../../support/host.js'
import { TOKEN_PATH } from '../faults/server.js'

const URL_OF_API = 'https://api.example.com'
const HOUR = 3_600_000

/** A storage of a page. `fails` has the names of the functions that throw. */
class FakeStorage {
  readonly texts = new Map<string, string>()
  readonly fails = new Set<string>()
  sets = 0
  #run<T>(name: string, work: () => T): T {
    if (this.fails.has(name)) throw new DOMException(name, 'QuotaExceededError')
    return work()
  }
  getItem = (name: string) => this.#run('getItem', () => this.texts.get(name) ?? null)
  removeItem = (name: string) => this.#run('removeItem', () => void this.texts.delete(name))
  setItem = (name: string, text: string) =>
    this.#run('setItem', () => {
      this.sets++
      this.texts.set(name, text)
    })
}

describe('keepInTab()', () => {
  let session: FakeStorage
  let local: FakeStorage
  let issued: number
  let status: number
  let page: EventTarget

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] })
    session = new FakeStorage()
    local = new FakeStorage()
    issued = 0
    status = 200
    page = new EventTarget()
    vi.stubGlobal('document', {})
    vi.stubGlobal('sessionStorage', session)
    vi.stubGlobal('localStorage', local)
    vi.stubGlobal('addEventListener', page.addEventListener.bind(page))
  })
  afterEach(() => {
    vi.useRealTimers()
    vi.unstubAllGlobals()
  })

  /** Loads the page: creates its client. Sign-ins return T1, T2, and so on. */
  function load(options: Partial<TokenClientOptions> & { lifetime?: number } = {}) {
    const { lifetime = HOUR, ...more } = options
    const api = createTokenClient({
      url: URL_OF_API,
      credentials: () => ({ email: 'alice@example.com', password: 'secret' }),
      tabs: keepInTab(),
      fetch: (async (url: string | URL) => {
        if (!String(url).endsWith('/token')) return new Response('', { status })
        const expiration = new Date(Date.now() + lifetime).toISOString()
        return Response.json({ authenticationToken: `T${++issued}`, expiration })
      }) as typeof fetch,
      ...more,
    })
    onTestFinished(api.close)
    return api
  }

  /** A link to other tabs that only counts the sign-outs. `owners` gets the client's side. */
  function fakeLink(owners: TabOwner[] = []) {
    return (owner: TabOwner): TabLink => {
      owners.push(owner)
      const link = {
        generation: 0,
        ask() {},
        alone: (call: () => Promise<Grant>) => call(),
        tell(news: News) {
          if (news === 'sign-out') link.generation++
        },
        close() {},
      }
      return link
    }
  }

  it('a reload is signed in at once, until the same time', async () => {
    const api = load()
    await api.token()
    vi.advanceTimersByTime(60_000)
    const again = load()
    expect(again.state).toEqual(api.state)
    expect(await again.token()).toBe('T1')
    expect(session.texts.size).toBe(1)
  })

  it.each<[string, (api: ReturnType<typeof load>) => unknown]>([
    ['signOut()', (api) => api.signOut()],
    ['close()', (api) => api.close()],
    ['the expiration', () => vi.advanceTimersByTime(HOUR)],
    [
      'a 401',
      async (api) => {
        status = 401
        await expect(api.fetch('/x')).rejects.toThrow('nobody')
      },
    ],
  ])('%s removes the token', async (_, end) => {
    let isHere = true
    const api = load({
      credentials() {
        if (!isHere) throw new Error('nobody')
        return { email: 'alice@example.com', password: 'secret' }
      },
    })
    await api.token()
    expect([...session.texts.values()].join()).toContain('"T1"')
    isHere = false
    await end(api)
    expect(session.texts.size).toBe(0)
    expect(load().state.expiresAt).toBeUndefined()
  })

  it('an adopted token survives a reload too, also directly after a sign-out', async () => {
    const api = load({ tabs: keepInTab(fakeLink()) })
    await api.token()
    api.signOut()
    api.adopt({ token: 'Elsewhere', expiresAt: Date.now() + HOUR })
    expect(await load({ tabs: keepInTab(fakeLink()) }).token()).toBe('Elsewhere')
  })

  it('a token of 60 days is kept for more than the longest timer, and removed at its end', async () => {
    await load({ lifetime: 60 * 24 * HOUR }).token()
    vi.advanceTimersByTime(50 * 24 * HOUR)
    expect([session.texts.size, session.sets]).toEqual([1, 3])
    vi.advanceTimersByTime(10 * 24 * HOUR)
    expect(session.texts.size).toBe(0)
  })

  it.each([
    ...['', 'null', '{', '[]', '{}', '{"token":"T"}', '{"token":"a\\r\\nb","lifetime":9e15,"receivedAt":1}'],
    '{"token":"T","lifetime":1,"receivedAt":1}',
    '{"token":"T","lifetime":"x","receivedAt":1}',
    '{"token":"T","lifetime":1e999,"receivedAt":1}',
    '{"token":"T","lifetime":[9e15],"receivedAt":1}',
    '{"token":"T","lifetime":9e15,"receivedAt":"1"}',
    '{"token":"T","lifetime":3600000,"receivedAt":9e12}',
  ])('ignores and removes %j', async (text) => {
    await load().token()
    const [name = ''] = session.texts.keys()
    session.texts.set(name, text)
    const api = load()
    expect([api.state.expiresAt, session.texts.size]).toEqual([undefined, 0])
    expect(await api.token()).toBe('T2')
  })

  it.each(['getItem', 'setItem', 'removeItem', 'sessionStorage'])(
    'works without storage when %s fails',
    async (name) => {
      session.fails.add(name)
      if (name === 'sessionStorage') vi.stubGlobal(name, undefined)
      const api = load()
      expect(await api.token()).toBe('T1')
      api.signOut()
      expect(await api.token()).toBe('T2')
    },
  )

  it('a full storage keeps no old token', async () => {
    const api = load()
    await api.token()
    session.fails.add('setItem')
    api.adopt({ token: 'Elsewhere', expiresAt: Date.now() + HOUR })
    expect(session.texts.size).toBe(0)
  })

  it('a token that cannot be removed does not come back after a sign-out', async () => {
    const api = load()
    await api.token()
    session.fails.add('removeItem')
    api.signOut()
    expect(api.state.expiresAt).toBeUndefined()
    expect(await api.token()).toBe('T2')
  })

  it('stores nothing in Node, which has storage too, but many users', async () => {
    vi.stubGlobal('document', undefined)
    Reflect.deleteProperty(globalThis, 'document')
    await load().token()
    expect(session.texts.size).toBe(0)
  })

  it('a page from the back/forward cache gets the token of the person who has signed in since', async () => {
    const first = load()
    await first.token()
    const states: TokenClientState[] = []
    first.onChange((state) => states.push(state))
    const [name = ''] = session.texts.keys()
    const next = { token: 'Next', lifetime: 2 * HOUR, receivedAt: Date.now() }
    session.texts.set(name, JSON.stringify(next))
    page.dispatchEvent(Object.assign(new Event('pageshow'), { persisted: true }))
    expect(await first.token()).toBe('Next')
    expect(states.slice(1).map(({ expiresAt }) => expiresAt)).toEqual([undefined, Date.now() + 2 * HOUR])
  })

  describe('with a link to other tabs', () => {
    const other = () => ({ token: 'Other', lifetime: HOUR, receivedAt: Date.now() + 1 })

    it('keeps the token of another tab, and removes it when that tab signs out', async () => {
      const owners: TabOwner[] = []
      const api = load({ tabs: keepInTab(fakeLink(owners)) })
      await api.token()
      owners[0]?.hear('refused')
      expect(session.texts.size).toBe(1)
      vi.advanceTimersByTime(HOUR)
      owners[0]?.hear(other())
      expect([...session.texts.values()].join()).toContain('"Other"')
      owners[0]?.hear('sign-out')
      expect([api.state.expiresAt, session.texts.size]).toEqual([undefined, 0])
    })

    it('a sign-out of another tab is not undone by the kept token, while the storage does not show it yet', async () => {
      const owners: TabOwner[] = []
      const api = load({ tabs: keepInTab(fakeLink(owners)) })
      expect(await api.token()).toBe('T1')
      owners[0]?.hear('sign-out')
      expect([api.state.expiresAt, session.texts.size]).toEqual([undefined, 0])
      expect(await api.token()).toBe('T2')
    })

    /** Leaves the page of a tab, and opens the page in a new tab. */
    function openElsewhere() {
      page = new EventTarget()
      session = new FakeStorage()
      vi.stubGlobal('sessionStorage', session)
      vi.stubGlobal('addEventListener', page.addEventListener.bind(page))
    }

    it.each([
      ['', 1000],
      [', also when the clock was set back before', -3000],
    ])('a sign-out ends the token of a tab that was elsewhere, and not that of later sign-ins%s', async (_, passed) => {
      const open = () => load({ tabs: keepInTab(fakeLink()) })
      await open().token()
      const elsewhere = session
      openElsewhere()
      vi.setSystemTime(Date.now() + passed)
      open().signOut()
      vi.stubGlobal('sessionStorage', elsewhere)
      vi.setSystemTime(Date.now() - passed)
      expect(open().state.expiresAt).toBeUndefined()
      expect(elsewhere.texts.size).toBe(0)
      await open().token()
      expect(await open().token()).toBe('T2')
    })

    it('the token of a tab that was elsewhere does not come back after the app has cleared the storage', async () => {
      const open = () => load({ tabs: keepInTab(fakeLink()) })
      await open().token()
      const elsewhere = session
      openElsewhere()
      open().signOut()
      vi.stubGlobal('localStorage', new FakeStorage())
      // A page that knows no sign-out.
      await open().token()
      vi.stubGlobal('sessionStorage', elsewhere)
      expect(open().state.expiresAt).toBeUndefined()
    })

    describe('whose sign-outs the storage shows later', () => {
      const name = `express-token-endpoint ${URL_OF_API}${TOKEN_PATH}`
      const shown = (text?: string) => {
        const store = new FakeStorage()
        if (text !== undefined) store.texts.set(name, text)
        vi.stubGlobal('localStorage', store)
        const change = text === undefined ? { key: null, newValue: null } : { key: name, newValue: text }
        page.dispatchEvent(Object.assign(new Event('storage'), change))
        return store.texts.get(name)
      }

      it('a tab that loaded during a sign-out is signed out when the storage shows it', async () => {
        const api = load({ tabs: keepInTab(fakeLink()) })
        await api.token()
        shown('9')
        expect([api.state.expiresAt, session.texts.size]).toEqual([undefined, 0])
        // The message with the same number tells nothing new.
        const next = await api.token()
        shown('9')
        expect(await api.token()).toBe(next)
        expect(await load({ tabs: keepInTab(fakeLink()) }).token()).toBe(next)
      })

      it('a tab hears of a sign-out, also when its own number has just replaced the one of the sign-out', async () => {
        const api = load({ tabs: keepInTab(fakeLink()) })
        await api.token()
        page.dispatchEvent(Object.assign(new Event('storage'), { key: name, newValue: '9' }))
        expect(api.state.expiresAt).toBeUndefined()
        expect(local.texts.get(name)).toBe('9')
      })

      it('a token has a number before the other tabs get it', async () => {
        const told: (number | undefined)[] = []
        const tabs = keepInTab((owner) => {
          const link = fakeLink()(owner)
          return Object.assign(link, { tell: () => told.push(link.generation) })
        })
        await load({ tabs }).token()
        expect(told).toEqual([Number(local.texts.get(name))])
        expect(told[0]).toBeGreaterThan(0)
      })

      it('a smaller number, other text and a cleared storage sign nobody out, and a tab corrects them', async () => {
        const api = load({ tabs: keepInTab(fakeLink()) })
        const kept = await api.token()
        shown('9')
        await api.token()
        expect([shown('8'), shown('x'), shown('1e999x'), shown()]).toEqual(['9', '9', '9', '9'])
        expect(await api.token()).not.toBe(kept)
        expect(issued).toBe(2)
      })

      it('a tab that knows no number waits for the messages', async () => {
        const links: TabLink[] = []
        const tabs = keepInTab((owner) => {
          const link = fakeLink()(owner)
          links.push(link)
          return link
        })
        const api = load({ tabs })
        shown('9')
        expect(links[0]?.generation).toBe(0)
        expect(await api.token()).toBe('T1')
      })

      it('a closed client ignores the storage', async () => {
        const api = load({ tabs: keepInTab(fakeLink()) })
        await api.token()
        api.close()
        expect(shown()).toBeUndefined()
        await expect(api.token()).rejects.toMatchObject({ code: 'closed' })
      })

      it('tabs that share nothing store no number', async () => {
        const api = load()
        await api.token()
        expect(shown()).toBeUndefined()
        api.signOut()
        expect(shown()).toBeUndefined()
      })
    })

    it.each(['closes at once', 'cannot ask for locks'])('a client that %s has no unhandled rejection', async (what) => {
      const rejections = unhandledRejections()
      const locks = {
        async request(name: string, options: { signal?: AbortSignal }, work = options as unknown as () => unknown) {
          await work()
          return name
        },
        async query() {
          if (what !== 'closes at once') throw new DOMException('not active', 'InvalidStateError')
          return {
            held: Array(2).fill({ name: `express-token-endpoint ${URL_OF_API}${TOKEN_PATH} present` }),
          }
        },
      }
      vi.stubGlobal('navigator', { locks })
      expect(await load({ tabs: keepInTab(fakeLink()) }).token()).toBe('T1')
      const api = load({ tabs: keepInTab(shareBetweenTabs()) })
      expect(api.state.expiresAt).toBeDefined()
      if (what === 'closes at once') api.close()
      await settled()
      expect(rejections).toEqual([])
    })

    it('asks the other tabs after a reload for the sign-outs that it missed', async () => {
      const ask = vi.fn()
      const link = (owner: TabOwner) => ({ ...fakeLink()(owner), ask })
      await load({ tabs: keepInTab(link) }).token()
      const before = ask.mock.calls.length
      load({ tabs: keepInTab(link) })
      expect(ask.mock.calls.length).toBe(before + 1)
    })
  })
})

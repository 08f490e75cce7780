import { AsyncLocalStorage } from 'node:async_hooks'
import { createTokenClient, type TokenClient } from 'express-token-endpoint/client'
import fc from 'fast-check'
import { describe, expect, vi } from 'vitest'
import { firstState, nextState, type RefreshState } from '../../src/sessions/refresh/refresh-state.js'
import { commandsOf, itHolds, often, type Respond, settle, type World } from './world.js'

const URL_OF_API = 'https://api.example.com'
const TOKEN_URL = `${URL_OF_API}/api/v2013/authentication/token`
const LIFETIME = 600_000
const GRACE = 10_000
const MOST_PAGES = 3

type Mode = 'cookie' | 'body'
type Behaviour = 'works' | 503 | 429 | 500 | 'request lost' | 'response lost' | 'hangs'

/** A page or a process of the app, until a reload. */
interface Page {
  readonly client: TokenClient
  isOpen: boolean
  /** The calls that may ask for credentials. */
  calls: number
  /** The sign-ins before the first of them. */
  signIns: number
  readonly unlock: Set<() => void>
  /** The sessions from before the last sign-out that this page knows. */
  ended: ReadonlySet<string>
  /** The sessions that were there when this page was loaded or restored. */
  readonly known: Set<string>
  stored(event: object): void
}

/** Returns the session of a token or a refresh token. */
const idOf = (text: string | undefined) => text?.split('.')[0] ?? ''

type Kit = ReturnType<typeof create>

// One for all runs, because each storage that was ever used costs time at every promise.
const inPage = new AsyncLocalStorage<Page>()

function create(mode: Mode, world: World, respond: Respond) {
  const isCookie = mode === 'cookie'
  const sessions = new Map<string, RefreshState>()
  const owners = new Map<string, Page>()
  const pages: (Page | undefined)[] = []
  const notes = new Map<string, string>()
  const waiting: (() => void)[] = []
  const forever = () => new Promise<never>(() => {})
  let isLocked = false
  let issued = 0
  let started = 0
  /** The responses with a refresh token that did not arrive since the last one that did. */
  let lost = 0

  // The world has one random number, but two sign-outs must have two.
  let random = 1
  Math.random = () => {
    random = (random * 16_807) % 2_147_483_647
    return random / 2_147_483_647
  }

  const { setTimeout: later } = globalThis
  vi.stubGlobal('setTimeout', (call: () => void, ms?: number) => {
    const owner = inPage.getStore() as Page
    return later(() => owner.isOpen && inPage.run(owner, call), ms)
  })
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => notes.get(key) ?? null,
    setItem(key: string, text: string) {
      notes.set(key, text)
      const ended = new Set(sessions.keys())
      if (text.startsWith('+')) ended.delete(idOf(kit.kept))
      for (const page of pages as Page[]) {
        if (page === inPage.getStore()) continue
        void respond('a change arrives').then(() => {
          if (!page.isOpen) return
          page.ended = ended
          inPage.run(page, () => page.stored({ key, newValue: text }))
        })
      }
    },
    removeItem: (key: string) => void notes.delete(key),
  })
  vi.stubGlobal('addEventListener', (type: string, listener: (event: object) => void) => {
    if (type === 'storage') (inPage.getStore() as Page).stored = listener
  })

  function unlock(): void {
    isLocked = false
    waiting.shift()?.()
  }

  vi.stubGlobal('navigator', {
    locks: {
      request(_: string, { signal }: { signal: AbortSignal }, work: () => Promise<unknown>): Promise<unknown> {
        const owner = inPage.getStore() as Page
        return new Promise((resolve, reject) => {
          const start = () => {
            if (!owner.isOpen || signal.aborted) return unlock()
            isLocked = true
            const end = () => owner.unlock.delete(end) && unlock()
            owner.unlock.add(end)
            const done = inPage.run(owner, work)
            done.then(resolve, reject)
            done.then(end, end)
          }
          signal.addEventListener('abort', () => reject(signal.reason))
          if (isLocked) waiting.push(start)
          else start()
        })
      },
    },
  })

  /** Moves a session. Returns its current refresh token, or undefined when it is over. */
  function refresh(text: string | undefined): string | undefined {
    const [id = '', generation] = (text ?? '').split('.')
    const state = sessions.get(id)
    if (!state) return undefined
    const next = nextState(state, Number(generation), {
      now: world.steady(),
      presentedAt: world.steady(),
      grace: GRACE,
    })
    world.must(next !== undefined || lost > 1, 'no client that loses no two responses in a row is signed out')
    if (next) sessions.set(id, next)
    else sessions.delete(id)
    return next && `${id}.${next.generation}`
  }

  function signIn(owner: Page): string {
    const id = `S${++started}`
    owners.set(id, owner)
    sessions.set(id, firstState({ remember: true, passwordTag: '' }))
    return `${id}.0`
  }

  async function callServer(owner: Page, route: string, init: RequestInit): Promise<Response> {
    const { signal } = init as { signal: AbortSignal }
    signal.throwIfAborted()
    const { signOuts } = kit
    const given = route ? (isCookie ? kit.kept : JSON.parse(String(init.body)).refreshToken) : undefined
    const isSafe = route !== '/refresh' || !kit.isSignedOut || !sessions.has(idOf(given))
    world.must(isSafe, 'no refresh of a session that lives after its sign-out')
    const aborted = new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    aborted.catch(() => {})
    await Promise.race([respond(`request ${route}`), aborted])
    if (!owner.isOpen) return forever()
    const { server } = kit
    if (typeof server === 'number') return new Response('', { status: server, headers: { 'Retry-After': '5' } })
    if (server === 'request lost') throw new TypeError('fetch failed')
    if (route === '/sign-out') sessions.delete(idOf(given))
    const next = route === '/sign-out' ? undefined : route ? refresh(given) : signIn(owner)
    if (next) lost++
    if (server === 'response lost') throw new TypeError('fetch failed')
    if (server === 'hangs') return aborted
    await Promise.race([respond(`response ${route}`), aborted])
    if (!owner.isOpen) return forever()
    if (!route) kit.signIns++
    // A sign-out that crosses a sign-in ends its session.
    if (!route && signOuts === kit.signOuts) kit.isSignedOut = false
    if (isCookie) kit.kept = next
    if (isCookie && next) lost = 0
    if (!next) return new Response(null, { status: given && route === '/refresh' ? 403 : 204 })
    const expiration = new Date(Date.now() + LIFETIME).toISOString()
    const authenticationToken = `${idOf(next)}.token.${++issued}`
    return Response.json({ authenticationToken, expiration, ...(!isCookie && { refreshToken: next }) })
  }

  /** Returns the functions of an app, whose storage takes its time. A process that ends loses what it has not stored. */
  function storageOf(owner: () => Page) {
    const later = async <T>(label: string, work: () => T): Promise<T> => {
      await respond(label)
      return owner().isOpen ? work() : forever()
    }
    return {
      load: () => later('load', () => kit.kept),
      save: (text: string) =>
        later('save', () => {
          lost = 0
          kit.kept = text
        }),
      remove: () =>
        later('remove', () => {
          kit.isRemoving = false
          kit.kept = undefined
        }),
    }
  }

  function load(index: number): void {
    const before = pages[index]
    if (before) {
      before.isOpen = false
      for (const end of before.unlock) end()
    }
    const page = { isOpen: true, calls: 0, signIns: 0, unlock: new Set(), ended: new Set() } as unknown as Page
    Object.assign(page, { known: new Set(owners.keys()) })
    pages[index] = page
    const client = inPage.run(page, () =>
      createTokenClient({
        url: URL_OF_API,
        interactive: true,
        refresh: isCookie ? 'cookie' : storageOf(() => page),
        credentials() {
          world.must(page.calls > 0, 'restore() asks for no credentials')
          // The page found no session before another page signed in.
          const wasOver = page.signIns < kit.signIns
          world.must(
            kit.isSignedOut || !kit.lives() || wasOver,
            'nobody is asked for credentials while the session lives',
          )
          return { email: 'alice@example.com', password: 'secret' }
        },
        fetch: (input, init = {}) => callServer(page, String(input).slice(TOKEN_URL.length), init),
      }),
    )
    Object.assign(page, { client })
  }

  const kit = {
    world,
    pages,
    load,
    server: 'works' as Behaviour,
    /** The refresh token in the cookie or in the storage of the app. */
    kept: undefined as string | undefined,
    /** True from a sign-out to the next sign-in. */
    isSignedOut: false,
    signOuts: 0,
    signIns: 0,
    /** True until the storage of the app has done what a sign-out asks for. A process that ends before cannot sign out. */
    isRemoving: false,
    lives: () => sessions.has(idOf(kit.kept)),
    /** Ends the session at the server, as another device does. */
    endSession: () => sessions.clear(),
    async token(page: Page): Promise<string | undefined> {
      const { ended } = page
      const known = new Set(page.known)
      if (!page.calls++) page.signIns = kit.signIns
      try {
        const text = await inPage.run(page, () => page.client.token())
        world.must(!ended.has(idOf(text)), 'no token of a session from before the sign-out')
        const isOwn = known.has(idOf(text)) || owners.get(idOf(text)) === page
        world.must(isOwn, 'no token of the sign-in of another tab before restore()')
        return text
      } catch (error) {
        const { code } = error as { code?: string }
        const codes = ['try_later', 'unreachable', 'unexpected', 'signed_out']
        world.must(codes.includes(code ?? ''), `an error has a code: ${error}`)
        return undefined
      } finally {
        page.calls--
      }
    },
    async restore(page: Page): Promise<boolean | undefined> {
      const isSignedIn = await inPage.run(page, () => page.client.restore()).catch(() => undefined)
      if (isSignedIn) for (const id of owners.keys()) page.known.add(id)
      return isSignedIn
    },
    /** Signs in with a route of the app. */
    async signIn(page: Page): Promise<void> {
      const send = (signal: AbortSignal) => callServer(page, '', { signal })
      await inPage.run(page, () => page.client.signIn(send)).catch(() => {})
    },
    signOut(page: Page): void {
      kit.isSignedOut = true
      kit.signOuts++
      kit.isRemoving = !isCookie
      page.ended = new Set(sessions.keys())
      void inPage.run(page, () => page.client.signOut())
    },
    check() {
      const expected = isCookie && [...notes.values()].every((text) => Number(text) < 1)
      world.must(notes.size === 0 || expected, 'nothing but a note is stored where scripts can read it')
    },
  }
  for (let index = 0; index < (isCookie ? MOST_PAGES : 1); index++) load(index)
  return kit
}

const when = commandsOf<Kit>()
const whenPage = (name: string, run: (kit: Kit, page: Page, index: number) => unknown) =>
  when(name, fc.nat(MOST_PAGES - 1), (kit, number) => {
    const index = number % kit.pages.length
    return run(kit, kit.pages[index] as Page, index)
  })

const commands = [
  ...often(
    4,
    whenPage('token() in', (kit, page) => void kit.token(page)),
  ),
  ...often(
    2,
    whenPage('restore() in', (kit, page) => void kit.restore(page)),
  ),
  whenPage('sign out in', (kit, page) => kit.signOut(page)),
  whenPage('sign in with a route of the app in', (kit, page) => void kit.signIn(page)),
  ...often(
    2,
    whenPage('load', ({ load, isRemoving }, _, index) => isRemoving || load(index)),
  ),
  when('end the session', ['elsewhere'], (kit) => kit.endSession()),
  ...often(
    3,
    when<Behaviour>(
      'the server',
      ['works', 'works', 503, 429, 500, 'request lost', 'response lost', 'hangs'],
      (kit, server) => {
        kit.server = server
      },
    ),
  ),
  ...often(
    3,
    when('pass', [1, 1000, 11_000, 60_000, LIFETIME * 0.97, LIFETIME, 86_400_000], ({ world }, ms) => world.pass(ms)),
  ),
]

describe('a client that refreshes', () => {
  for (const mode of ['cookie', 'body'] as const)
    itHolds(`an outage leads to no form, and a signed-out session never comes back: ${mode}`, {
      commands,
      maxCommands: 40,
      runs: 150,
      create: (world, respond) => create(mode, world, respond),
      async finish(kit, drain) {
        const { world } = kit
        kit.server = 'works'
        for (let i = 0; i < 10; i++) {
          await drain()
          await world.pass(10_000)
        }
        for (const page of kit.pages as Page[]) {
          // The page may not know the last sign-in.
          void kit.restore(page)
          await drain()
          const token = kit.token(page)
          for (let i = 0; i < 10; i++) {
            await drain()
            await world.pass(1000)
          }
          world.must((await token) !== undefined, 'every page gets a token when all is well')
          const restored = kit.restore(page)
          await drain()
          world.must((await restored) === true, 'restore() finds the token')
        }
        const expected = kit.lives()
        kit.load(0)
        const restored = kit.restore(kit.pages[0] as Page)
        await drain()
        world.must((await restored) === expected, 'a reload keeps the user signed in while the session lives')
        expect(world.broken).toEqual([])
        await settle()
      },
    })
})

import { AsyncLocalStorage } from 'node:async_hooks'
import { createTokenClient, keepInTab, shareBetweenTabs, type TokenClient } from 'express-token-endpoint/client'
import fc from 'fast-check'
import { describe, expect, vi } from 'vitest'
import { commandsOf, itHolds, often, type Respond, settle, type World } from './world.js'

const URL_OF_API = 'https://api.example.com'
const HOUR = 3_600_000
const MOST_TABS = 4
const NAME = `express-token-endpoint ${URL_OF_API}/api/v2013/authentication/token`

/** A token of the server. */
interface Issued {
  readonly text: string
  /** The number of sign-outs before its credentials were typed: after each, another person types. */
  readonly person: number
}

/** A page with its client. */
interface Page {
  readonly tab: Tab
  readonly client: TokenClient
  isOpen: boolean
  /** True when it got a token that nothing may end: after the last sign-out, which nothing else crossed, or before the first. */
  isSafe: boolean
  receive(data: unknown): void
  changed(event: object): void
  /** The messages that have not arrived. */
  readonly messages: { readonly data: unknown; readonly signOut: number }[]
  readonly unlock: Set<() => void>
}

/** A tab: a process of the browser. */
interface Tab {
  readonly session: Map<string, string>
  /** The view that this process has of `localStorage`. */
  readonly local: Map<string, string>
  /** The changes that this process has not sent, and those that it has not received. */
  readonly sent: Change[]
  readonly due: Change[]
  page: Page | undefined
  isClosed: boolean
  /** The last sign-out that this tab has made or heard. */
  known: number
}

type Change = readonly [key: string, text: string]

type Kit = ReturnType<typeof create>

// One for all runs, because each storage that was ever used costs time at every promise.
const inPage = new AsyncLocalStorage<Page>()
const page = () => inPage.getStore() as Page

function create(isSignedIn: boolean, world: World, respond: Respond) {
  const issued: Issued[] = []
  const tabs: Tab[] = []
  const stored = new Map<string, string>()
  const waiting: (() => void)[] = []
  let signOuts = 0
  let isLocked = false
  /** True when a tab has signed out while messages or changes of the tabs were under way. */
  let isConcurrent = false
  let hasAdopted = false

  function issue(person: number): string {
    const text = `token.${issued.length}`
    issued.push({ text, person })
    return text
  }

  const pages = () => tabs.flatMap((tab) => tab.page ?? [])
  const forever = () => new Promise<never>(() => {})

  // The world has one random number, but two sign-outs must have two.
  let random = 1
  Math.random = () => {
    random = (random * 16_807) % 2_147_483_647
    return random / 2_147_483_647
  }

  const { setTimeout: later } = globalThis
  vi.stubGlobal('setTimeout', (call: () => void, ms?: number) => {
    const owner = page()
    return later(() => owner.isOpen && inPage.run(owner, call), ms)
  })
  vi.stubGlobal('document', {})
  vi.stubGlobal('addEventListener', (type: string, listener: (event: object) => void) => {
    if (type === 'storage') page().changed = listener
  })
  vi.stubGlobal('sessionStorage', {
    getItem: (key: string) => page().tab.session.get(key) ?? null,
    setItem: (key: string, text: string) => void page().tab.session.set(key, text),
    removeItem: (key: string) => void page().tab.session.delete(key),
  })
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => page().tab.local.get(key) ?? null,
    setItem(key: string, text: string) {
      const { tab } = page()
      tab.local.set(key, text)
      tab.sent.push([key, text])
      void respond('a change leaves a process').then(() => send(tab))
    },
  })

  function send(from: Tab): void {
    const change = from.sent.shift() as Change
    stored.set(...change)
    for (const tab of tabs) {
      if (tab === from || tab.isClosed) continue
      tab.due.push(change)
      void respond('a change arrives').then(() => {
        const [key, newValue] = tab.due.shift() as Change
        // A process shows its own change until that is stored.
        if (!tab.sent.some(([sent]) => sent === key)) tab.local.set(key, newValue)
        const { page: shown } = tab
        if (shown) inPage.run(shown, () => shown.changed({ key, newValue }))
      })
    }
  }

  vi.stubGlobal(
    'BroadcastChannel',
    class {
      readonly owner = page()
      set onmessage(receive: (event: { data: unknown }) => void) {
        this.owner.receive = (data) => receive({ data })
      }
      postMessage(data: unknown) {
        const signOut = Object(data).news === 'sign-out' ? this.owner.tab.known : 0
        for (const receiver of pages()) {
          if (receiver === this.owner) continue
          receiver.messages.push({ data: structuredClone(data), signOut })
          void respond('a message arrives').then(() => {
            const message = receiver.messages.shift()
            if (!message || !receiver.isOpen) return
            const { tab } = receiver
            tab.known = Math.max(tab.known, message.signOut)
            inPage.run(receiver, () => receiver.receive(message.data))
          })
        }
      }
      close() {}
    },
  )

  function unlock(): void {
    isLocked = false
    waiting.shift()?.()
  }

  vi.stubGlobal('navigator', {
    locks: {
      request(
        _: string,
        { mode, signal }: { mode?: string; signal?: AbortSignal },
        work: () => Promise<unknown>,
      ): Promise<unknown> {
        if (mode === 'shared') return work()
        const owner = page()
        return new Promise((resolve, reject) => {
          const start = () => {
            if (!owner.isOpen || signal?.aborted) {
              return unlock()
            }
            isLocked = true
            const end = () => owner.unlock.delete(end) && unlock()
            owner.unlock.add(end)
            const done = inPage.run(owner, work)
            done.then(resolve, reject)
            done.then(end, end)
          }
          signal?.addEventListener('abort', () => reject(signal.reason))
          if (isLocked) waiting.push(start)
          else start()
        })
      },
      query: async () => ({ held: pages().map(() => ({ name: `${NAME} present` })) }),
    },
  })

  function leave(tab: Tab): void {
    const { page: left } = tab
    if (!left) return
    left.isOpen = false
    tab.page = undefined
    for (const end of left.unlock) end()
  }

  function load(tab: Tab): void {
    leave(tab)
    const shown: Page = {
      tab,
      client: undefined as unknown as TokenClient,
      isOpen: true,
      isSafe: false,
      receive() {},
      changed() {},
      messages: [],
      unlock: new Set(),
    }
    tab.page = shown
    inPage.run(shown, () => {
      const client = createTokenClient({
        url: URL_OF_API,
        credentials: () => ({ email: `${signOuts}`, password: 'secret' }),
        tabs: keepInTab(shareBetweenTabs()),
        timeout: 600,
        fetch: async (_, init = {}) => {
          const person = Number(JSON.parse(String(init.body)).email)
          await respond('token endpoint')
          if (!shown.isOpen) return forever()
          const expiration = new Date(Date.now() + HOUR).toISOString()
          return Response.json({ authenticationToken: issue(person), expiration })
        },
      })
      Object.assign(shown, { client })
    })
  }

  const kit = {
    world,
    tabs,
    pages,
    leave,
    load,
    issued,
    open(): Tab {
      const tab: Tab = {
        session: new Map(),
        local: new Map(stored),
        sent: [],
        due: [],
        page: undefined,
        isClosed: false,
        known: 0,
      }
      tabs.push(tab)
      load(tab)
      return tab
    },
    signOut(tab: Tab): void {
      const { page: shown } = tab
      if (!shown) return
      isConcurrent = tabs.some(
        ({ page: other, isClosed, sent, due }) =>
          !isClosed && sent.length + due.length + (other?.messages.length ?? 0) > 0,
      )
      for (const other of pages()) other.isSafe = false
      tab.known = ++signOuts
      inPage.run(shown, () => shown.client.signOut())
    },
    /** Gives a page a token from elsewhere. */
    adopt(tab: Tab): void {
      const { page: shown } = tab
      if (!shown) return
      hasAdopted = true
      shown.isSafe = tab.known === signOuts && !isConcurrent && signOuts > 0
      inPage.run(shown, () => shown.client.adopt({ token: issue(signOuts), expiresAt: Date.now() + HOUR }))
    },
    /** Calls `token()` in a page. Returns its person, or undefined when it got none. */
    async token(shown: Page): Promise<Issued | undefined> {
      const { known } = shown.tab
      try {
        const text = await inPage.run(shown, () => shown.client.token())
        const token = issued.find((one) => one.text === text)
        world.must((token?.person ?? -1) >= known, 'no call gets a token from before a sign-out that its tab knows')
        if (signOuts === 0 && !hasAdopted) shown.isSafe = true
        return token
      } catch (error) {
        const isEnded = (error as { code?: string }).code === 'signed_out' && signOuts > 0
        world.must(isEnded, 'only a sign-out ends a call')
        return undefined
      }
    },
    /** Expects that no page holds a token from before the last sign-out. */
    mustBeSignedOut(when: string): void {
      for (const shown of pages()) {
        const [kept] = shown.tab.session.values()
        const person = issued.find(({ text }) => kept?.includes(`"${text}"`))?.person ?? signOuts
        world.must(person === signOuts, `${when}, no tab keeps a token from before the last sign-out`)
        const isHeld = shown.client.state.expiresAt !== undefined
        world.must(isHeld === (kept !== undefined), `${when}, a tab keeps the token that it holds`)
        world.must(isHeld || !shown.isSafe, `${when}, no sign-out ends a token from after it`)
      }
    },
  }
  const first = { token: issue(0), lifetime: HOUR, receivedAt: Date.now(), generation: 0.5 }
  if (isSignedIn) stored.set(NAME, '0.5')
  for (const tab of [kit.open(), kit.open(), kit.open()]) {
    if (!isSignedIn) continue
    tab.session.set(NAME, JSON.stringify(first))
    load(tab)
  }
  return kit
}

const when = commandsOf<Kit>()
const numbers = fc.nat(MOST_TABS - 1)
const whenTab = (name: string, run: (kit: Kit, tab: Tab) => unknown) =>
  when(name, numbers, (kit, number) => {
    const tab = kit.tabs[number]
    return tab && !tab.isClosed && run(kit, tab)
  })

const commands = [
  ...often(
    4,
    whenTab('call in tab', (kit, { page: shown }) => void (shown && kit.token(shown))),
  ),
  ...often(
    3,
    whenTab('sign out in tab', (kit, tab) => kit.signOut(tab)),
  ),
  whenTab('sign out, and call in tab', (kit, tab) => {
    kit.signOut(tab)
    if (tab.page) void kit.token(tab.page)
  }),
  whenTab('sign out, and adopt a token in tab', (kit, tab) => {
    kit.signOut(tab)
    kit.adopt(tab)
  }),
  whenTab('adopt a token in tab', (kit, tab) => kit.adopt(tab)),
  whenTab('sign out, and leave the page in tab', (kit, tab) => {
    kit.signOut(tab)
    kit.leave(tab)
  }),
  ...often(
    2,
    whenTab('sign out, while all other tabs load: tab', (kit, tab) => {
      kit.signOut(tab)
      for (const other of kit.tabs) if (other !== tab && other.page) kit.load(other)
    }),
  ),
  ...often(
    3,
    whenTab('load the page in tab', (kit, tab) => kit.load(tab)),
  ),
  whenTab('leave the page in tab', (kit, tab) => kit.leave(tab)),
  whenTab('close tab', (kit, tab) => {
    kit.leave(tab)
    tab.isClosed = true
  }),
  when(
    'open a tab',
    ['new'],
    (kit) => void kit.open(),
    ({ tabs }) => tabs.length < MOST_TABS,
  ),
  when('pass', [1, 100, 1000], ({ world }, ms) => world.pass(ms)),
  when('jump', [-86_400_000, -3000, 3000], ({ world }, ms) => world.jump(ms)),
]

describe('tabs that share and keep a token', () => {
  const states = [
    ['signed in', true],
    ['new', false],
  ] as const
  const promise = 'a sign-out ends all that is from before it, whatever arrives late and whatever the clocks show'
  for (const [state, isSignedIn] of states)
    itHolds(`${promise}: tabs that are ${state}`, {
      commands,
      maxCommands: 20,
      runs: 150,
      create: (world, respond) => create(isSignedIn, world, respond),
      async finish(kit, drain) {
        const { world } = kit
        const rest = async () => {
          for (let i = 0; i < 5; i++) {
            await drain()
            await world.pass(200)
          }
        }
        await rest()
        kit.mustBeSignedOut('in the end')
        const open = kit.tabs.filter(({ isClosed }) => !isClosed)
        for (const tab of open) kit.load(tab)
        kit.mustBeSignedOut('after a reload')
        await rest()
        // From here on nothing is under way, so one sign-in is enough for all tabs.
        const { length } = kit.issued
        for (const round of ['first', 'second']) {
          for (const shown of kit.pages()) {
            const result = kit.token(shown)
            await rest()
            const token = await result
            world.must(token !== undefined, `every tab gets a token: ${round}`)
          }
          world.must(kit.issued.length <= length + 1, 'all tabs share one sign-in')
          for (const tab of open) kit.load(tab)
          await rest()
          const isKept = kit.pages().every(({ client }) => client.state.expiresAt !== undefined)
          world.must(isKept, 'a reload keeps the token')
        }
        expect(world.broken).toEqual([])
        await settle()
      },
    })
})

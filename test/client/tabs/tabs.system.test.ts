import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { until } from '../../support/concurrency.js'
import { NO_CHROMIUM, shareBrowser } from '../../support/services/chromium.js'
import { EMAIL, PASSWORD, startFaultServer, TOKEN_PATH } from '../faults/server.js'

const DIST = fileURLToPath(new URL('../../../dist', import.meta.url))

const PAGE = `<!doctype html><title>tab</title><script type="module">
  import { createTokenClient, keepInTab, shareBetweenTabs } from '/dist/client.js'
  Object.assign(window, { keepInTab, shareBetweenTabs })
  window.make = (tabs, options) => {
    window.asked = 0
    window.states = []
    window.api = createTokenClient({
      url: location.origin,
      credentials: () => { asked++; return { email: '${EMAIL}', password: '${PASSWORD}' } },
      tabs: tabs ? shareBetweenTabs() : undefined,
      ...options,
    })
    api.onChange((state) => states.push(state.expiresAt))
  }
  window.channel = new BroadcastChannel('express-token-endpoint ' + location.origin + '${TOKEN_PATH}')
  document.body.textContent = 'ready'
</script><body></body>`

/** Starts an API that also serves the client to browsers. */
async function startSite() {
  const server = await startFaultServer()
  onTestFinished(server.stop)
  server.always.api = (res, seen) => {
    if (seen.path === '/') return res.writeHead(200, { 'Content-Type': 'text/html' }).end(PAGE)
    if (!seen.path.startsWith('/dist/')) return server.answerApi(res, seen)
    // A sandboxed frame has no origin.
    const headers = { 'Content-Type': 'text/javascript', 'Access-Control-Allow-Origin': '*' }
    return res.writeHead(200, headers).end(readFileSync(DIST + seen.path.slice(5)))
  }
  return server
}

describe.skipIf(NO_CHROMIUM)('several tabs in Chromium', () => {
  const browser = shareBrowser()

  const ready = async (page: Page, url: string, make = 'make(true)') => {
    await page.goto(url)
    await page.getByText('ready').waitFor()
    await page.evaluate(make)
    return page
  }

  /** Starts a site, and opens it in tabs of one profile. */
  async function openTabs(count: number, make?: string) {
    const server = await startSite()
    const context = await browser().newContext()
    onTestFinished(() => context.close())
    const open = async () => ready(await context.newPage(), server.url, make)
    const tabs = (await Promise.all(Array.from({ length: count }, open))) as [Page, Page]
    return [server, ...tabs] as const
  }

  const call = (page: Page) => page.evaluate('api.fetch("/x").then(({ status }) => status)')
  const token = (page: Page) => page.evaluate('api.token()')

  it.each(['keepInTab()', 'keepInTab(shareBetweenTabs())'])(
    'a reload stays signed in with %s, until a sign-out',
    async (tabs) => {
      const make = `make(false, { tabs: ${tabs} })`
      const [server, page] = await openTabs(1, make)
      const reload = () => ready(page, server.url, make)
      const first = await token(page)
      await reload()
      expect(await page.evaluate('api.state.expiresAt > Date.now()')).toBe(true)
      expect([await call(page), await token(page), await page.evaluate('asked')]).toEqual([200, first, 0])
      server.revoke()
      expect(await call(page)).toBe(200)
      await reload()
      expect(await token(page)).not.toBe(first)
      expect(server.seen.token).toHaveLength(2)
      await page.evaluate('api.signOut()')
      await reload()
      expect(await page.evaluate('[api.state.expiresAt, sessionStorage.length]')).toEqual([undefined, 0])
    },
  )

  it('a tab takes the token that another tab has adopted, when its own is refused', async () => {
    const [server, one, two] = await openTabs(2)
    await Promise.all([call(one), call(two)])
    await one.evaluate(`api.adopt({ token: 'Adopted', expiresAt: Date.now() + 3_600_000 })`)
    server.always.api = (res, { authorization }) => res.writeHead(authorization === 'Bearer Adopted' ? 200 : 401).end()
    expect(await call(two)).toBe(200)
    expect(server.seen.token).toHaveLength(1)
  })

  it('a tab that opens later uses the token of the first, and asks nobody for credentials', async () => {
    const [server, first] = await openTabs(1)
    await call(first)
    const later = await ready(await first.context().newPage(), server.url)
    expect(await call(later)).toBe(200)
    expect(await later.evaluate('asked')).toBe(0)
    expect(server.seen.token).toHaveLength(1)
  })

  it('a tab knows how old the token of another is', async () => {
    const [server, first, second] = await openTabs(2)
    await first.evaluate(`(async () => {
      const { now } = Date
      Date.now = () => now() - 3_000_000
      await api.token()
      Date.now = now
    })()`)
    await call(second)
    expect(await second.evaluate('states.at(-1) - Date.now()')).toBeLessThan(700_000)
    expect(server.seen.token).toHaveLength(1)
  })

  it('a renewal after a revoked token is one sign-in for all tabs', async () => {
    const [server, ...tabs] = await openTabs(3)
    await Promise.all(tabs.map(call))
    server.revoke()
    expect(await Promise.all(tabs.map(call))).toEqual([200, 200, 200])
    expect(server.seen.token).toHaveLength(2)
  })

  it('a sign-out in one tab signs out the others', async () => {
    const [server, one, two] = await openTabs(2)
    await Promise.all([call(one), call(two)])
    await one.evaluate('api.signOut()')
    await two.waitForFunction('states.at(-1) === undefined && states.length > 1')
    expect(await call(two)).toBe(200)
    expect(server.seen.token).toHaveLength(2)
  })

  it('a refusal of another tab from before a sign-out is forgotten', async () => {
    const [, one, two] = await openTabs(2)
    await one.evaluate('api.signOut()')
    await two.evaluate(
      `for (const message of ['refused', { news: 'refused', generation: 0 }]) channel.postMessage(message)`,
    )
    // The tab has received the messages before its own question.
    expect(await token(one)).toMatch(/^T.{20}/)
  })

  describe('that keep the token', () => {
    const KEEPING = 'make(false, { tabs: keepInTab(shareBetweenTabs()) })'
    const ROUNDS = 20
    const isSignedIn = (page: Page) => page.evaluate('api.state.expiresAt !== undefined')
    const signOut = (page: Page) => page.evaluate('api.signOut()')

    /** Waits until both tabs have received all messages of one: both have responded to a question of it. */
    const received = (from: Page) =>
      from.evaluate(`new Promise((resolve) => {
        let missing = 2
        const asker = new BroadcastChannel(channel.name)
        asker.onmessage = ({ data }) => data.response === 0.25 && !--missing && resolve(asker.close())
        asker.postMessage({ question: 0.25 })
      })`)

    /** Loads a page in a tab, and creates its client while something happens in another tab. */
    const loadDuring = async (page: Page, url: string, work: () => Promise<unknown>) => {
      await ready(page, url, '0')
      await Promise.all([work(), page.evaluate(KEEPING)])
    }

    it('a sign-out in one tab stays a sign-out in the other', { timeout: 60_000 }, async () => {
      const [, one, two] = await openTabs(2, KEEPING)
      const results: unknown[] = []
      for (let i = 0; i < ROUNDS; i++) {
        const alice = await token(one)
        expect(await token(two)).toBe(alice)
        await signOut(one)
        await received(one)
        // The next person must sign in.
        results.push([await isSignedIn(two), (await token(two)) === alice])
      }
      expect(results).toEqual(Array(ROUNDS).fill([false, false]))
    })

    it('a tab that loads during a sign-out does not stay signed in', { timeout: 60_000 }, async () => {
      const [server, one, two] = await openTabs(2, KEEPING)
      for (let i = 0; i < ROUNDS; i++) {
        await Promise.all([call(one), call(two)])
        await loadDuring(two, server.url, () => signOut(one))
        await two.waitForFunction('api.state.expiresAt === undefined', null, { timeout: 5000 })
        expect(await isSignedIn(one)).toBe(false)
      }
    })

    it('a tab that loads while the only other tab signs out and closes does not stay signed in', {
      timeout: 60_000,
    }, async () => {
      const [server, first, two] = await openTabs(2, KEEPING)
      let one = first
      for (let i = 0; i < ROUNDS; i++) {
        await Promise.all([call(one), call(two)])
        await loadDuring(two, server.url, () => one.evaluate('api.signOut(); channel.close()').then(() => one.close()))
        await two.waitForFunction('api.state.expiresAt === undefined', null, { timeout: 5000 })
        one = (await ready(await two.context().newPage(), server.url, KEEPING)) as typeof one
      }
    })

    it('a tab that was on another page is signed out, also when the clock was set back before', async () => {
      const [server, one, two] = await openTabs(2, KEEPING)
      await Promise.all([call(one), call(two)])
      await two.goto('about:blank')
      await one.evaluate('const { now } = Date; Date.now = () => now() - 3000; api.signOut()')
      await ready(two, server.url, KEEPING)
      expect(await isSignedIn(two)).toBe(false)
    })

    it('a sign-in directly after a sign-out survives a reload, and is shared', async () => {
      const [server, one, two] = await openTabs(2, KEEPING)
      await Promise.all([call(one), call(two)])
      await signOut(one)
      const next = await token(one)
      await ready(one, server.url, KEEPING)
      expect([await token(one), await token(two)]).toEqual([next, next])
      await ready(two, server.url, KEEPING)
      expect(await token(two)).toBe(next)
      expect(server.seen.token).toHaveLength(2)
    })
  })

  it('a tab that closes while it signs in leaves the sign-in to another', async () => {
    const [server, one, two] = await openTabs(2)
    const held: (() => void)[] = []
    server.next.token.push((res, seen) => held.push(() => server.answerToken(res, seen)))
    void call(one).catch(() => {})
    await until(() => expect(held).toHaveLength(1))
    const result = call(two)
    await one.close()
    expect(await result).toBe(200)
    expect(server.seen.token).toHaveLength(2)
  })

  it('tabs with a wrong password cause one failed login', async () => {
    const [server, ...tabs] = await openTabs(4)
    server.always.token = (res) => res.writeHead(403).end()
    const code = (page: Page) => page.evaluate('api.token().catch(({ code }) => code)')
    expect(await Promise.all(tabs.map(code))).toEqual(['refused', 'refused', 'refused', 'refused'])
    expect(await Promise.all(tabs.map(code))).toEqual(['refused', 'refused', 'refused', 'refused'])
    expect(server.seen.token).toHaveLength(1)
  })

  it('a tab that has signed out takes no token of another', async () => {
    const [, one, two] = await openTabs(2)
    await Promise.all([call(one), call(two)])
    await two.evaluate('api.signOut()')
    await one.waitForFunction('states.at(-1) === undefined && states.length > 1')
    await call(one)
    // A response to the question shows that the message with the token has arrived before.
    await two.evaluate(`new Promise((resolve) => {
      channel.onmessage = resolve
      channel.postMessage({ question: 0.5 })
    })`)
    expect(await two.evaluate('states.at(-1)')).toBe(undefined)
  })

  it.each([
    ['whose sign-in began before the sign-out', '{ token: "Told", lifetime: 3_600_000, receivedAt: Date.now() }', 0],
    ['that has expired', '{ token: "Told", lifetime: 1, receivedAt: Date.now() - 10 }', 9e15],
  ])('a tab takes no token %s', async (_, grant, generation) => {
    const [server, one, two] = await openTabs(2)
    await call(one)
    await two.evaluate(`
      channel.onmessage = ({ data }) => data.question && channel.postMessage({ news: ${grant}, generation: ${generation} })`)
    await one.evaluate('api.signOut()')
    expect(await token(one)).toMatch(/^T.{20}/)
    expect(server.seen.token).toHaveLength(2)
  })

  it('tabs that know of an earlier sign-out use the token of a tab that opens later', async () => {
    const [server, first] = await openTabs(1)
    await call(first)
    await first.evaluate('api.signOut()')
    const later = await ready(await first.context().newPage(), server.url)
    const shared = await token(later)
    expect(await token(first)).toBe(shared)
    expect(server.seen.token).toHaveLength(2)
  })

  it('foreign messages on the channel change nothing', async () => {
    const [, one, two] = await openTabs(2)
    const errors: unknown[] = []
    one.on('pageerror', (error) => errors.push(error))
    const before = await token(one)
    await two.evaluate(`
      const now = Date.now()
      for (const message of [
        null, 1, 'x', {}, { response: 1 }, { generation: 9e15 }, { generation: NaN },
        { news: { token: 'T\\r\\nX: 1', lifetime: 1e9, receivedAt: now }, generation: 9e15 },
        { news: { token: 'T', lifetime: 'x', receivedAt: now }, generation: 9e15 },
        { news: { token: 'T', lifetime: 1e9, receivedAt: now } },
      ]) channel.postMessage(message)`)
    expect(await token(two)).toBe(before)
    expect(await token(one)).toBe(before)
    expect(errors).toEqual([])
  })

  it('tabs that share wait for no timer, because timers of a hidden tab take up to a minute', async () => {
    const [server, ...tabs] = await openTabs(3)
    for (const tab of tabs) await tab.evaluate('window.setTimeout = () => 0')
    expect(await Promise.all(tabs.map(call))).toEqual([200, 200, 200])
    expect(server.seen.token).toHaveLength(1)
  })

  it('a page that may not use locks signs in, for example in a sandboxed frame', async () => {
    const [server, page] = await openTabs(1)
    const { answerToken } = server
    const allowed = { 'Access-Control-Allow-Origin': '*', 'Access-Control-Allow-Headers': 'content-type' }
    server.always.token = (res, seen) => {
      for (const [name, value] of Object.entries(allowed)) res.setHeader(name, value)
      return seen.method === 'OPTIONS' ? res.writeHead(204).end() : answerToken(res, seen)
    }
    await page.setContent(`<iframe sandbox="allow-scripts" src="${server.url}"></iframe>`)
    const frame = await (await page.waitForSelector('iframe')).contentFrame()
    await frame?.getByText('ready').waitFor()
    await frame?.evaluate('make(true)')
    expect(await frame?.evaluate('navigator.locks.request("x", () => 1).catch(({ name }) => name)')).toBe(
      'SecurityError',
    )
    expect(await frame?.evaluate('api.token()')).toMatch(/^T.{20}/)
  })

  it('the fetch of the window works as the option "fetch"', async () => {
    const [, page] = await openTabs(1)
    await page.evaluate('make(false, { fetch: window.fetch })')
    expect(await call(page)).toBe(200)
  })

  it('the cache of the browser gives nobody the page of another person', async () => {
    const [server, page] = await openTabs(1, 'make(false)')
    const usual = server.always.api
    server.always.api = (res, seen) => {
      if (seen.path !== '/me') return usual?.(res, seen)
      return res.writeHead(200, { 'Cache-Control': 'private, max-age=600' }).end(seen.authorization)
    }
    const me = (init: string) => page.evaluate<string>(`api.fetch('/me', ${init}).then((response) => response.text())`)
    const pages = [await me('{}'), await me('{ cache: "default" }')]
    await page.evaluate('api.signOut()')
    pages.push(await me('{}'), await me('{ cache: "default" }'))
    expect(pages.map((text) => pages.indexOf(text))).toEqual([0, 0, 2, 0])
  })

  it('nothing is stored', async () => {
    const [, one] = await openTabs(1)
    await call(one)
    const stored = await one.evaluate(
      'indexedDB.databases().then((list) => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, list]))',
    )
    expect(stored).toBe('[{},{},"",[]]')
  })

  it('the browser sends no token after a redirect to another origin', async () => {
    const [[server, page], other] = [await openTabs(1), await startFaultServer()]
    onTestFinished(other.stop)
    const open = { 'Access-Control-Allow-Origin': '*', 'Access-Control-Allow-Headers': '*' }
    other.always.api = (res) => res.writeHead(200, open).end()
    server.next.api.push((res) => res.writeHead(302, { Location: `${other.url}/x` }).end())
    expect(await call(page)).toBe(200)
    expect(other.seen.api.map(({ authorization }) => authorization)).toEqual([undefined])
  })

  it('the browser follows no redirect of the token call', async () => {
    const [[server, page], other] = [await openTabs(1), await startFaultServer()]
    onTestFinished(other.stop)
    server.always.token = (res) => res.writeHead(307, { Location: other.url + TOKEN_PATH }).end()
    expect(await page.evaluate('api.token().catch(({ code }) => code)')).toBe('unexpected')
    expect(other.seen.token).toEqual([])
  })
})

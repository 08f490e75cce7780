import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { firstState, nextState, type RefreshState } from '../../../src/sessions/refresh/refresh-state.js'
import { until } from '../../support/concurrency.js'
import { NO_CHROMIUM, shareBrowser } from '../../support/services/chromium.js'
import { TOKEN_PATH } from '../faults/server.js'
import { GRACE } from './server.js'

const DIST = fileURLToPath(new URL('../../../dist', import.meta.url))

const PAGE = `<!doctype html><title>tab</title><script type="module">
  import { createTokenClient } from '/dist/client.js'
  window.asked = 0
  window.api = createTokenClient({
    url: location.origin,
    refresh: 'cookie',
    interactive: true,
    credentials: () => { asked++; return { email: 'alice@example.com', password: 'secret' } },
  })
  document.body.textContent = 'ready'
</script><body></body>`

/** Starts an API whose sessions are in cookies. */
async function startSite() {
  const sessions = new Map<string, RefreshState>()
  const routes: string[] = []
  const state = { isDown: false, isSilent: false }
  let issued = 0
  const server = createServer((req, res) => {
    const path = req.url ?? ''
    if (path === '/') return res.writeHead(200, { 'Content-Type': 'text/html' }).end(PAGE)
    if (path.startsWith('/dist/'))
      return res.writeHead(200, { 'Content-Type': 'text/javascript' }).end(readFileSync(DIST + path.slice(5)))
    if (!path.startsWith(TOKEN_PATH)) return res.writeHead(404).end()
    const route = path.slice(TOKEN_PATH.length)
    routes.push(route)
    if (state.isSilent) return undefined
    if (state.isDown) return res.writeHead(503, { 'Retry-After': '100' }).end()
    const [, id = '', generation] = /refresh=(\w+)\.(\d+)/.exec(req.headers.cookie ?? '') ?? []
    const setCookie = (text: string, age: number) =>
      res.setHeader('Set-Cookie', `refresh=${text}; HttpOnly; SameSite=Strict; Path=${TOKEN_PATH}; Max-Age=${age}`)
    const grant = (session: string, next: RefreshState) => {
      sessions.set(session, next)
      setCookie(`${session}.${next.generation}`, 1000)
      const expiration = new Date(Date.now() + 600_000).toISOString()
      res.end(JSON.stringify({ authenticationToken: `${session}.${++issued}`, expiration }))
    }
    if (!route) return grant(`S${sessions.size + 1}`, firstState({ remember: true, passwordTag: '' }))
    const found = sessions.get(id)
    const next =
      route === '/refresh' &&
      found &&
      nextState(found, Number(generation), { now: Date.now(), presentedAt: Date.now(), grace: GRACE })
    if (next) return grant(id, next)
    sessions.delete(id)
    setCookie('', 0)
    return res.writeHead(route === '/refresh' ? 403 : 204).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, sessions, routes, state }
}

describe.skipIf(NO_CHROMIUM)('refresh: "cookie" in Chromium', () => {
  const browser = shareBrowser()

  async function ready(page: Page, url: string) {
    await page.goto(url)
    await page.getByText('ready').waitFor()
    return page
  }

  /** Starts a site, and opens it in three tabs of one profile. */
  async function openTabs() {
    const site = await startSite()
    const context = await browser().newContext()
    onTestFinished(() => context.close())
    const tabs = await Promise.all([1, 2, 3].map(async () => ready(await context.newPage(), site.url)))
    return { ...site, tabs: tabs as [Page, Page, Page] }
  }

  const token = (page: Page) => page.evaluate<string>('api.token()')
  const asked = (tabs: Page[]) => Promise.all(tabs.map((tab) => tab.evaluate('asked')))

  it('three tabs refresh again and again, and only the first asks for credentials', async () => {
    const { tabs, sessions, routes } = await openTabs()
    await token(tabs[0])
    // The sign-in of another tab is theirs only after a restore.
    expect(await tabs[1].evaluate('api.token().catch(({ code }) => code)')).toBe('signed_out')
    for (const tab of tabs.slice(1)) expect(await tab.evaluate('api.restore()')).toBe(true)
    const renew = (tab: Page) => tab.evaluate('api.token().then((rejected) => api.token({ rejected }))')
    for (let rounds = 0; rounds < 2; rounds++) await Promise.all(tabs.map(renew))
    expect(await asked(tabs)).toEqual([1, 0, 0])
    expect([sessions.size, routes.filter((route) => route === '/refresh').length]).toEqual([1, 9])
    const seen = '[localStorage.length, sessionStorage.length, document.cookie]'
    expect(await tabs[0].evaluate(seen)).toEqual([1, 0, ''])
  })

  it('a reload shows no form, and an outage signs nobody out', async () => {
    const { tabs, url, state } = await openTabs()
    await token(tabs[0])
    const page = await ready(tabs[0], url)
    expect(await page.evaluate('api.restore()')).toBe(true)
    state.isDown = true
    await ready(page, url)
    expect(await page.evaluate('api.restore().catch(({ code }) => code)')).toBe('try_later')
    state.isDown = false
    await ready(page, url)
    expect(await page.evaluate('api.restore()')).toBe(true)
    expect(await asked(tabs)).toEqual([0, 0, 0])
  })

  it('a tab that closes during its refresh leaves the lock to another tab', async () => {
    const { tabs, routes, state } = await openTabs()
    await token(tabs[0])
    state.isSilent = true
    const before = routes.length
    void tabs[1].evaluate('api.restore()').catch(() => {})
    await until(() => expect(routes.length).toBeGreaterThan(before))
    const restored = tabs[2].evaluate('api.restore()')
    state.isSilent = false
    await tabs[1].close()
    expect(await restored).toBe(true)
  })

  it('a sign-out in one tab signs out all tabs, also when its page closes at once', async () => {
    const { tabs, sessions } = await openTabs()
    await token(tabs[0])
    expect(await tabs[1].evaluate('api.restore()')).toBe(true)
    await tabs[0].evaluate('void api.signOut()')
    await tabs[0].close({ runBeforeUnload: false })
    await until(() => expect(sessions.size).toBe(0))
    await tabs[1].waitForFunction('api.state.expiresAt === undefined')
    expect(await tabs[2].evaluate('api.restore()')).toBe(false)
  })
})

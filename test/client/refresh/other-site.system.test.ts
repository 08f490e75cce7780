import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import cors from 'cors'
import express from 'express'
import { createAuth, memoryAccounts, memoryStore } from 'express-token-endpoint'
import { type BrowserContext, chromium, type Page } from 'playwright-core'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { root } from '../../support/documents/repository.js'
import { ACCOUNTS, fastPasswords, PASSWORD, SECRET } from '../../support/fixtures.js'
import { createCertificate } from '../../support/services/certificate.js'
import { ARGS, EXECUTABLE, NO_CHROMIUM, shareBrowser } from '../../support/services/chromium.js'

const { id, email } = ACCOUNTS.alice
const TOKEN = '/api/v2013/authentication/token'

/** All names are those of loopback. */
const NAMES = '--host-resolver-rules=MAP *.test 127.0.0.1'

/** The page, which is on another site than its API. */
const page = (api: string) => `<!doctype html><title>page</title><script type="module">
  import { createTokenClient } from '/dist/client.js'
  window.asked = 0
  window.api = createTokenClient({
    url: '${api}',
    refresh: 'cookie',
    interactive: true,
    credentials: () => { asked++; return { email: '${email}', password: '${PASSWORD}' } },
  })
  document.body.append('ready')
</script><body></body>`

/** Sends what a page without a permission can send: a request, a form, and a navigation. */
const ATTACKS = (api: string) => `(async () => {
  const url = '${api}${TOKEN}'
  for (const path of ['/refresh', '/sign-out', '']) {
    await fetch(url + path, { method: 'POST', mode: 'no-cors', credentials: 'include' }).catch(() => {})
    await fetch(url + path, { method: 'POST', credentials: 'include' }).catch(() => {})
    await fetch(url + path, { method: 'POST', mode: 'no-cors', credentials: 'include', referrerPolicy: 'no-referrer' }).catch(() => {})
    navigator.sendBeacon(url + path)
    const frame = document.body.appendChild(Object.assign(document.createElement('iframe'), { name: 'frame' + path }))
    const form = document.body.appendChild(Object.assign(document.createElement('form'), { action: url + path, method: 'post', target: frame.name }))
    await new Promise((done) => { frame.onload = done; form.submit() })
  }
  const sandbox = Object.assign(document.createElement('iframe'), { srcdoc: '<script>fetch("' + url + '/sign-out", { method: "POST", mode: "no-cors", credentials: "include" }).finally(() => parent.postMessage("sent", "*"))</scr' + 'ipt>' })
  sandbox.sandbox = 'allow-scripts'
  await new Promise((done) => { addEventListener('message', done); document.body.append(sandbox) })
})()`

describe.skipIf(NO_CHROMIUM)('a page on another site than its API, in Chromium', () => {
  const browser = shareBrowser(NAMES, '--test-third-party-cookie-phaseout')
  /** A profile that blocks third-party cookies. */
  const blocking = () => browser().newContext({ ignoreHTTPSErrors: true })
  /** A profile that sends third-party cookies. A temporary one of a browser would block them. */
  async function usual() {
    const folder = mkdtempSync(join(tmpdir(), 'profile-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    mkdirSync(join(folder, 'Default'))
    const profile = { block_third_party_cookies: false, cookie_controls_mode: 0 }
    writeFileSync(join(folder, 'Default', 'Preferences'), JSON.stringify({ profile }))
    const options = { executablePath: EXECUTABLE, args: [...ARGS, NAMES], ignoreHTTPSErrors: true }
    return chromium.launchPersistentContext(folder, options)
  }
  let tls: Awaited<ReturnType<typeof createCertificate>>
  beforeAll(async () => {
    tls = await createCertificate('DNS:*.site.test,DNS:api.service.test,DNS:evil.test')
    return tls.remove
  })

  /** Starts an API at `api.service.test`, whose server has pages at all names. */
  async function start(partitioned: boolean) {
    const app = express()
    const server = createServer(tls, app).listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => {
      server.closeAllConnections()
      server.close()
    })
    const { port } = server.address() as AddressInfo
    const at = (name: string) => `https://${name}.test:${port}`
    const [api, own] = [at('api.service'), at('app.site')]
    const store = memoryStore()
    const auth = createAuth({
      issuer: api,
      secret: SECRET,
      accounts: memoryAccounts([ACCOUNTS.alice]),
      passwords: fastPasswords(),
      store,
      refresh: { cookie: { sameSite: 'none', partitioned } },
      allowedOrigins: [own],
    })
    /** The requests to the token endpoint, with the status of their responses. */
    const seen: { path: string; origin: string | undefined; hasCookie: boolean; status: number }[] = []
    app.use((req, res, next) => {
      const { origin, cookie } = req.headers
      if (req.path.startsWith(TOKEN) && req.method !== 'OPTIONS')
        res.on('finish', () =>
          seen.push({
            path: req.path.slice(TOKEN.length),
            origin,
            hasCookie: cookie !== undefined,
            status: res.statusCode,
          }),
        )
      next()
    })
    app.get('/', (_req, res) => void res.type('html').send(page(api)))
    app.get(/^\/dist\//, (req, res) => void res.type('js').send(readFileSync(root + req.path.slice(1))))
    app.use(cors({ origin: [own], credentials: true }))
    app.use(auth.router)
    app.get('/me', auth.guard(), (req, res) => void res.json(auth.userOf(req).id))
    return { at, api, own, auth, seen }
  }

  async function open(profile: Promise<BrowserContext>, urls: string[]) {
    const context = await profile
    onTestFinished(() => context.close())
    const pages: Page[] = []
    for (const url of urls) {
      const tab = await context.newPage()
      await tab.goto(url)
      await tab.getByText('ready').waitFor()
      pages.push(tab)
    }
    return pages as [Page, ...Page[]]
  }

  const me = (tab: Page) => tab.evaluate('api.fetch("/me").then((response) => response.json())')
  const reload = async (tab: Page) => {
    await tab.reload()
    await tab.getByText('ready').waitFor()
    return tab.evaluate('api.restore()')
  }

  it.each([
    ['sends third-party cookies', usual],
    ['blocks third-party cookies', blocking],
  ])('a browser that %s keeps the user signed in, until the sign-out', async (_, profile) => {
    const { own, auth } = await start(true)
    const [tab, second] = await open(profile(), [own, own])
    expect(await me(tab)).toBe(id)
    expect(await reload(tab)).toBe(true)
    expect(await me(tab)).toBe(id)
    expect(await second?.evaluate('api.restore()')).toBe(true)
    expect(await auth.sessions.list(id)).toHaveLength(1)
    await tab.evaluate('api.signOut()')
    expect(await reload(tab)).toBe(false)
    expect(await auth.sessions.list(id)).toEqual([])
  })

  it('without "partitioned", a browser that blocks third-party cookies asks again after a reload', async () => {
    const { own } = await start(false)
    const [tab] = await open(blocking(), [own])
    expect(await me(tab)).toBe(id)
    expect(await reload(tab)).toBe(false)
    const [other] = await open(usual(), [own])
    expect(await me(other)).toBe(id)
    expect(await reload(other)).toBe(true)
  })

  it.each([true, false])(
    'a third site and a sibling of the page neither use nor end the session: partitioned %s',
    async (partitioned) => {
      const { at, api, own, auth, seen } = await start(partitioned)
      const [tab, third, sibling] = await open(usual(), [own, at('evil'), at('blog.site')])
      expect(await me(tab)).toBe(id)
      seen.length = 0
      for (const attacker of [third, sibling]) await attacker?.evaluate(ATTACKS(api))
      expect(seen.filter(({ status }) => status < 400)).toEqual([])
      // The browser has sent the cookie: for a partitioned one only from the page's own site.
      const withCookie = new Set(seen.filter(({ hasCookie }) => hasCookie).map(({ origin }) => origin))
      expect(withCookie.has(at('blog.site'))).toBe(true)
      expect(withCookie.has(at('evil'))).toBe(!partitioned)
      expect(seen.some(({ origin }) => origin === 'null')).toBe(true)
      expect(await reload(tab)).toBe(true)
      expect(await auth.sessions.list(id)).toHaveLength(1)
      for (const attacker of [third, sibling])
        expect(await attacker?.evaluate('api.restore().catch(({ code }) => code)')).toBe('unreachable')
    },
  )
})

import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import express from 'express'
import { createAuth, memoryAccounts, memoryStore } from 'express-token-endpoint'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { readPage } from '../../support/documents/pages.ts'
import { root } from '../../support/documents/repository.ts'
import { ACCOUNTS, fastPasswords, PASSWORD, SECRET } from '../../support/fixtures.js'
import { TOKEN_PATH } from '../../support/http.js'
import { NO_HOSTS } from '../kit.js'

const require = createRequire(import.meta.url)
const { blocks } = readPage('docs/guides/pages-and-apps.md')
const codeOf = (name) => blocks.find((block) => block.name === name).code
const COOKIE = '__Secure-refresh'

/** Starts the API, and the servers of pages that stop with the test. */
async function startApi() {
  const auth = createAuth({
    issuer: 'https://api.example.com',
    secret: SECRET,
    accounts: memoryAccounts(Object.values(ACCOUNTS).map((account) => ({ ...account }))),
    passwords: fastPasswords(),
    store: memoryStore(),
    refresh: { cookie: { path: '/' } },
  })
  const state = { isDown: false, addresses: [] }
  const app = express().set('trust proxy', 'loopback')
  app.use((req, res, next) => {
    state.addresses.push(req.ip)
    return state.isDown ? res.sendStatus(503) : next()
  })
  app.use(auth.router)
  app.get('/me', auth.guard(), (req, res) => res.send(auth.userOf(req).id))
  return { ...(await serve(app)), auth, state }
}

async function serve(handler) {
  const server = createServer(handler).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const stop = () => {
    server.closeAllConnections()
    server.close()
  }
  return { url: `http://127.0.0.1:${server.address().port}`, stop }
}

/** A browser with one cookie. */
function browserOf(url) {
  let cookie
  return {
    get cookie() {
      return cookie
    },
    async go(path, init = {}) {
      const headers = { ...init.headers, ...(cookie && { Cookie: cookie }) }
      const response = await fetch(url + path, { ...init, headers, redirect: 'manual' })
      for (const line of response.headers.getSetCookie()) {
        const [pair, ...attributes] = line.split('; ')
        expect([pair.startsWith(`${COOKIE}=`), attributes.includes('Path=/')]).toEqual([true, true])
        cookie = attributes.includes('Max-Age=0') ? undefined : pair
      }
      return { status: response.status, text: await response.text(), headers: response.headers }
    },
    signIn: (own, email = ACCOUNTS.alice.email) =>
      own.go(TOKEN_PATH, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Origin: url, 'Sec-Fetch-Site': 'same-origin' },
        body: JSON.stringify({ email, password: PASSWORD }),
      }),
  }
}

/** A server of pages must do this. */
function expectPages(start) {
  it("shows the user after a sign-in through the page's server, and on every later page", async () => {
    const { url, auth } = await start()
    const browser = browserOf(url)
    expect((await browser.go('/')).text).toContain('Signed out')
    expect((await browser.signIn(browser)).status).toBe(200)
    const cookies = new Set()
    for (let pages = 0; pages < 3; pages++) {
      const { status, text, headers } = await browser.go('/')
      expect([status, text]).toEqual([200, expect.stringContaining(`Signed in as ${ACCOUNTS.alice.id}`)])
      expect(headers.get('cache-control') ?? 'no-store').toMatch(/no-store/)
      cookies.add(browser.cookie)
    }
    expect(cookies.size).toBe(3)
    await auth.sessions.endAll(ACCOUNTS.alice.id)
    expect((await browser.go('/')).text).toContain('Signed out')
    expect(browser.cookie).toBeUndefined()
  })

  it('renders pages of several users and several pages of one at the same time', async () => {
    const { url, auth } = await start()
    const browsers = [browserOf(url), browserOf(url)]
    const users = [ACCOUNTS.alice, ACCOUNTS.bob]
    for (const [i, browser] of browsers.entries()) await browser.signIn(browser, users[i].email)
    const pages = Array.from({ length: 12 }, (_, i) => browsers[i % 2].go('/'))
    for (const [i, { text }] of (await Promise.all(pages)).entries())
      expect(text).toContain(`Signed in as ${users[i % 2].id}`)
    for (const [i, browser] of browsers.entries()) {
      expect((await browser.go('/')).text).toContain(users[i].id)
      expect(await auth.sessions.list(users[i].id)).toHaveLength(1)
    }
  })

  it('responds with 503 while the API is down, and the user stays signed in', async () => {
    const { url, state } = await start()
    const browser = browserOf(url)
    await browser.signIn(browser)
    const { cookie } = browser
    state.isDown = true
    expect([(await browser.go('/')).status, browser.cookie]).toEqual([503, cookie])
    state.isDown = false
    expect((await browser.go('/')).text).toContain('Signed in as')
  })

  it('takes no token from a header of the browser', async () => {
    const { url, auth } = await start()
    const { authenticationToken } = await auth.signIn(
      ACCOUNTS.alice.id,
      { headers: {}, baseUrl: '' },
      { setHeader() {}, getHeader() {}, set() {} },
    )
    const { text } = await browserOf(url).go('/', { headers: { 'x-token': authenticationToken } })
    expect(text).toContain('Signed out')
  })
}

describe.skipIf(NO_HOSTS)('the page on server-rendered pages, with Next.js', () => {
  let folder
  let api
  let pages
  let app
  beforeAll(async () => {
    folder = mkdtempSync(fileURLToPath(new URL('../.next-', import.meta.url)))
    const files = { 'next.config.mjs': 'next-config', 'proxy.js': 'next-proxy', 'app/page.js': 'next-page' }
    mkdirSync(`${folder}/app`)
    for (const [file, name] of Object.entries(files)) writeFileSync(`${folder}/${file}`, codeOf(name))
    writeFileSync(`${folder}/app/layout.js`, 'export default ({ children }) => <html><body>{children}</body></html>\n')
    writeFileSync(`${folder}/package.json`, '{ "private": true, "type": "module" }')
    // Otherwise the paths of this project's tsconfig.json lead to the source.
    writeFileSync(`${folder}/jsconfig.json`, '{ "compilerOptions": { "paths": {} } }')
    const own = `${folder}/node_modules/express-token-endpoint`
    cpSync(`${root}dist`, `${own}/dist`, { recursive: true })
    cpSync(`${root}package.json`, `${own}/package.json`)
    api = await startApi()
    Object.assign(process.env, { API_URL: api.url, NEXT_TELEMETRY_DISABLED: '1' })
    await promisify(execFile)(process.execPath, [require.resolve('next/dist/bin/next'), 'build'], { cwd: folder })
    const { default: next } = await import('next')
    app = next({ dir: folder, dev: false, quiet: true })
    await app.prepare()
    pages = await serve(app.getRequestHandler())
  }, 600_000)
  afterAll(async () => {
    await app?.close()
    pages?.stop()
    api?.stop()
    if (folder) rmSync(folder, { recursive: true, force: true })
  })
  expectPages(async () => ({ ...api, url: pages.url }))
})

describe.skipIf(NO_HOSTS)('the page on server-rendered pages, with the server of Nuxt', () => {
  /** Starts h3, which runs the middleware of Nuxt. */
  async function start() {
    const api = await startApi()
    process.env['API_URL'] = api.url
    const folder = mkdtempSync(fileURLToPath(new URL('../.nuxt-', import.meta.url)))
    mkdirSync(`${folder}/node_modules`)
    symlinkSync(root, `${folder}/node_modules/express-token-endpoint`)
    writeFileSync(`${folder}/session.mjs`, codeOf('nuxt-middleware'))
    const { default: session } = await import(/* @vite-ignore */ pathToFileURL(`${folder}/session.mjs`).href)
    const { createApp, defineEventHandler, proxyRequest, toNodeListener } = await import('h3')
    const app = createApp().use(session)
    app.use(
      '/api',
      defineEventHandler((event) => proxyRequest(event, `${api.url}${event.node.req.originalUrl}`)),
    )
    app.use(
      '/',
      defineEventHandler(async ({ context: { token } }) => {
        if (!token) return 'Signed out'
        const response = await fetch(`${api.url}/me`, { headers: { Authorization: `Bearer ${token}` } })
        return `Signed in as ${await response.text()}`
      }),
    )
    const pages = await serve(toNodeListener(app))
    onTestFinished(() => {
      pages.stop()
      api.stop()
      rmSync(folder, { recursive: true })
    })
    return { ...api, url: pages.url }
  }
  expectPages(start)
})

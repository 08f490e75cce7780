import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { NO_CHROMIUM, shareBrowser } from '../support/services/chromium.js'
import { EMAIL, PASSWORD, startFaultServer, TOKEN_PATH } from './faults/server.js'

const DIST = fileURLToPath(new URL('../../dist', import.meta.url))

const PAGE = `<!doctype html><title>page</title><script type="module">
  import { createTokenClient } from '/dist/client.js'
  window.make = (options) => {
    const credentials = () => ({ email: '${EMAIL}', password: '${PASSWORD}' })
    window.api = createTokenClient({ url: location.origin, credentials, ...options })
  }
  document.body.textContent = 'ready'
</script><body></body>`

/** Starts an API that also serves the client to browsers. */
async function startSite() {
  const server = await startFaultServer()
  onTestFinished(server.stop)
  server.always.api = (res, seen) => {
    if (seen.path === '/') return res.writeHead(200, { 'Content-Type': 'text/html' }).end(PAGE)
    if (!seen.path.startsWith('/dist/')) return server.answerApi(res, seen)
    return res.writeHead(200, { 'Content-Type': 'text/javascript' }).end(readFileSync(DIST + seen.path.slice(5)))
  }
  return server
}

describe.skipIf(NO_CHROMIUM)('the client in Chromium', () => {
  const browser = shareBrowser()

  /** Starts a site, opens it, and creates a client in the page. */
  async function openPage(options = '{}') {
    const server = await startSite()
    const context = await browser().newContext()
    onTestFinished(() => context.close())
    const page = await context.newPage()
    await page.goto(server.url)
    await page.getByText('ready').waitFor()
    await page.evaluate(`make(${options})`)
    return [server, page] as const
  }

  const call = (page: Page) => page.evaluate('api.fetch("/x").then(({ status }) => status)')

  it('the fetch of the window works as the option "fetch"', async () => {
    const [, page] = await openPage('{ fetch: window.fetch }')
    expect(await call(page)).toBe(200)
  })

  it('the cache of the browser gives nobody the page of another person', async () => {
    const [server, page] = await openPage()
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
    const [, page] = await openPage()
    await call(page)
    const stored = await page.evaluate(
      'indexedDB.databases().then((list) => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, list]))',
    )
    expect(stored).toBe('[{},{},"",[]]')
  })

  it('the browser sends no token after a redirect to another origin', async () => {
    const [[server, page], other] = [await openPage(), await startFaultServer()]
    onTestFinished(other.stop)
    const open = { 'Access-Control-Allow-Origin': '*', 'Access-Control-Allow-Headers': '*' }
    other.always.api = (res) => res.writeHead(200, open).end()
    server.next.api.push((res) => res.writeHead(302, { Location: `${other.url}/x` }).end())
    expect(await call(page)).toBe(200)
    expect(other.seen.api.map(({ authorization }) => authorization)).toEqual([undefined])
  })

  it('the account calls work in a page, and follow no redirect', async () => {
    const [[server, page], other] = [await openPage(), await startFaultServer()]
    onTestFinished(other.stop)
    server.always.api = (res) => res.writeHead(204).end()
    const act = (code: string) => page.evaluate<string>(`api.${code}.then(() => 'done', ({ code }) => code)`)
    const reset = 'reset({ code: "c", password: "a new password" })'
    expect([await act(reset), await act('changeAddress("a@example.net")'), await act('remove()')]).toEqual(
      Array(3).fill('done'),
    )
    const calls = server.seen.api.filter(({ path }) => path.startsWith('/auth/account'))
    expect(calls.map(({ method, path, authorization }) => [method, path, authorization !== undefined])).toEqual([
      ['POST', '/auth/account/password/reset', false],
      ['POST', '/auth/account/address', true],
      ['DELETE', '/auth/account', true],
    ])
    server.always.api = (res) => res.writeHead(307, { Location: `${other.url}/x` }).end()
    expect([await act(reset), await act('remove()')]).toEqual(['unexpected', 'unexpected'])
    expect(other.seen.api).toEqual([])
  })

  it('the browser follows no redirect of the token call', async () => {
    const [[server, page], other] = [await openPage(), await startFaultServer()]
    onTestFinished(other.stop)
    server.always.token = (res) => res.writeHead(307, { Location: other.url + TOKEN_PATH }).end()
    expect(await page.evaluate('api.token().catch(({ code }) => code)')).toBe('unexpected')
    expect(other.seen.token).toEqual([])
  })
})

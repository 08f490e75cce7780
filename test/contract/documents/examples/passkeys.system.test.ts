import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Account, Auth } from 'express-token-endpoint'
import type { Page } from 'playwright-core'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { transpile } from '../../../support/documents/compiler.js'
import { startExamples } from '../../../support/documents/examples.js'
import { readPage } from '../../../support/documents/pages.js'
import { root } from '../../../support/documents/repository.js'
import { NO_CHROMIUM, shareBrowser } from '../../../support/services/chromium.js'

const { run } = startExamples(import.meta.url)

const script =
  readPage('docs/cookbook/other-sign-ins.md').blocks.find(({ name }) => name === 'passkeys-page')?.code ?? ''

const PAGE = `<!doctype html><title>passkeys</title><script type="module">
  import { createTokenClient } from '/dist/client.js'
  window.typed = 0
  window.api = createTokenClient({
    url: location.origin,
    refresh: 'cookie',
    interactive: true,
    credentials: () => { typed++; return { email: 'alice@example.com', password: 'secret' } },
  })
  document.body.textContent = 'ready'
</script><body></body>`

/** The names of the page, in Chromium. */
declare const api: { fetch(path: string): Promise<Response>; restore(): Promise<boolean>; signOut(): unknown }
declare const typed: number

interface Row {
  accountId: string
  counter: number
}

describe.skipIf(NO_CHROMIUM)('the page on passkeys, in Chromium with a virtual authenticator', () => {
  const browser = shareBrowser()

  async function start(instance: string) {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve))
    onTestFinished(() => {
      server.closeAllConnections()
      server.close()
    })
    const url = `http://localhost:${(server.address() as AddressInfo).port}`
    process.env['APP_ORIGIN'] = url
    const { app, auth, rows } = await run<{ auth: Auth<Account>; rows: Row[] }>('passkeys', instance)
    app.get('/me', auth.guard(), (req, res) => void res.json(auth.userOf(req).id))
    app.get('/', (_req, res) => void res.type('html').send(PAGE))
    app.get('/page.js', (_req, res) => void res.type('js').send(transpile(script)))
    app.get(/^\/dist\//, (req, res) => void res.type('js').send(readFileSync(root + req.path.slice(1))))
    server.on('request', app)

    const context = await browser().newContext()
    onTestFinished(() => context.close())
    const page = await context.newPage()
    const devtools = await context.newCDPSession(page)
    await devtools.send('WebAuthn.enable')
    const { authenticatorId } = await devtools.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
      },
    })
    await page.goto(url)
    await page.getByText('ready').waitFor()
    return { url, page, devtools, authenticatorId, auth, rows }
  }

  /** Calls a function of the page. */
  const call = (page: Page, name: 'addPasskey' | 'signInWithPasskey'): Promise<unknown> =>
    page.evaluate(`import('/page.js').then((page) => page.${name}())`)

  /** Signs in. Returns whether the server has accepted the passkey. */
  const signIn = (page: Page): Promise<boolean> =>
    call(page, 'signInWithPasskey').then(
      () => true,
      (error) => {
        if (String(error).includes('refused (403)')) return false
        throw error
      },
    )

  it('adds a passkey to the account that is signed in, and signs in with it instead of a password', async () => {
    const { page, rows } = await start('sign-in')
    expect(await call(page, 'signInWithPasskey').catch(({ message }) => message)).toContain('NotAllowedError')
    expect(await call(page, 'addPasskey')).toBe(true)
    expect(rows).toMatchObject([{ accountId: 'acc-1' }])
    expect(await call(page, 'addPasskey').catch(({ message }) => message)).toContain('InvalidStateError')
    await page.evaluate(() => api.signOut())
    expect(await page.evaluate(() => api.restore())).toBe(false)
    expect(await signIn(page)).toBe(true)
    const me = () => page.evaluate(async () => ({ me: await (await api.fetch('/me')).json(), typed }))
    expect(await me()).toEqual({ me: 'acc-1', typed: 1 })
    await page.reload()
    await page.getByText('ready').waitFor()
    expect(await page.evaluate(() => api.restore())).toBe(true)
    expect(await me()).toEqual({ me: 'acc-1', typed: 0 })
    expect(rows).toMatchObject([{ counter: expect.any(Number) }])
  })

  it('accepts each challenge once, for five minutes and for its own purpose', async () => {
    const { url, page } = await start('challenges')
    await call(page, 'addPasskey')
    let sent = ''
    const beforeSending = vi.fn()
    await page.route('**/sign-in/passkey', (route) => {
      sent = route.request().postData() ?? ''
      beforeSending()
      return route.continue()
    })
    expect(await signIn(page)).toBe(true)
    const replayed = await fetch(`${url}/sign-in/passkey`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: sent,
    })
    expect(replayed.status).toBe(403)

    beforeSending.mockImplementationOnce(() => vi.useFakeTimers({ now: Date.now() + 300_000, toFake: ['Date'] }))
    onTestFinished(() => void vi.useRealTimers())
    expect(await signIn(page)).toBe(false)
    vi.useRealTimers()
    expect(await signIn(page)).toBe(true)

    const other = await fetch(`${url}/sign-in/passkey/options`, { method: 'POST' })
    const { challenge } = (await other.json()) as { challenge: string }
    await page.route('**/passkeys/options', async (route) => {
      const response = await route.fetch()
      return route.fulfill({ response, json: { ...(await response.json()), challenge, excludeCredentials: [] } })
    })
    expect(await call(page, 'addPasskey')).toBe(false)
  })

  it('refuses a changed signature, a sign-in without the finger or PIN, and a passkey whose account is gone', async () => {
    const { page, devtools, authenticatorId, auth, rows } = await start('refusals')
    await call(page, 'addPasskey')
    await page.route('**/sign-in/passkey', (route) => {
      const body = JSON.parse(route.request().postData() ?? '')
      const signature = `${body.response.signature.slice(0, -6)}AAAAAA`
      return route.continue({ postData: JSON.stringify({ ...body, response: { ...body.response, signature } }) })
    })
    expect(await signIn(page)).toBe(false)
    await page.unroute('**/sign-in/passkey')
    await devtools.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false })
    expect(await call(page, 'signInWithPasskey').catch(({ message }) => message)).toContain('NotAllowedError')
    await devtools.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: true })
    expect(await signIn(page)).toBe(true)
    Object.assign(rows[0] as object, { accountId: 'acc-0' })
    expect(await signIn(page)).toBe(false)
    expect(await auth.sessions?.list('acc-0')).toEqual([])
  })
})

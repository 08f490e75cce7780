import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { createAuth, type Mail, memoryAccounts, memoryStore } from 'express-token-endpoint'
import { passkeys } from 'express-token-endpoint/passkeys'
import type { Page } from 'playwright-core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { transpile } from '../../../support/documents/compiler.js'
import { readPage } from '../../../support/documents/pages.js'
import { root } from '../../../support/documents/repository.js'
import { ACCOUNTS, fastPasswords, PASSWORD, SECRET } from '../../../support/fixtures.js'
import { NO_CHROMIUM, shareBrowser } from '../../../support/services/chromium.js'

const script = readPage('docs/guides/second-factor.md').blocks.find(({ name }) => name === 'passkeys-page')?.code ?? ''

const PAGE = `<!doctype html><title>passkeys</title><script type="module">
  import { createTokenClient } from '/dist/client.js'
  window.typed = 0
  window.api = createTokenClient({
    url: location.origin,
    refresh: 'cookie',
    interactive: true,
    credentials: () => { typed++; return { email: '${ACCOUNTS.alice.email}', password: '${PASSWORD}' } },
  })
  document.body.append('ready')
</script><body><input autocomplete="username webauthn"></body>`

/** The names of the page, in Chromium. */
declare const api: { fetch(path: string): Promise<Response>; restore(): Promise<boolean>; signOut(): unknown }
declare const typed: number

describe.skipIf(NO_CHROMIUM)('the page on passkeys, in Chromium with a virtual authenticator', () => {
  const browser = shareBrowser()

  async function start() {
    const app = express()
    const server = app.listen(0, 'localhost')
    await new Promise<void>((resolve) => server.once('listening', resolve))
    onTestFinished(() => {
      server.closeAllConnections()
      server.close()
    })
    const url = `http://localhost:${(server.address() as AddressInfo).port}`
    const store = memoryStore()
    const mails: Mail[] = []
    const auth = createAuth({
      issuer: url,
      secret: SECRET,
      accounts: memoryAccounts([ACCOUNTS.alice]),
      passwords: fastPasswords(),
      store,
      refresh: 'cookie',
      mail: async (mail) => void mails.push(mail),
      passkeys: passkeys({ rpId: 'localhost' }),
    })
    app.get('/', (_req, res) => void res.type('html').send(PAGE))
    app.get('/page.js', (_req, res) => void res.type('js').send(transpile(script)))
    app.get(/^\/dist\//, (req, res) => void res.type('js').send(readFileSync(root + req.path.slice(1))))
    app.use(auth.router)
    app.get('/me', auth.guard({ secondFactor: true }), (req, res) => void res.json(auth.userOf(req).id))

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
    return { url, page, devtools, authenticatorId, auth, store, mails }
  }

  const addPasskey = (page: Page): Promise<unknown> =>
    page.evaluate(`import('/page.js').then((page) => page.addPasskey('Laptop'))`)
  const signInWithPasskey = (page: Page, how = {}): Promise<unknown> =>
    page.evaluate(`import('/page.js').then((page) => page.signInWithPasskey(${JSON.stringify(how)}))`)

  /** Signs in. Returns whether the server has accepted the passkey. */
  const signIn = (page: Page): Promise<boolean> =>
    signInWithPasskey(page).then(
      () => true,
      (error) => {
        if (String(error).includes('refused (403)')) return false
        throw error
      },
    )

  const messageOf = (result: Promise<unknown>) => result.catch(({ message }: Error) => message)

  it('adds a passkey to the account that is signed in, and signs in with it instead of a password', async () => {
    const { page, store, auth } = await start()
    expect(await messageOf(signInWithPasskey(page))).toContain('NotAllowedError')
    expect(await addPasskey(page)).toBe(true)
    expect((await store.factors.list(ACCOUNTS.alice.id)).map(({ kind }) => kind)).toContain('passkey')
    expect(await messageOf(addPasskey(page))).toContain('InvalidStateError')
    const status = () => page.evaluate(async () => (await api.fetch('/me')).status)
    expect(await status()).toBe(401)
    await page.evaluate(() => api.signOut())
    expect(await page.evaluate(() => api.restore())).toBe(false)
    expect(await signIn(page)).toBe(true)
    const me = () => page.evaluate(async () => ({ me: await (await api.fetch('/me')).json(), typed }))
    const { typed: before } = await me()
    await page.reload()
    await page.getByText('ready').waitFor()
    expect(await page.evaluate(() => api.restore())).toBe(true)
    expect(await me()).toEqual({ me: ACCOUNTS.alice.id, typed: 0 })
    expect(before).toBeGreaterThan(0)
    expect(await auth.sessions.list(ACCOUNTS.alice.id)).toHaveLength(1)
  })

  it('offers passkeys in the field of the address', async () => {
    const { page } = await start()
    expect(await addPasskey(page)).toBe(true)
    await page.evaluate(() => api.signOut())
    expect(await page.evaluate('PublicKeyCredential.isConditionalMediationAvailable()')).toBe(true)
    await signInWithPasskey(page, { mediation: 'conditional' })
    expect(await page.evaluate(async () => (await api.fetch('/me')).json())).toBe(ACCOUNTS.alice.id)
  })

  it('refuses a sign-in that is sent again, a changed signature, and a sign-in without the finger or PIN', async () => {
    const { url, page, devtools, authenticatorId } = await start()
    expect(await addPasskey(page)).toBe(true)
    let sent = ''
    await page.route('**/token/passkey', (route) => {
      sent = route.request().postData() ?? ''
      return route.continue()
    })
    expect(await signIn(page)).toBe(true)
    const again = await fetch(`${url}/api/v2013/authentication/token/passkey`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: sent,
    })
    expect(again.status).toBe(403)
    await page.unroute('**/token/passkey')
    await page.route('**/token/passkey', (route) => {
      const { passkey } = JSON.parse(route.request().postData() ?? '')
      const signature = `${passkey.response.signature.slice(0, -6)}AAAAAA`
      const changed = { passkey: { ...passkey, response: { ...passkey.response, signature } } }
      return route.continue({ postData: JSON.stringify(changed) })
    })
    expect(await signIn(page)).toBe(false)
    await page.unroute('**/token/passkey')
    await devtools.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false })
    expect(await messageOf(signInWithPasskey(page))).toContain('NotAllowedError')
    await devtools.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: true })
    expect(await signIn(page)).toBe(true)
  })
})

import { type BrowserContext, chromium, type Page } from 'playwright-core'
import { describe, expect, onTestFinished, test } from 'vitest'
import { until } from '../../support/concurrency.js'
import { ARGS, EXECUTABLE, NO_CHROMIUM } from '../../support/services/chromium.js'
import { ALICE, BOB, NORTH, REPORT, statusOf, tempDir } from '../support.js'
import { signIn } from './browser.js'
import { type PageApp, startPageApp } from './page-app.js'

const MINUTE = 60_000
const COOKIE = '__Secure-refresh'

describe.skipIf(NO_CHROMIUM)('staying signed in, in a browser with a profile', () => {
  /** Starts Chromium with a profile. Returns it with a function that closes it and starts it again. */
  async function startChromium(profile: string): Promise<BrowserContext> {
    const context = await chromium.launchPersistentContext(profile, { executablePath: EXECUTABLE, args: ARGS })
    onTestFinished(() => context.close().catch(() => {}))
    context.setDefaultTimeout(20_000)
    return context
  }

  async function openTab(context: BrowserContext, url: string): Promise<Page> {
    const page = await context.newPage()
    await page.goto(url)
    return page
  }

  const isSignedIn = async (page: Page) => {
    await page.getByText(`Signed in as ${ALICE.email}`).waitFor()
    await page.getByRole('table', { name: 'Clearing House South' }).waitFor()
  }
  const isSignedOut = (page: Page) => page.getByRole('heading', { name: 'Sign in' }).waitFor()
  const tokenEnd = (page: Page) => page.locator('#expires-at').getAttribute('datetime')

  /** Everything that a script of the page can read. */
  const readable = (page: Page) =>
    page.evaluate<string>(`(async () => JSON.stringify({
      stores: [{ ...localStorage }, { ...sessionStorage }, document.cookie, window.name, history.state],
      databases: await indexedDB.databases(),
      caches: await caches.keys(),
      cookies: globalThis.cookieStore ? await cookieStore.getAll() : [],
      globals: Object.entries(window).map(([name, value]) => name + String(value)),
      loaded: performance.getEntries().map(({ name }) => name),
    }))()`)

  /** Collects the access tokens and the bodies of a tab's calls. */
  function watchTokens(page: Page): { tokens: string[]; forms: string[] } {
    const [tokens, forms]: [string[], string[]] = [[], []]
    page.on('request', (request) => {
      if (request.postData()?.includes('password')) forms.push(request.url())
      const [, token] = (request.headers()['authorization'] ?? '').split(' ')
      if (token) tokens.push(token)
    })
    return { tokens, forms }
  }

  test.each(['localhost', '127.0.0.1'])(
    'at http://%s: three tabs, a reload and a restart of the browser need no form, and no script can read a secret',
    async (host) => {
      const app = await startPageApp()
      const url = app.clearingHouse.url.replace('127.0.0.1', host)
      const profile = await tempDir()
      const browser = await startChromium(profile)
      const first = await openTab(browser, url)
      const { tokens } = watchTokens(first)
      await signIn(first, ALICE)
      await isSignedIn(first)
      const [cookie] = await browser.cookies(`${url}/api/v2013/authentication/token`)
      expect(cookie).toMatchObject({ name: COOKIE, httpOnly: true, secure: true, sameSite: 'Strict' })
      expect(cookie?.path).toBe('/api/v2013/authentication/token')
      const tabs = [first, await openTab(browser, url), await openTab(browser, url)]
      const watched = tabs.map(watchTokens)
      for (const tab of tabs) await isSignedIn(tab)
      await Promise.all(tabs.map((tab) => tab.reload()))
      for (const tab of tabs) await isSignedIn(tab)

      const [current] = await browser.cookies(`${url}/api/v2013/authentication/token`)
      expect(current?.value).not.toBe(cookie?.value)
      const secrets = [...tokens, ...watched.flatMap((one) => one.tokens), cookie?.value, current?.value]
      for (const tab of tabs) {
        const text = await readable(tab)
        expect(text).toContain(ALICE.email)
        for (const secret of secrets.flatMap((value) => value?.split('.') ?? [])) {
          if (secret.length > 2) expect(text).not.toContain(secret)
        }
      }
      await browser.close()
      const again = await startChromium(profile)
      const tab = await openTab(again, url)
      watched.push(watchTokens(tab))
      await isSignedIn(tab)
      expect(watched.flatMap(({ forms }) => forms)).toEqual([])
    },
  )

  test('without "Stay signed in", a reload needs no form, and a restart of the browser does', async () => {
    const app = await startPageApp()
    const profile = await tempDir()
    const browser = await startChromium(profile)
    const page = await openTab(browser, app.clearingHouse.url)
    await page.getByLabel('Stay signed in').uncheck()
    await signIn(page, ALICE)
    await isSignedIn(page)
    await page.reload()
    await isSignedIn(page)
    await browser.close()
    await isSignedOut(await openTab(await startChromium(profile), app.clearingHouse.url))
  })

  test('a sign-out in one tab signs out the others, and ends the session at the server', async () => {
    const app = await startPageApp()
    const browser = await startChromium(await tempDir())
    const page = await openTab(browser, app.clearingHouse.url)
    const { tokens } = watchTokens(page)
    await signIn(page, ALICE)
    await isSignedIn(page)
    const others = [await openTab(browser, app.clearingHouse.url), await openTab(browser, app.clearingHouse.url)]
    for (const tab of others) await isSignedIn(tab)
    await page.getByRole('button', { name: 'Sign out' }).click()
    for (const tab of [page, ...others]) await tab.getByText('You are signed out.').waitFor()
    expect(await statusOf(app.clearingHouse.url + NORTH, tokens[0] ?? '')).toBe(401)
    for (const tab of others) {
      await tab.reload()
      await isSignedOut(tab)
    }
  })

  test('a person who signs in in a tab whose form was open gets the own account, not the one of the other tab', async () => {
    const app = await startPageApp()
    const browser = await startChromium(await tempDir())
    const [page, other] = [await openTab(browser, app.clearingHouse.url), await openTab(browser, app.clearingHouse.url)]
    await isSignedOut(other)
    await signIn(page, ALICE)
    await isSignedIn(page)
    await signIn(other, BOB)
    await other.getByText(`Signed in as ${BOB.email}`).waitFor()
    await other.locator('#claims').getByText('(nothing)').waitFor()
    await other.reload()
    await other.getByText(`Signed in as ${BOB.email}`).waitFor()
  })

  /** Signs in, lets the token expire by both clocks, and returns the token from before. */
  async function expire(app: PageApp, page: Page, before: () => unknown = () => {}): Promise<string> {
    app.stopClock()
    await page.clock.install()
    const { tokens, forms } = watchTokens(page)
    await signIn(page, ALICE)
    await isSignedIn(page)
    const [token = ''] = tokens
    expect(forms).toHaveLength(1)
    await before()
    app.pass(10 * MINUTE)
    await page.clock.fastForward(10 * MINUTE)
    return token
  }

  test('a token is renewed after ten minutes without a form', async () => {
    const app = await startPageApp()
    const page = await openTab(await startChromium(await tempDir()), app.clearingHouse.url)
    const later = { forms: [] as string[], end: null as string | null }
    const token = await expire(app, page, async () => {
      later.forms = watchTokens(page).forms
      later.end = await tokenEnd(page)
    })
    await until(async () => expect(await tokenEnd(page)).not.toBe(later.end))
    expect(await statusOf(app.clearingHouse.url + NORTH, token)).toBe(401)
    await page.getByRole('button', { name: 'Refresh' }).click()
    await isSignedIn(page)
    expect(later.forms).toEqual([])
  })

  test('a disabled account is refused by both APIs within ten minutes, and the page asks for the password', async () => {
    const app = await startPageApp()
    const page = await openTab(await startChromium(await tempDir()), app.clearingHouse.url)
    const { findById } = app.accounts
    const token = await expire(app, page, () => {
      app.accounts.findById = async (id) => {
        const account = await findById(id)
        return account && { ...account, disabled: true }
      }
    })
    await page.getByText('Sign in again.').waitFor()
    for (const place of [app.clearingHouse.url + NORTH, app.reporting.url + REPORT])
      expect(await statusOf(place, token)).toBe(401)
  })
})

import axe from 'axe-core'
import type { Browser, Page } from 'playwright-core'
import { expect, onTestFinished } from 'vitest'
import { type PageApp, type PageAppOptions, startPageApp } from './page-app.js'

export interface Opened {
  page: Page
  app: PageApp
  /** The browser's complaints so far: scripts that threw, policies that were violated, calls that failed. */
  complaints: string[]
  /** The tokens that the page has sent, oldest first. */
  tokens: string[]
  /** The origins of all requests. */
  origins: Set<string>
}

/** Starts an app, and opens its page in a new browser context. */
export async function openPage(
  browser: Browser,
  { host = '127.0.0.1', ...options }: PageAppOptions & { host?: string } = {},
): Promise<Opened> {
  const app = await startPageApp(options)
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } })
  onTestFinished(() => context.close())
  const page = await context.newPage()
  page.setDefaultTimeout(20_000)
  const complaints: string[] = []
  const origins = new Set<string>()
  const tokens: string[] = []
  page.on('console', (message) => {
    // Chromium logs the refusal that tells the page to show its form.
    if (!message.location().url.endsWith('/token/refresh')) complaints.push(`${message.type()}: ${message.text()}`)
  })
  page.on('pageerror', (error) => complaints.push(`thrown: ${error.message}`))
  page.on('request', (request) => {
    origins.add(new URL(request.url()).origin)
    tokens.push(...(request.headers()['authorization']?.split(' ').slice(1) ?? []))
  })
  await page.goto(app.clearingHouse.url.replace('127.0.0.1', host))
  // The page has found no session from before.
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  return { page, app, complaints, tokens, origins }
}

export async function signIn(page: Page, { email, password }: { email: string; password: string }): Promise<void> {
  await page.getByLabel('Email').fill(email)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
}

/** Stops the clocks of the page, which is years wrong, and of the server. Tests move the clocks. */
export async function stopTime({ page, app }: Pick<Opened, 'page' | 'app'>): Promise<void> {
  app.stopClock()
  const start = Date.UTC(2031, 0, 1)
  await page.clock.install({ time: start })
  await page.clock.pauseAt(start + 1000)
}

/** No violation of any rule that axe-core knows, by day and by night, and nothing that has to be scrolled to sideways. */
export async function expectAccessible(page: Page): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    await page.evaluate(axe.source)
    const { violations, passes } = (await page.evaluate('axe.run()')) as axe.AxeResults
    expect(violations.map(({ id, nodes }) => [colorScheme, id, ...nodes.map(({ html }) => html)])).toEqual([])
    expect(passes.map(({ id }) => id)).toContain('color-contrast')
  }
  const before = page.viewportSize()
  for (const width of [390, 320]) {
    await page.setViewportSize({ width, height: 844 })
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width)
  }
  if (before) await page.setViewportSize(before)
}

/** The role and name of what the keyboard is at. */
export async function focused(page: Page): Promise<string> {
  return page.evaluate(`(() => {
    const at = document.activeElement
    return [at.tagName.toLowerCase(), at.labels?.[0]?.textContent ?? at.getAttribute('aria-label') ?? at.textContent.trim()].join(' ')
  })()`)
}

/** Saves a screenshot of a step into the folder of the environment variable SHOTS. Without it, does nothing. */
export async function shot(page: Page, name: string): Promise<void> {
  const folder = process.env['SHOTS']
  if (folder) await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true })
}

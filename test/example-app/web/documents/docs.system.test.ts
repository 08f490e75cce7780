import type { Browser, Page } from 'playwright-core'
import { describe, expect, onTestFinished, test } from 'vitest'
import { NO_CHROMIUM, shareBrowser } from '../../../support/services/chromium.js'
import { ALICE, startBoth, tempDir } from '../../support.js'

/** Opens the page, and records its requests and the violations of its policy. */
async function openDocs(browser: Browser, url: string, size = { width: 1280, height: 900 }) {
  const page = await browser.newPage({ viewport: size })
  onTestFinished(() => page.close())
  const asked: string[] = []
  const faults: string[] = []
  page.on('request', (request) => asked.push(request.url()))
  page.on('pageerror', ({ message }) => faults.push(message))
  page.on('console', (line) => {
    if (line.type() !== 'info' && line.type() !== 'log') faults.push(line.text())
  })
  await page.exposeFunction('tellViolation', (violation: string) => faults.push(violation))
  const told = `addEventListener('securitypolicyviolation', (e) => tellViolation(e.violatedDirective + ' ' + e.blockedURI))`
  await page.addInitScript({ content: told })
  await page.goto(`${url}/docs`)
  return { page, asked, faults }
}

/** Opens an operation and runs it. Returns the response. */
async function tryOut(page: Page, id: string, body?: object): Promise<{ status: string; body: string }> {
  const operation = page.locator(`#operations-${id}`)
  await operation.locator('.opblock-summary-control').click()
  if (body) await operation.locator('textarea.body-param__text').fill(JSON.stringify(body))
  await operation.locator('.execute').click()
  const live = operation.locator('.live-responses-table')
  return {
    status: await live.locator('.response-col_status').last().innerText(),
    body: await live.locator('code').first().innerText(),
  }
}

async function authorize(page: Page, token: string): Promise<void> {
  await page.locator('.btn.authorize').click()
  await page.locator('.dialog-ux input').fill(token)
  await page.locator('.dialog-ux button.authorize').click()
  await page.locator('.dialog-ux button.btn-done').click()
}

describe.skipIf(NO_CHROMIUM)('the page at /docs, in Chromium', () => {
  const browser = shareBrowser()

  test('signs in, authorizes and lists statements, on a phone, by another name than the document has', async () => {
    const { url, reporting } = await startBoth({ DATA_DIR: await tempDir() })
    const { origin } = new URL(url.replace('127.0.0.1', 'localhost'))
    const { page, asked, faults } = await openDocs(browser(), origin, { width: 390, height: 844 })
    expect((await tryOut(page, 'Authentication-signOut')).status).toContain('401')
    // Chromium logs every response with an error status.
    expect(faults.splice(0)).toEqual([expect.stringMatching(/status of 401/)])
    const { authenticationToken: token } = JSON.parse((await tryOut(page, 'Authentication-issueToken', ALICE)).body)
    await authorize(page, token)
    const statements = JSON.parse((await tryOut(page, 'Statements-listStatements')).body)
    expect(statements).toMatchObject({ house: { id: 'north' }, statements: { length: 4 } })
    expect(asked.filter((one) => !one.startsWith(`${origin}/`) && !one.startsWith('data:'))).toEqual([])
    expect(asked).toContain(`${origin}/openapi.json`)
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)

    // The reporting API has its own page for its own call.
    await page.goto(`${reporting}/docs`)
    await authorize(page, token)
    const totals = JSON.parse((await tryOut(page, 'Reports-dailyTotals')).body)
    expect(totals).toMatchObject({ houses: [{ id: 'north' }, { id: 'south' }] })
    expect(faults).toEqual([])
  })
})

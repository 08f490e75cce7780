import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { describe, expect, onTestFinished, test } from 'vitest'
import { NO_CHROMIUM, startBrowser } from '../../support/services/chromium.js'
import { ALICE, FOLDER } from '../support.js'
import { openPage, signIn } from './browser.js'

const SCREENSHOTS = join(FOLDER, 'screenshots')
const DIGEST = join(SCREENSHOTS, 'page.sha256')
/** `npm run docs:pictures` sets this variable. */
const UPDATE = process.env['UPDATE_SCREENSHOTS'] === '1'

/** The width of each picture, and the margin around its card, in pixels. */
const WIDTH = 440
const MARGIN = 12

/** Returns a digest of everything that the page is made of. */
function digestOfPage(): string {
  const folder = join(FOLDER, 'page')
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  const hash = createHash('sha256')
  for (const file of files.filter((path) => /\.(ts|html|css|svg)$/.test(path)).sort())
    hash.update(readFileSync(join(folder, file)))
  return hash.digest('hex')
}

/** The devices of the picture: the name that the page shows, an address of RFC 5737, a `User-Agent`, and the hours until the next one signs in. */
const DEVICES = [
  {
    name: 'Firefox on Windows',
    address: '203.0.113.20',
    userAgent: 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0',
    hours: 19,
  },
  {
    name: 'Safari on iOS',
    address: '198.51.100.7',
    userAgent:
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1',
    hours: 3,
  },
]
const HOUR = 3_600_000

/** Takes a picture of a card with a margin. All pictures have the same width, because a table shows them side by side. */
async function take(page: Page, name: string): Promise<void> {
  const card = page.locator('section.card:visible', { has: page.getByRole('heading', { name, exact: true }) })
  const box = (await card.boundingBox()) ?? expect.fail(`${name} is not visible`)
  const clip = { x: 0, y: box.y - MARGIN, width: WIDTH, height: box.height + 2 * MARGIN }
  expect([box.x, box.width], 'the card fills the width').toEqual([MARGIN, WIDTH - 2 * MARGIN])
  const image = await page.screenshot({ clip })
  expect(image.readUInt32BE(16), 'the width of the picture').toBe(WIDTH)
  if (UPDATE) writeFileSync(join(SCREENSHOTS, `${name.toLowerCase().replace(' ', '-')}.png`), image)
}

describe.skipIf(NO_CHROMIUM)('the screenshots of the READMEs', () => {
  test('show the form and three devices', async () => {
    const browser = await startBrowser(onTestFinished)
    const { page, app } = await openPage(browser, { trustedProxies: 1 })
    await page.setViewportSize({ width: WIDTH, height: 4000 })
    await take(page, 'Sign in')
    for (const { address, userAgent, hours } of DEVICES) {
      const context = await browser.newContext({ userAgent, extraHTTPHeaders: { 'X-Forwarded-For': address } })
      const device = await context.newPage()
      await device.goto(app.clearingHouse.url)
      await signIn(device, ALICE)
      await device.getByRole('heading', { name: 'Your account' }).waitFor()
      await context.close()
      app.pass(hours * HOUR)
    }
    await page.setExtraHTTPHeaders({ 'X-Forwarded-For': '203.0.113.20' })
    await signIn(page, ALICE)
    const rows = page.getByRole('table', { name: 'Devices that are signed in' }).getByRole('rowheader')
    await rows.first().waitFor()
    const names = await rows.allTextContents()
    expect(names.sort()).toEqual(['Chrome on Linux', ...DEVICES.map(({ name }) => name)])
    await take(page, 'Devices')
    if (UPDATE) writeFileSync(DIGEST, `${digestOfPage()}\n`)
  })
})

test('the screenshots show the page as it is now', () => {
  const say = 'run `npm run docs:pictures`, and look at the result'
  expect(readFileSync(DIGEST, 'utf8').trim(), say).toBe(digestOfPage())
})

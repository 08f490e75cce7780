import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { NO_CHROMIUM, startBrowser } from '../../support/services/chromium.js'
import { ALICE, FOLDER } from '../support.js'
import { openPage, signIn } from './browser.js'

const SCREENSHOTS = join(FOLDER, 'screenshots')
const DIGEST = join(SCREENSHOTS, 'page.sha256')
/** `npm run docs:pictures` sets this variable. */
const UPDATE = process.env['UPDATE_SCREENSHOTS'] === '1'

/** Returns a digest of everything that the page is made of. */
function digestOfPage(): string {
  const folder = join(FOLDER, 'page')
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  const hash = createHash('sha256')
  for (const file of files.filter((path) => /\.(ts|html|css|svg)$/.test(path)).sort())
    hash.update(readFileSync(join(folder, file)))
  return hash.digest('hex')
}

function save(name: string, image: Buffer): void {
  expect(image.subarray(1, 4).toString()).toBe('PNG')
  if (UPDATE) writeFileSync(join(SCREENSHOTS, name), image)
}

describe.skipIf(NO_CHROMIUM)('the screenshots of the READMEs', () => {
  test('show the form and the account', async () => {
    const { page } = await openPage(await startBrowser(onTestFinished))
    await page.setViewportSize({ width: 800, height: 700 })
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    save('sign-in.png', await page.screenshot())
    await signIn(page, ALICE)
    await page.getByRole('table').nth(1).waitFor()
    await page.getByRole('img', { name: 'Bar chart of the daily totals' }).waitFor()
    await page.setViewportSize({ width: 800, height: 710 })
    save('token.png', await page.screenshot())
    save('account.png', await page.screenshot({ fullPage: true }))
    if (UPDATE) writeFileSync(DIGEST, `${digestOfPage()}\n`)
  })
})

test('the screenshots show the page as it is now', () => {
  const say = 'run `npm run docs:pictures`, and look at the result'
  expect(readFileSync(DIGEST, 'utf8').trim(), say).toBe(digestOfPage())
})

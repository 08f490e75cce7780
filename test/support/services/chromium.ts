import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'
import { beforeAll, onTestFinished } from 'vitest'
import { isMissing } from './missing.js'

export const EXECUTABLE = process.env['CHROMIUM'] || '/usr/bin/chromium'

/** True for `describe.skipIf` when Chromium is not installed. */
export const NO_CHROMIUM = isMissing(
  existsSync(EXECUTABLE),
  'Chromium',
  'apt-get install chromium, or set CHROMIUM to the program',
)

/** Chromium runs as root in containers, without a graphics card, and must not use the Internet. */
export const ARGS = [
  ...['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
]

/**
 * Starts Chromium.
 * @param atEnd Called with a function that stops Chromium. By default, Chromium stops when the test ends
 * @param more Further arguments of the program
 */
export async function startBrowser(
  atEnd: (stop: () => Promise<void>) => void = onTestFinished,
  more: readonly string[] = [],
): Promise<Browser> {
  const browser = await chromium.launch({ executablePath: EXECUTABLE, args: [...ARGS, ...more] })
  atEnd(() => browser.close())
  return browser
}

/** Starts one Chromium for the tests of a `describe`. Returns a function that returns it during a test. */
export function shareBrowser(...more: string[]): () => Browser {
  let browser: Browser
  beforeAll(async () => {
    browser = await startBrowser(() => {}, more)
    return () => browser.close()
  })
  return () => browser
}

import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'
import { onTestFinished } from 'vitest'

const EXECUTABLE = process.env['CHROMIUM'] || '/usr/bin/chromium'
const HOW_TO_GET_CHROMIUM = 'apt-get install chromium, or set CHROMIUM to the program'

/** For `describe.skipIf`: why this machine has no browser to test in; undefined where it has one. */
export const NO_CHROMIUM = existsSync(EXECUTABLE)
  ? undefined
  : `Chromium is not there. To get it: ${HOW_TO_GET_CHROMIUM}`

if (NO_CHROMIUM) {
  if (process.env['REQUIRE_SERVICES']) throw new Error(NO_CHROMIUM)
  process.stdout.write(`Tests in a browser are skipped: ${NO_CHROMIUM}\n`)
}

/** It runs as root in containers, without a graphics card, and is to ask nobody on the Internet for anything. */
const ARGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/**
 * Starts Chromium.
 * @param atEnd is given what stops it; by default it is stopped when the test is over
 */
export async function startBrowser(atEnd: (stop: () => Promise<void>) => void = onTestFinished): Promise<Browser> {
  const browser = await chromium.launch({ executablePath: EXECUTABLE, args: ARGS })
  atEnd(() => browser.close())
  return browser
}

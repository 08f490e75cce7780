import { type TOTP, URI } from 'otpauth'
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { until } from '../../support/concurrency.js'
import { NO_CHROMIUM, shareBrowser } from '../../support/services/chromium.js'
import { ALICE, login, NORTH, statusOf } from '../support.js'
import { expectAccessible, focused, type Opened, openPage, shot, signIn } from './browser.js'

const MINUTE = 60_000
const STEP = 30_000

describe.skipIf(NO_CHROMIUM)('the second factor in a browser', () => {
  const browser = shareBrowser()
  const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()
  const says = (page: Page, text: string) => page.locator('.message:visible').getByText(text).waitFor()
  const isSignedIn = (page: Page) => page.getByRole('heading', { name: 'Your account' }).waitFor()

  /** Opens the page, and signs Alice in. */
  async function openSignedIn(options: Parameters<typeof openPage>[1] = {}) {
    const opened = await openPage(browser(), options)
    await signIn(opened.page, ALICE)
    await isSignedIn(opened.page)
    return opened
  }

  /** Sets an authenticator app up. Returns the app and the recovery codes. */
  async function setUp({ page }: Opened, screenshots = '') {
    const take = (name: string) => (screenshots ? shot(page, `${screenshots}-${name}`) : undefined)
    const sent = page.waitForResponse((response) => response.url().endsWith('/auth/account/totp'))
    await press(page, 'Set up an authenticator app')
    const { uri, secret } = (await (await sent).json()) as { uri: string; secret: string }
    await page.getByRole('img', { name: 'QR code for your authenticator app' }).waitFor()
    await take('qr-code')
    const totp = URI.parse(uri) as TOTP
    await page.getByLabel('Code of the app').fill(totp.generate({ timestamp: Date.now() - 10 * MINUTE }))
    await press(page, 'Switch on')
    await says(page, 'The code is wrong.')
    await take('wrong-first-code')
    await page.getByLabel('Code of the app').fill(totp.generate())
    await press(page, 'Switch on')
    await page.getByRole('heading', { name: 'Your recovery codes' }).waitFor()
    const recoveryCodes = await page.locator('.codes li').allTextContents()
    return { totp, secret, uri, recoveryCodes }
  }

  test('sets an app up with a QR code, and shows the recovery codes once', async () => {
    const opened = await openSignedIn()
    const { page, app } = opened
    const urls: string[] = []
    page.on('request', (request) => urls.push(request.url()))
    const other = await login(app.clearingHouse.url, ALICE)
    const { authenticationToken } = (await other.json()) as { authenticationToken: string }
    await page.getByRole('button', { name: 'Set up an authenticator app' }).waitFor()
    await shot(page, '01-account')
    const { secret, recoveryCodes } = await setUp(opened, '02')
    expect(new Set(recoveryCodes).size).toBe(10)
    expect(await focused(page)).toBe('h3 Your recovery codes')
    await page.getByText('Your sign-in asks for the code of your app.').waitFor()
    await shot(page, '03-recovery-codes')
    await expectAccessible(page)
    expect(urls.filter((url) => url.includes(secret) || url.includes('otpauth'))).toEqual([])
    expect(await statusOf(app.clearingHouse.url + NORTH, authenticationToken)).toBe(401)
    await press(page, 'I have saved them')
    expect(await focused(page)).toBe('h2 Authenticator app')
    const html = await page.content()
    for (const text of [secret, ...recoveryCodes]) expect(html).not.toContain(text)
    await until(() => expect(app.mailBox.list()[0]?.subject).toBe('Your second factor has changed'))
  })

  test('the sign-in asks for the code, again after a wrong one, and takes a recovery code', async () => {
    const opened = await openSignedIn()
    const { page } = opened
    const { totp, recoveryCodes } = await setUp(opened)
    await press(page, 'Sign out')
    await says(page, 'You are signed out.')
    await signIn(page, ALICE)
    await page.getByRole('heading', { name: 'Enter your code' }).waitFor()
    expect(await focused(page)).toBe('input Code')
    await shot(page, '10-code')
    await expectAccessible(page)
    await press(page, 'Back')
    await says(page, 'You are not signed in.')
    await signIn(page, ALICE)
    await page.getByRole('textbox', { name: 'Code' }).fill(totp.generate({ timestamp: Date.now() - 10 * MINUTE }))
    await press(page, 'Continue')
    await says(page, 'The code is wrong.')
    await shot(page, '11-wrong-code')
    await page.getByRole('textbox', { name: 'Code' }).fill(totp.generate({ timestamp: Date.now() + STEP }))
    await press(page, 'Continue')
    await isSignedIn(page)
    await page.locator('#claims').getByText('"mfa"').waitFor()
    await shot(page, '12-signed-in-with-code')
    await press(page, 'Sign out')
    await signIn(page, ALICE)
    await page.getByRole('textbox', { name: 'Code' }).fill(recoveryCodes[0] ?? '')
    await press(page, 'Continue')
    await isSignedIn(page)
  })

  test('a sign-in by email asks for the code too', async () => {
    const opened = await openSignedIn()
    const { page, app } = opened
    const { recoveryCodes } = await setUp(opened)
    await press(page, 'Sign out')
    await press(page, 'Email me a link')
    await page.locator('#card').getByLabel('Email').fill(ALICE.email)
    await press(page, 'Send the mail')
    await until(() => expect(app.mailBox.list()[0]?.subject).toBe('Sign in'))
    await page.goto(app.mailBox.list()[0]?.link ?? '')
    await press(page, 'Continue')
    await page.getByRole('heading', { name: 'Enter your code' }).waitFor()
    await shot(page, '13-code-after-mail')
    await page.getByRole('textbox', { name: 'Code' }).fill(recoveryCodes[1] ?? '')
    await press(page, 'Continue')
    await isSignedIn(page)
  })

  test('an old sign-in asks for the password and the code, and then removes the app', async () => {
    const opened = await openPage(browser())
    const { page, app } = opened
    app.stopClock()
    await page.clock.install()
    await signIn(page, ALICE)
    await isSignedIn(page)
    const { recoveryCodes } = await setUp(opened)
    await press(page, 'I have saved them')
    app.pass(11 * MINUTE)
    await page.clock.fastForward(11 * MINUTE)
    await press(page, 'Remove the app')
    await page.getByRole('dialog').getByLabel('Your password').fill(ALICE.password)
    await press(page, 'Confirm')
    await page.getByRole('dialog').getByLabel('Code').fill('000000')
    await press(page, 'Confirm')
    await says(page, 'The code is wrong.')
    await shot(page, '20-step-up-code')
    await expectAccessible(page)
    await page
      .getByRole('dialog')
      .getByLabel('Code')
      .fill(recoveryCodes[2] ?? '')
    await press(page, 'Confirm')
    await says(page, 'The authenticator app is removed.')
    await page.getByRole('button', { name: 'Set up an authenticator app' }).waitFor()
    await shot(page, '21-removed')
    expect((await login(app.clearingHouse.url, ALICE)).status).toBe(200)
  })

  test('new recovery codes replace the old ones', async () => {
    const opened = await openSignedIn()
    const { page } = opened
    const { recoveryCodes: old } = await setUp(opened)
    await press(page, 'I have saved them')
    await press(page, 'Get new recovery codes')
    await page.getByRole('heading', { name: 'Your recovery codes' }).waitFor()
    const codes = await page.locator('.codes li').allTextContents()
    expect(codes.filter((code) => old.includes(code))).toEqual([])
    expect(codes).toHaveLength(10)
  })

  test('makes an API key, which is shown once, reads statements with it, and removes it', async () => {
    const { page, app } = await openSignedIn()
    await press(page, 'Make a key')
    await says(page, 'Enter a name for the key.')
    await page.getByLabel('Name of the key').fill('Nightly job')
    await press(page, 'Make a key')
    const key = (await page.locator('#keys-form code').textContent()) ?? ''
    expect(key).toMatch(/^etk_/)
    const table = page.getByRole('table', { name: 'Your API keys' })
    await table.getByText('Nightly job').waitFor()
    await shot(page, '30-api-key')
    await expectAccessible(page)
    const statements = app.clearingHouse.url + NORTH
    expect(await statusOf(statements, key)).toBe(200)
    expect(await statusOf(`${app.clearingHouse.url}/api/v2013/account`, key)).toBe(401)
    await press(page, 'Refresh')
    await page.getByRole('button', { name: 'Remove Nightly job' }).click()
    await says(page, 'Removed: Nightly job.')
    await page.locator('#keys-body').getByText('There are none yet.').waitFor()
    expect(await focused(page)).toBe('h2 API keys')
    await shot(page, '31-api-key-removed')
    expect(await statusOf(statements, key)).toBe(401)
    expect(await page.content()).not.toContain(key)
  })

  describe('passkeys', () => {
    /** Opens the page at a host that may have passkeys, with a virtual authenticator, and adds a passkey. */
    async function openWithPasskey({ autofill = true, stopClock = false } = {}) {
      const opened = await openPage(browser(), { host: 'localhost' })
      const { page, app } = opened
      if (stopClock) {
        app.stopClock()
        await page.clock.install()
      }
      if (!autofill) await page.evaluate('PublicKeyCredential.isConditionalMediationAvailable = async () => false')
      const devtools = await page.context().newCDPSession(page)
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
      const setPresent = (enabled: boolean) =>
        devtools.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled })
      await signIn(page, ALICE)
      await isSignedIn(page)
      await page.getByLabel('Name of the passkey').fill('Laptop')
      await press(page, 'Add a passkey')
      await says(page, 'The passkey is added.')
      await page.getByRole('table', { name: 'Your passkeys' }).getByText('Laptop').waitFor()
      return { ...opened, setPresent }
    }

    test('adds one, signs in with it by autofill, shows its last use, and removes it', async () => {
      const { page, setPresent } = await openWithPasskey()
      await shot(page, '40-passkey-added')
      await expectAccessible(page)
      await page.getByLabel('Name of the passkey').fill('Again')
      await press(page, 'Add a passkey')
      await says(page, 'This device has a passkey of your account already.')
      expect(await page.getByRole('table', { name: 'Your passkeys' }).textContent()).toContain('Never')
      await setPresent(false)
      await press(page, 'Sign out')
      await says(page, 'You are signed out.')
      expect(await page.getByLabel('Email').getAttribute('autocomplete')).toBe('username webauthn')
      await shot(page, '41-sign-in')
      await expectAccessible(page)
      await setPresent(true)
      // Chromium's virtual authenticator chooses the passkey as soon as the page offers it.
      await page.reload()
      await isSignedIn(page)
      await page.locator('#claims').getByText('"hwk"').waitFor()
      await page.getByRole('table', { name: 'Your passkeys' }).getByText('Laptop').waitFor()
      expect(await page.getByRole('table', { name: 'Your passkeys' }).textContent()).not.toContain('Never')
      await shot(page, '42-signed-in-with-passkey')
      await page.getByRole('button', { name: 'Remove Laptop' }).click()
      await says(page, 'Removed: Laptop.')
      await page.locator('#passkeys-body').getByText('There are none yet.').waitFor()
      await shot(page, '43-passkey-removed')
      await press(page, 'Sign out')
      await says(page, 'This passkey does not work any more.')
      await shot(page, '44-passkey-refused')
    })

    test('signs in with the button, in a browser without autofill', async () => {
      const { page } = await openWithPasskey({ autofill: false })
      await press(page, 'Sign out')
      await says(page, 'You are signed out.')
      await press(page, 'Sign in with a passkey')
      await isSignedIn(page)
    })

    test('an old sign-in is confirmed with a passkey', async () => {
      const { page, app } = await openWithPasskey({ stopClock: true })
      app.pass(11 * MINUTE)
      await page.clock.fastForward(11 * MINUTE)
      await page.getByRole('button', { name: 'Remove Laptop' }).click()
      await page.getByRole('dialog', { name: 'Confirm that it is you' }).waitFor()
      await shot(page, '46-step-up-passkey')
      await expectAccessible(page)
      await press(page, 'Use a passkey')
      await says(page, 'Removed: Laptop.')
      await page.locator('#passkeys-body').getByText('There are none yet.').waitFor()
    })

    test('a passkey without a tick signs in until the browser ends', async () => {
      const { page } = await openWithPasskey({ autofill: false })
      await press(page, 'Sign out')
      await says(page, 'You are signed out.')
      await page.getByLabel('Stay signed in on this device').uncheck()
      await press(page, 'Sign in with a passkey')
      await isSignedIn(page)
      const cookies = await page.context().cookies(`http://localhost/api/v2013/authentication/token`)
      expect(cookies.map(({ expires }) => expires)).toEqual([-1])
    })

    test('at an IP address, the page says where it has passkeys', async () => {
      const { page, app } = await openSignedIn()
      const url = `${app.clearingHouse.url.replace('127.0.0.1', 'localhost')}/`
      await page.locator('#passkeys').getByRole('link', { name: url }).waitFor()
      expect(await page.getByRole('button', { name: 'passkey' }).count()).toBe(0)
      await shot(page, '45-passkeys-elsewhere')
    })
  })
})

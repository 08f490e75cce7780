import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { deferred, until } from '../../support/concurrency.js'
import { NO_CHROMIUM, shareBrowser } from '../../support/services/chromium.js'
import { ALICE, BOB, login, NORTH, REPORT, statusOf } from '../support.js'
import { expectAccessible, focused, type Opened, openPage, signIn, stopTime } from './browser.js'
import type { PageAppOptions } from './page-app.js'

const MINUTE = 60_000
const WRONG = { ...ALICE, password: 'wrong-password' }

describe.skipIf(NO_CHROMIUM)('the page in a browser', () => {
  const browser = shareBrowser()
  const open = (options?: PageAppOptions) => openPage(browser(), options)
  const chartOf = (page: Page) => page.getByRole('img', { name: 'Bar chart of the daily totals' })
  const claimOf = (page: Page, claim: string) => page.locator('#claims > div').filter({ hasText: claim }).textContent()
  const press = (page: Page, name: string) => page.getByRole('button', { name }).click()
  const says = (page: Page, text: string) => page.locator('.message').getByText(text).waitFor()
  // The log may have the same text of an earlier press too.
  const announces = (page: Page, text: string) =>
    page.getByRole('log').getByText(text).last().waitFor({ state: 'attached' })
  const isAsked = async (page: Page, text: string, email: string) => {
    await page.getByRole('alert').getByText(text).waitFor()
    expect(await page.getByLabel('Email').inputValue()).toBe(email)
    expect(await focused(page)).toBe(email === '' ? 'input Email' : 'input Password')
  }

  /** Opens the page, signs Alice in, and waits for the chart, which comes last. */
  async function openSignedIn(before: (opened: Opened) => Promise<unknown> = async () => {}) {
    const opened = await open()
    await before(opened)
    await signIn(opened.page, ALICE)
    await chartOf(opened.page).waitFor()
    return { ...opened, token: opened.tokens[0] ?? '' }
  }

  /** Collects the forms that a page sends. */
  function postsOf(page: Page): string[] {
    const posts: string[] = []
    page.on('request', (request) => {
      if (request.postData()?.includes('password')) posts.push(request.url())
    })
    return posts
  }

  describe('signing in', () => {
    test('the form asks for what is empty, and again for a wrong password', async () => {
      const { page, complaints } = await open()
      const posts = postsOf(page)
      expect(await page.title()).toBe('Clearing house')
      await page.getByRole('heading', { name: 'Sign in' }).waitFor()
      expect(await page.getByRole('heading', { name: 'Your account' }).isVisible()).toBe(false)
      await expectAccessible(page)
      await press(page, 'Sign in')
      await isAsked(page, 'Enter your email address.', '')
      await page.getByLabel('Email').fill(ALICE.email)
      await press(page, 'Sign in')
      await isAsked(page, 'Enter your password.', ALICE.email)
      expect([posts, complaints]).toEqual([[], []])
      await signIn(page, WRONG)
      await isAsked(page, 'Email or password is wrong.', ALICE.email)
      expect(await page.getByLabel('Password').getAttribute('aria-invalid')).toBe('true')
      await expectAccessible(page)
      // Chromium's message for a response that is not 2xx.
      expect(complaints).toEqual([expect.stringMatching(/^error: Failed to load resource: .+ status of 403 /)])
      await signIn(page, ALICE)
      await chartOf(page).waitFor()
    })

    test('too many wrong passwords: when to try again', async () => {
      const { page } = await open({ guesses: 1 })
      await signIn(page, WRONG)
      await page.getByText('is wrong').waitFor()
      await signIn(page, ALICE)
      await page.getByRole('alert').getByText('Too many failed attempts. Try again in 15 minutes.').waitFor()
      expect(await page.getByLabel('Password').getAttribute('aria-invalid')).toBe('false')
    })

    test('a server that is away, and back; a second press on the way sends nothing', async () => {
      const { page, app } = await open()
      await app.clearingHouse.stop()
      await signIn(page, ALICE)
      await page.getByText('Cannot reach the clearing-house API.').waitFor()
      await app.clearingHouse.start()
      const posts = postsOf(page)
      const { promise: gone, resolve: go } = deferred<void>()
      await page.route('**/authentication/token', (route) => gone.then(() => route.continue()))
      await press(page, 'Sign in')
      await page.getByRole('button', { name: 'Signing in …' }).click({ force: true })
      go()
      await chartOf(page).waitFor()
      expect(posts).toHaveLength(1)
    })

    test('over plain http the page says why it does not sign in, and sends nothing', async () => {
      const { page, app } = await open()
      const posts = postsOf(page)
      await page.route('http://api.example.com/**', async (route) => {
        const { pathname } = new URL(route.request().url())
        await route.fulfill({ response: await route.fetch({ url: app.clearingHouse.url + pathname }) })
      })
      await page.goto('http://api.example.com/')
      await page.getByRole('alert').getByText('This page needs https.').waitFor()
      await page.getByLabel('Email').fill(ALICE.email)
      await page.getByLabel('Password').fill(ALICE.password)
      await page.keyboard.press('Enter')
      expect(await page.getByRole('button', { name: 'Sign in' }).isDisabled()).toBe(true)
      await expectAccessible(page)
      expect(posts).toEqual([])
    })
  })

  describe('signed in', () => {
    test('what the token says, both houses’ statements, and the totals of the other API', async () => {
      const { page, app, complaints, origins } = await openSignedIn()
      await page.getByText('Signed in as alice@example.com').waitFor()
      const { id } = (await app.accounts.findByEmail(ALICE.email)) ?? {}
      expect(await claimOf(page, 'Account')).toBe(`Account sub${id}`)
      expect(await claimOf(page, 'May do')).toContain('statements:read reports:read')
      expect(await page.getByRole('timer').textContent()).toMatch(/^(10|9) min/)

      const rows = (name: string) => page.getByRole('table', { name }).getByRole('row').allInnerTexts()
      expect(await rows('Clearing House North')).toEqual([
        'Day\tDescription\tAmount',
        '2013-05-02\tSettlement 1041\t1,250.00',
        '2013-05-02\tClearing fee\t−12.50',
        '2013-05-03\tSettlement 1042\t899.90',
        '2013-05-06\tSettlement 1043\t400.05',
        'Sum\t\t2,537.45',
      ])
      expect(await rows('Clearing House South')).toContain('2013-05-06\tMargin call\t−425.00')
      expect(await chartOf(page).locator('rect').count()).toBe(6)
      expect(await chartOf(page).locator('title').allTextContents()).toContain(
        'Clearing House South, 2013-05-06: −425.00',
      )
      await page.getByText('Show as a table').click()
      expect(await rows('Daily totals')).toEqual([
        'Day\tClearing House North\tClearing House South',
        '2013-05-02\t1,237.50\t3,100.00',
        '2013-05-03\t899.90\t0.09',
        '2013-05-06\t400.05\t−425.00',
      ])
      await expectAccessible(page)
      expect(complaints).toEqual([])
      expect([...origins].sort()).toEqual([app.clearingHouse.url, app.reporting.url].sort())
    })

    test('the token is only in the memory of its tab, and a reload stays signed in until a sign-out', async () => {
      const { page, token } = await openSignedIn()
      const places = (await page.evaluate(`JSON.stringify({
        stores: [{ ...localStorage }, { ...sessionStorage }, document.cookie, window.name, history.state],
        address: location.href,
        page: document.documentElement.outerHTML,
        fields: [...document.querySelectorAll('input')].map(({ value }) => value),
        loaded: performance.getEntries().map(({ name }) => name),
        globals: Object.entries(window).map(([name, value]) => name + String(value)),
      })`)) as string
      expect(places).toContain('alice@example.com')
      for (const secret of [...token.split('.'), ALICE.password]) expect(places).not.toContain(secret)
      expect(await page.evaluate('indexedDB.databases()')).toEqual([])
      const posts = postsOf(page)
      await page.reload()
      await page.getByText('Signed in as alice@example.com').waitFor()
      await chartOf(page).waitFor()
      expect(posts).toEqual([])
      await press(page, 'Sign out')
      await page.getByText('You are signed out.').waitFor()
      await page.reload()
      await page.getByRole('heading', { name: 'Sign in' }).waitFor()
      expect(await page.evaluate('[sessionStorage.length, localStorage.length, history.state]')).toEqual([0, 0, null])
    })

    test('statements come as text, whatever stands in them', async () => {
      const description = '<img src=x onerror="alert(1)"><script>alert(2)</script>'
      const { page, complaints } = await openSignedIn(({ app }) =>
        app.db.updateTable('statements').set({ description }).where('description', '=', 'Margin call').execute(),
      )
      await page.getByText(description).first().waitFor()
      expect(complaints).toEqual([])
    })

    test('an account without the scopes is told which it lacks, and not to try again', async () => {
      const { page } = await open()
      await signIn(page, BOB)
      await says(page, 'You may not see the statements. Your token lacks the scope statements:read.')
      await says(page, 'You may not see the daily totals. Your token lacks the scope reports:read.')
      expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0)
      expect(await claimOf(page, 'May do')).toContain('(nothing)')
      await expectAccessible(page)
    })

    test('the reporting API is down: the rest goes on, and it can be tried again', async () => {
      const { page, app } = await open()
      await app.reporting.stop()
      await signIn(page, ALICE)
      await says(page, 'Cannot reach the online reporting API.')
      await announces(page, 'Cannot reach the online reporting API.')
      await page.getByRole('table', { name: 'Clearing House South' }).waitFor()
      await expectAccessible(page)
      await app.reporting.start()
      await press(page, 'Try again')
      expect(await focused(page)).toBe('h2 Daily totals')
      await chartOf(page).waitFor()
      await announces(page, 'Loaded: daily totals.')
    })

    test('lists the devices, and ends one: its token is refused, and the others work', async () => {
      const { page, app, token, complaints } = await openSignedIn()
      const response = await login(app.clearingHouse.url, ALICE)
      const { authenticationToken: other } = (await response.json()) as { authenticationToken: string }
      await press(page, 'Refresh')
      const rows = page.getByRole('table', { name: 'Devices that are signed in' }).getByRole('row')
      await rows.filter({ hasText: 'Node.js' }).waitFor()
      expect(await rows.filter({ hasText: 'This device' }).getByRole('rowheader').textContent()).toBe('Chrome on Linux')
      await expectAccessible(page)
      await page.getByRole('button', { name: 'End the session of Node.js' }).press('Enter')
      await rows.filter({ hasText: 'Node.js' }).waitFor({ state: 'detached' })
      expect(await focused(page)).toBe('h2 Devices')
      expect(await statusOf(app.clearingHouse.url + NORTH, other)).toBe(401)
      expect(await statusOf(app.reporting.url + REPORT, token)).toBe(200)
      expect(complaints).toEqual([])
    })
  })

  describe('the table of devices on a narrow screen', () => {
    const IPV4 = ['127.0.0.1', '255.255.255.255']
    const IPV6 = ['2001:db8:1234:5678:9abc:def0:1234:5678', '::ffff:203.0.113.250']
    /** A proxy may send another text as the address, and a device may have any name. */
    const LONG = 'x'.repeat(64)

    /** Returns the text of each line of the addresses, as a reader sees them. */
    const linesOfAddresses = (page: Page) =>
      page.evaluate<string[][]>(`[...document.querySelectorAll('#devices-body td:nth-child(2)')].map((cell) => {
        const lines = new Map()
        const range = document.createRange()
        const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT)
        while (texts.nextNode()) {
          const text = texts.currentNode
          for (let i = 0; i < text.length; i++) {
            range.setStart(text, i)
            range.setEnd(text, i + 1)
            const { top } = range.getBoundingClientRect()
            lines.set(top, (lines.get(top) ?? '') + text.data[i])
          }
        }
        return [...lines.values()]
      })`)

    test.each([360, 320])(
      'of %d px shows an IPv4 address in one line, and breaks IPv6 only at colons',
      async (width) => {
        const addresses = [...IPV4, ...IPV6, LONG]
        const time = '2026-09-30T10:44:00Z'
        const sessions = addresses.map((address, i) => {
          const label = ['Chrome on Linux', 'Kiosk at the main entrance', LONG][i] ?? null
          return {
            id: `session-${i}`,
            address,
            label,
            userAgent: null,
            current: i === 0,
            lastUsedAt: time,
            expiresAt: time,
          }
        })
        const { page } = await openSignedIn(({ page: opened }) =>
          opened.route('**/sessions', (route) => route.fulfill({ json: { sessions } })),
        )
        await page.setViewportSize({ width, height: 844 })
        const lines = await linesOfAddresses(page)
        expect(lines.map((parts) => parts.join(''))).toEqual(addresses)
        expect(lines.slice(0, 2)).toEqual(IPV4.map((address) => [address]))
        const broken = lines.slice(2, 4).flatMap((parts) => parts.slice(0, -1))
        expect(broken.filter((line) => !line.endsWith(':'))).toEqual([])
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width)
        const row = page.getByRole('row', { name: 'Kiosk at the main entrance' })
        expect(await row.getByRole('cell').count()).toBe(3)
        await expectAccessible(page)
      },
    )
  })

  describe('the end of a token', () => {
    test('its time runs down, then another one comes without a form', async () => {
      const { page, app, token: old } = await openSignedIn(stopTime)
      expect(await page.getByRole('timer').textContent()).toBe('10 min 00 s')
      await page.clock.fastForward(10 * MINUTE - 45_000)
      expect(await page.getByRole('timer').textContent()).toBe('45 s')
      app.pass(10 * MINUTE)
      await page.clock.fastForward(45_000)
      await page.getByRole('timer').getByText('10 min 00 s').waitFor()
      expect(await statusOf(app.clearingHouse.url + NORTH, old)).toBe(401)
      await press(page, 'Refresh')
      await announces(page, 'Loaded: statements.')
      expect(await page.getByRole('heading', { name: 'Sign in' }).isVisible()).toBe(false)
    })

    test('signed out elsewhere: told at the next call, and the password is not sent again', async () => {
      const { page, app } = await openSignedIn()
      const posts = postsOf(page)
      await app.accounts.setPasswordHash(ALICE.email, 'another')
      await press(page, 'Refresh')
      await isAsked(page, 'Sign in again. Your session has ended', ALICE.email)
      expect(posts).toEqual([])
      await expectAccessible(page)
    })

    test('signing out ends it at once where sessions are, and leaves nothing on the page', async () => {
      const { page, app, token } = await openSignedIn()
      expect(await statusOf(app.clearingHouse.url + NORTH, token)).toBe(200)
      await press(page, 'Sign out')
      await isAsked(page, 'You are signed out. Your session has ended.', '')
      expect(await statusOf(app.clearingHouse.url + NORTH, token)).toBe(401)
      // This API asks no store. It refuses the token when it expires.
      expect(await statusOf(app.reporting.url + REPORT, token)).toBe(200)
      app.pass(10 * MINUTE)
      await until(async () => expect(await statusOf(app.reporting.url + REPORT, token)).toBe(401))
      expect(await page.content()).not.toMatch(/alice|Settlement|statements:read/)
      await expectAccessible(page)
    })

    test('signing out while the server is away: the page ends the session when it is opened again', async () => {
      const { page, app, token } = await openSignedIn()
      await app.clearingHouse.stop()
      await press(page, 'Sign out')
      await page.getByText('You are signed out here, but the page could not reach the server').waitFor()
      await app.clearingHouse.start()
      expect(await statusOf(app.clearingHouse.url + NORTH, token)).toBe(200)
      await page.reload()
      await page.getByRole('heading', { name: 'Sign in' }).waitFor()
      await until(async () => expect(await statusOf(app.clearingHouse.url + NORTH, token)).toBe(401))
    })

    test('what comes in after it is not shown', async () => {
      const { page } = await open()
      const { promise: held, resolve: late } = deferred<void>()
      await page.route('**/daily-totals', async (route) => {
        await held
        await route.continue().catch(() => {})
      })
      await signIn(page, ALICE)
      await page.getByRole('table', { name: 'Clearing House South' }).waitFor()
      await press(page, 'Sign out')
      await page.getByText('You are signed out.').waitFor()
      expect(await page.content()).not.toContain('Cannot reach')
      await signIn(page, BOB)
      await says(page, 'You may not see the statements')
      late()
      await says(page, 'You may not see the daily totals')
      expect(await chartOf(page).count()).toBe(0)
    })
  })

  test('a script that somebody has slipped in does not run', async () => {
    const { page, complaints } = await open()
    await page.evaluate(`for (const src of ['data:text/javascript,document.title="evil"', 'http://127.0.0.1:9/evil.js']) {
      try { document.head.append(Object.assign(document.createElement('script'), { src })) } catch {}
      try { document.body.insertAdjacentHTML('beforeend', '<img src="' + src + '">') } catch {}
    }`)
    expect(await page.title()).toBe('Clearing house')
    expect(complaints.length).toBeGreaterThan(0)
    for (const complaint of complaints)
      expect(complaint).toMatch(/Content Security Policy|TrustedScriptURL|TrustedHTML/)
  })
})

import { readFileSync } from 'node:fs'
import { createLimits, SignInRefusal } from 'express-token-endpoint'
import { describe, expect, it } from 'vitest'
import { startApi } from '../../contract/documents/examples/start-api.js'
import { transpile } from '../../support/documents/compiler.js'
import { readPage } from '../../support/documents/pages.js'
import { root } from '../../support/documents/repository.js'
import { NO_CHROMIUM, startBrowser } from '../../support/services/chromium.js'

const html = (path: string) => readPage(path).blocks.filter(({ language }) => language === 'html')[0]?.code
const block = readPage('docs/guides/pages-and-apps.md').blocks.find(({ name }) => name === 'client-form')
const script = transpile(block?.code ?? '')

const PAGE = `<!doctype html><title>form</title>
  ${html('docs/reference/compatibility.md')}
  ${html('docs/guides/pages-and-apps.md')}
  <p id="statements"></p>
  <script type="module">${script}
    async function showStatements() {
      const response = await api.fetch('/statements')
      document.querySelector('#statements').textContent = await response.text()
    }
    showStatements()
  </script>`

type Api = Parameters<typeof startApi>[0]

describe.skipIf(NO_CHROMIUM)('the HTML and the script of the page on forms, with the import map', () => {
  /** Opens the page of an API. */
  async function open(options?: Api) {
    const { url } = await startApi(options)
    const page = await (await startBrowser()).newPage()
    await page.route(`${url}/`, (route) => route.fulfill({ contentType: 'text/html', body: PAGE }))
    await page.route(`${url}/token-client/**`, (route) => {
      const file = new URL(route.request().url()).pathname.replace('/token-client', 'dist')
      return route.fulfill({ contentType: 'text/javascript', body: readFileSync(root + file, 'utf8') })
    })
    await page.goto(`${url}/`)
    const signIn = page.getByRole('button', { name: 'Sign in' })
    const submit = async (password: string) => {
      await page.getByLabel('Email').fill('alice@example.com')
      await page.getByLabel('Password').fill(password)
      await signIn.click()
    }
    const submitCode = async (code: string) => {
      await page.getByLabel('Code').fill(code)
      await signIn.click()
    }
    return { page, submit, submitCode }
  }

  it('show the form after a wrong password, and a button after the second', async () => {
    const { page, submit } = await open()
    await submit('wrong')
    await page.getByText('Wrong email address or password.').waitFor()
    await submit('wrong too')
    await page.getByRole('button', { name: 'Try again' }).click()
    await submit('secret')
    await page.getByText('{"account":"acc-1"}').waitFor()
    expect(await page.locator('form').isHidden()).toBe(true)
    expect(await page.locator('#sign-in-failed').isHidden()).toBe(true)
  })

  it('show when to try again after too many failed logins, and the form again', async () => {
    const limits = createLimits({ limits: { pair: { points: 1, duration: '15m' } } })
    const { page, submit } = await open({ limits })
    const failure = page.locator('#sign-in-failed')
    await submit('wrong')
    await page.getByText('Wrong email address or password.').waitFor()
    expect(await failure.isHidden()).toBe(true)
    await submit('secret')
    await failure.getByText(/^Try again after .*\d/).waitFor()
    expect(await page.locator('form').isHidden()).toBe(true)
    await page.getByRole('button', { name: 'Try again' }).click()
    await submit('secret')
    await page.locator('form').waitFor({ state: 'hidden' })
    expect(await failure.getByText(/^Try again after .*\d/).isVisible()).toBe(true)
  })

  it('ask for a code after the password, and again after a wrong code', async () => {
    const seen: unknown[] = []
    const { page, submit, submitCode } = await open({
      extraFields: ['otp'],
      beforeSignIn({ fields: { otp } }) {
        seen.push(otp)
        if (otp === undefined) throw new SignInRefusal('code_required')
        if (otp !== '123456') throw new SignInRefusal('wrong_code', { countAsFailure: true })
      },
    })
    await submit('secret')
    await page.getByText('Enter the code from your authenticator app.').waitFor()
    expect(await page.getByLabel('Password').isVisible()).toBe(false)
    await submitCode('000000')
    await page.getByText('Wrong code.').waitFor()
    await submitCode('123456')
    await page.getByText('{"account":"acc-1"}').waitFor()
    expect(seen).toEqual([undefined, '000000', '123456'])
    expect(await page.locator('form').isHidden()).toBe(true)
  })

  it("show the API's own explanation of another refusal, and the whole form", async () => {
    const { page, submit } = await open({
      beforeSignIn() {
        throw new SignInRefusal('email_not_verified', { detail: 'Open the link in our message first.' })
      },
    })
    await submit('secret')
    await page.getByText('Open the link in our message first.').waitFor()
    expect(await page.getByLabel('Password').inputValue()).toBe('')
    expect(await page.getByLabel('Code').isVisible()).toBe(false)
  })
})

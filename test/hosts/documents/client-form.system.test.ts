import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { startApi } from '../../contract/documents/examples/start-api.js'
import { transpile } from '../../support/documents/compiler.js'
import { readPage } from '../../support/documents/pages.js'
import { root } from '../../support/documents/repository.js'
import { NO_CHROMIUM, startBrowser } from '../../support/services/chromium.js'

const html = (path: string) => readPage(path).blocks.filter(({ language }) => language === 'html')[0]?.code
const block = readPage('docs/guides/client-in-a-page.md').blocks.find(({ name }) => name === 'client-form')
const script = transpile(block?.code ?? '')

const PAGE = `<!doctype html><title>form</title>
  ${html('docs/reference/compatibility.md')}
  ${html('docs/guides/client-in-a-page.md')}
  <p id="statements"></p>
  <script type="module">${script}
    async function showStatements() {
      const response = await api.fetch('/statements')
      document.querySelector('#statements').textContent = await response.text()
    }
    showStatements()
  </script>`

describe.skipIf(NO_CHROMIUM)('the HTML and the script of the page on forms, with the import map', () => {
  it('show the form after a wrong password, and a button after the second', async () => {
    const { url } = await startApi()
    const page = await (await startBrowser()).newPage()
    await page.route(`${url}/`, (route) => route.fulfill({ contentType: 'text/html', body: PAGE }))
    await page.route(`${url}/token-client/**`, (route) => {
      const file = new URL(route.request().url()).pathname.replace('/token-client', 'dist')
      return route.fulfill({ contentType: 'text/javascript', body: readFileSync(root + file, 'utf8') })
    })
    await page.goto(`${url}/`)
    const submit = async (password: string) => {
      await page.getByLabel('E-mail').fill('alice@example.com')
      await page.getByLabel('Password').fill(password)
      await page.getByRole('button', { name: 'Sign in' }).click()
    }
    await submit('wrong')
    await page.getByText('Wrong e-mail address or password.').waitFor()
    await submit('wrong too')
    await page.getByRole('button', { name: 'Try again' }).click()
    await submit('secret')
    await page.getByText('{"account":"acc-1"}').waitFor()
    expect(await page.locator('form').isHidden()).toBe(true)
    expect(await page.locator('#sign-in-failed').isHidden()).toBe(true)
  })
})

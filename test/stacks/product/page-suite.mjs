/** The tests of both pages, in Chromium. Run `node --test test/stacks/product/page-suite.mjs`. */
import { after, describe, it } from 'node:test'
import { chromium } from 'playwright-core'
import { PASSWORD, STACKS, startProduct } from '../kit/people.mjs'

const executablePath = process.env['CHROMIUM'] || '/usr/bin/chromium'
const chrome = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] })
after(() => chrome.close())

for (const name of STACKS) {
  const product = await startProduct('product', name)
  describe(`the page of ${name}`, () => {
    after(product.stop)

    async function openPage(path = '/', context = undefined) {
      const page = await (context ?? (await chrome.newContext())).newPage()
      page.setDefaultTimeout(10_000)
      await page.goto(new URL(path, product.url).href)
      return page
    }
    async function fill(page, { email, password, code }) {
      if (email) await page.getByLabel('E-mail').fill(email)
      if (password) await page.getByLabel('Password', { exact: true }).fill(password)
      if (code) await page.getByLabel('Code').fill(code)
      await page.getByRole('button', { name: 'Sign in' }).click()
    }
    const message = (page, text) => page.getByRole('alert').filter({ hasText: text }).waitFor()

    it('shows the sheets after a sign-in and after a reload, until the user signs out', async () => {
      const person = await product.newPerson()
      const browser = await product.signedIn(person)
      await browser.send('POST', '/sheets', { week: '2026-W48', hours: 38 })
      const page = await openPage()
      await fill(page, { ...person, password: 'a wrong password' })
      await message(page, 'is wrong')
      await fill(page, person)
      await page.getByText('2026-W48: 38 h').waitFor()
      await page.reload()
      await page.getByText('2026-W48: 38 h').waitFor()
      await page.getByRole('button', { name: 'Sign out' }).click()
      await page.getByLabel('E-mail').waitFor()
    })

    it('asks for the code of a user with a second factor', async () => {
      const person = await product.newPerson()
      const { codeOf } = await product.withCodes(person)
      const page = await openPage()
      await fill(page, person)
      await message(page, 'Enter the code')
      await fill(page, { code: '000000' })
      await message(page, 'The code is wrong')
      await fill(page, { code: codeOf(1) })
      await page.getByRole('button', { name: 'Sign out' }).waitFor()
    })

    it('takes a recovery code', async () => {
      const person = await product.newPerson()
      const { codeOf } = await product.withCodes(person)
      const [recoveryCode] = await product.renewCodes(await product.signedIn(person, { code: codeOf(0) }), PASSWORD)
      const page = await openPage()
      await fill(page, person)
      await message(page, 'Enter the code')
      await fill(page, { code: recoveryCode })
      await page.getByRole('button', { name: 'Sign out' }).waitFor()
    })

    it('changes the address by the mailed link', async () => {
      const person = await product.newPerson()
      const email = `page-moved-${name}@example.com`
      const page = await openPage()
      await fill(page, person)
      await page.getByRole('button', { name: 'Sign out' }).waitFor()
      await product.changeAddress(await product.signedIn(person), email)
      const opened = await openPage(await product.linkTo(email, 'new-address'), page.context())
      await opened.getByRole('button', { name: 'Sign out' }).waitFor()
      await product.signedIn({ ...person, email })
    })

    it('finishes the sign-up, and sets a new password, by the mailed links', async () => {
      const person = { email: 'page@example.com', password: PASSWORD }
      await product.signUp(product.open(), person.email, PASSWORD)
      const page = await openPage()
      await fill(page, person)
      await message(page, /Open the link|is wrong/)
      const opened = await openPage(await product.linkTo(person.email, 'sign-up'))
      const setPassword = opened.getByRole('button', { name: 'Set the password' })
      await opened.getByRole('button', { name: 'Sign in' }).or(setPassword).waitFor()
      if (await setPassword.isVisible()) {
        await opened.getByLabel('New password').fill(PASSWORD)
        await setPassword.click()
        await opened.getByRole('button', { name: 'Sign out' }).waitFor()
      }
      await product.requestReset(product.open(), person.email)
      const reset = await openPage(await product.linkTo(person.email, 'password-reset'))
      await reset.getByLabel('New password').fill('a second password')
      await reset.getByRole('button', { name: 'Set the password' }).click()
      await fill(reset, { ...person, password: 'a second password' })
      await reset.getByRole('button', { name: 'Sign out' }).waitFor()
    })
  })
}

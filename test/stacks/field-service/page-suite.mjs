/** The tests of the second product's pages, in Chromium. Run `node --test test/stacks/field-service/page-suite.mjs`. */
import { after, describe, it } from 'node:test'
import { chromium } from 'playwright-core'
import { PASSWORD, STACKS, startProduct } from '../kit/people.mjs'

const executablePath = process.env['CHROMIUM'] || '/usr/bin/chromium'
const chrome = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] })
after(() => chrome.close())

for (const name of STACKS) {
  const product = await startProduct('field-service', name)
  describe(`the page of ${name}`, () => {
    after(product.stop)

    async function openPage(path = '/', context = undefined) {
      const page = await (context ?? (await chrome.newContext())).newPage()
      page.setDefaultTimeout(10_000)
      await page.goto(new URL(path, product.url).href)
      return page
    }
    const click = (page, button) => page.getByRole('button', { name: button }).first().click()
    const message = (page, text) => page.getByRole('alert').filter({ hasText: text }).waitFor()
    async function signIn(page, { email, password }) {
      await page.getByLabel('E-mail').fill(email)
      await page.getByLabel('Password', { exact: true }).fill(password)
      await click(page, 'Sign in')
    }

    it('signs a user up, keeps them signed in after a reload, and signs them out', async () => {
      const person = { email: `page-${name}@example.com`, password: PASSWORD }
      const page = await openPage()
      await product.signUpOnPage(page, person, 'Grace Field')
      await message(page, 'Open the link')
      const opened = await openPage(await product.linkTo(person.email, 'sign-up'), page.context())
      await product.finishOnPage(opened, person, 'Grace Field')
      await opened.getByText(`Grace Field, ${person.email}`).waitFor()
      await opened.reload()
      await opened.getByText(`Grace Field, ${person.email}`).waitFor()
      await click(opened, 'Sign out')
      await opened.getByLabel('E-mail').waitFor()
    })

    it('asks for the code of a user with a second factor, and takes a recovery code', async () => {
      const person = await product.newPerson()
      const { codeOf } = await product.withCodes(person)
      const [recoveryCode] = await product.renewCodes(await product.signedIn(person, { code: codeOf(0) }), PASSWORD)
      const page = await openPage()
      await signIn(page, person)
      for (const code of ['000000', recoveryCode]) {
        await page.getByLabel('Code, or a recovery code').fill(code)
        await click(page, 'Continue')
        if (code === '000000') await message(page, /wrong|Invalid/)
      }
      await page.getByText('this one').first().waitFor()
    })

    it('shows a new job at once, takes its report, and downloads it', async () => {
      const person = await product.newPerson()
      const page = await openPage()
      await signIn(page, { ...person, password: 'a wrong password' })
      await message(page, 'is wrong')
      await signIn(page, person)
      await page.getByText('this one').waitFor()
      const dispatcher = await product.signedIn(await product.newManager())
      await dispatcher.send('POST', '/jobs', { title: 'Repair the pump', email: person.email })
      await page.getByText('Repair the pump: open').waitFor()
      page.once('dialog', (dialog) => dialog.accept('The pump runs.'))
      await click(page, 'Report')
      await page.getByText('Repair the pump: The pump runs.').waitFor()
      const [download] = await Promise.all([page.waitForEvent('download'), click(page, 'Download')])
      if (download.suggestedFilename() !== 'job-1.txt') throw new Error(download.suggestedFilename())
    })

    it('sets a new password by a mailed link, and ends another device', async () => {
      const person = await product.newPerson()
      const page = await openPage()
      await page.getByLabel('E-mail').fill(person.email)
      await click(page, 'Forgot the password')
      await message(page, 'Open the link')
      const opened = await openPage(await product.linkTo(person.email, 'password-reset'))
      await opened.getByLabel('New password').fill('a second password')
      await click(opened, 'Set the password')
      await signIn(opened, { ...person, password: 'a second password' })
      await opened.getByText('this one').waitFor()
      const other = await product.signedIn({ ...person, password: 'a second password' })
      await opened.reload()
      await opened.locator('#devices li', { hasNotText: 'this one' }).getByRole('button').first().click()
      await opened.locator('#devices li', { hasNotText: 'this one' }).waitFor({ state: 'detached' })
      if ((await product.status(other, '/jobs')) !== 401) throw new Error('the other device is still signed in')
    })

    it('changes the password and the address, and deletes the account', async () => {
      const person = await product.newPerson()
      const page = await openPage()
      await signIn(page, person)
      await page.getByLabel('Old password').fill('a wrong password')
      await page.getByLabel('Next password').fill('a second password')
      await click(page, 'Change the password')
      await page.getByRole('alert').filter({ hasText: /./ }).waitFor()
      await page.getByLabel('Old password').fill(PASSWORD)
      await click(page, 'Change the password')
      await message(page, 'The password is changed.')
      const email = `page-moved-${name}@example.com`
      await page.getByLabel('New address').fill(email)
      await click(page, 'Change the address')
      await message(page, 'Open the link')
      const opened = await openPage(await product.linkTo(email, 'new-address'), page.context())
      await opened.getByText(`Ada Field, ${email}`).waitFor()
      await product.removeOnPage(opened, 'a second password')
      await message(opened, 'The account is deleted.')
      if ((await product.signIn(product.open(), { email, password: 'a second password' })) !== 'refused')
        throw new Error('the account is still there')
    })
  })
}

/** The tests of both products. Run `node --test test/stacks/product/suite.mjs`. */
import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { PASSWORD, STACKS, startProduct } from '../kit/people.mjs'

const DAY = 24 * 60 * 60
/** A product refuses a user whose address is not verified with its own code, or has no account yet. */
const NOT_YET = /^(email_not_verified|refused)$/
const week = { week: '2026-W48', hours: 40 }

for (const name of STACKS) {
  const product = await startProduct('product', name)
  const { open, linkTo, newPerson, newManager, signedIn, status } = product
  describe(name, () => {
    after(product.stop)

    it('signs a user up, who must verify the address first', async () => {
      const browser = open()
      const person = { email: `New-${name}@Example.com`, password: PASSWORD }
      const email = person.email.toLowerCase()
      assert.ok((await product.signUp(browser, person.email, PASSWORD)) < 300)
      assert.match(await product.signIn(browser, person), NOT_YET)
      assert.equal(await status(browser), 401)
      const link = await linkTo(email, 'sign-up')
      assert.ok((await product.verify(browser, link, PASSWORD)) < 400)
      assert.equal(await product.signIn(browser, person), 'signed_in')
      assert.equal(await status(browser), 200)
    })

    it('does not tell at the sign-up that an address has an account, and keeps its password', async () => {
      const person = await newPerson()
      const fresh = await product.signUp(open(), `fresh-${name}@example.com`, PASSWORD)
      assert.equal(await product.signUp(open(), person.email, 'another password'), fresh)
      await signedIn(person)
      assert.equal(await product.signIn(open(), { ...person, password: 'another password' }), 'refused')
    })

    it('refuses a short password, and a body without a password', async () => {
      for (const password of ['short', undefined]) {
        const found = await product.join(open(), { email: `short-${name}@example.com`, password })
        assert.ok(found >= 400 && found < 500, String(found))
      }
    })

    it('refuses a request without a body', async () => {
      const browser = await signedIn(await newPerson())
      assert.equal((await browser.send('POST', '/sheets')).status, 422)
      for (const outcome of [await product.signUp(open()), await product.reset(open(), '#reset=')])
        assert.ok(outcome >= 400 && outcome < 500, String(outcome))
    })

    it('refuses a user who has not verified the address each time', async () => {
      const person = { email: `unread-${name}@example.com`, password: PASSWORD }
      await product.signUp(open(), person.email, PASSWORD)
      for (let i = 0; i < 8; i++) assert.match(await product.signIn(open(), person), NOT_YET)
      assert.ok((await product.verify(open(), await linkTo(person.email, 'sign-up'), PASSWORD)) < 400)
      await signedIn(person)
    })

    it('shows employees their own sheets, and lets only a manager approve them', async () => {
      const [alice, bob] = [await signedIn(await newPerson()), await signedIn(await newPerson())]
      const manager = await signedIn(await newManager())
      const created = await alice.send('POST', '/sheets', week)
      assert.equal(created.status, 201)
      const { id } = JSON.parse(created.text)
      assert.deepEqual(JSON.parse((await bob.send('GET', '/sheets')).text), [])
      assert.equal(JSON.parse((await alice.send('GET', '/sheets')).text).length, 1)
      assert.equal((await alice.send('POST', `/sheets/${id}/approve`)).status, 403)
      assert.equal((await manager.send('POST', `/sheets/${id}/approve`)).status, 204)
      assert.equal((await manager.send('POST', '/sheets/9999/approve')).status, 404)
      const [sheet] = JSON.parse((await alice.send('GET', '/sheets')).text)
      assert.ok(sheet.approved_by)
      assert.ok(JSON.parse((await manager.send('GET', '/sheets')).text).some((one) => one.id === id))
    })

    it('refuses a sheet that is none, and a request without a sign-in', async () => {
      const browser = await signedIn(await newPerson())
      for (const body of [{}, { week: 'now', hours: 1 }, { ...week, hours: 1000 }, { ...week, hours: 'x' }])
        assert.equal((await browser.send('POST', '/sheets', body)).status, 422)
      for (const path of ['/sheets', '/audit']) assert.equal(await status(open(), path), 401)
      assert.equal((await open().send('POST', '/sheets', week)).status, 401)
    })

    it('asks for a code once the second factor is on, and takes each code once', async () => {
      const person = await newPerson()
      const { codeOf, confirmed } = await product.withCodes(person)
      assert.ok(confirmed < 300)
      assert.equal(await product.signIn(open(), person), 'code_required')
      assert.equal(await product.signIn(open(), { ...person, code: '000000' }), 'wrong_code')
      await signedIn(person, { code: codeOf(0) })
      const browser = open()
      assert.equal(await product.signIn(browser, { ...person, code: codeOf(0) }), 'wrong_code')
      assert.equal(await status(browser), 401)
      await signedIn(person, { code: codeOf(1) })
    })

    it('takes each recovery code once, and none of before a renewal', async () => {
      const person = await newPerson()
      const { codeOf } = await product.withCodes(person)
      const browser = await signedIn(person, { code: codeOf(0) })
      const [first, second] = await product.renewCodes(browser, PASSWORD)
      assert.equal(await product.signIn(open(), { ...person, code: `${first}x` }), 'wrong_code')
      await signedIn(person, { code: first })
      assert.equal(await product.signIn(open(), { ...person, code: first }), 'wrong_code')
      const [renewed] = await product.renewCodes(browser, PASSWORD)
      assert.equal(await product.signIn(open(), { ...person, code: second }), 'wrong_code')
      await signedIn(person, { code: renewed })
    })

    it('changes the address by a link to the new one, and tells the old one', async () => {
      const person = await newPerson()
      const email = `moved-${name}@example.com`
      const browser = await signedIn(person)
      assert.ok((await product.changeAddress(browser, email)) < 300)
      assert.equal(await product.signIn(open(), { ...person, email }), 'refused')
      assert.ok((await product.confirmAddress(browser, await linkTo(email, 'new-address'))) < 400)
      await linkTo(person.email, 'address-changed')
      assert.equal(await product.signIn(open(), person), 'refused')
      await signedIn({ ...person, email })
    })

    it('does not turn the second factor on with a wrong code', async () => {
      const person = await newPerson()
      const browser = await signedIn(person)
      await product.enrol(browser, PASSWORD)
      assert.ok((await product.confirm(browser, '000000')) >= 400)
      await signedIn(person)
    })

    it('sets a new password by a mailed link that works once, and ends all sessions', async () => {
      const person = await newPerson()
      const browser = await signedIn(person)
      assert.ok((await product.requestReset(open(), person.email)) < 300)
      assert.ok((await product.requestReset(open(), `unknown-${name}@example.com`)) < 300)
      const link = await linkTo(person.email, 'password-reset')
      assert.ok((await product.reset(open(), link, 'short')) >= 400)
      assert.ok((await product.reset(open(), link, 'a second password')) < 300)
      assert.equal(await status(browser), 401)
      assert.ok((await product.reset(open(), link, 'a third password')) >= 400)
      assert.equal(await product.signIn(open(), person), 'refused')
      await signedIn({ ...person, password: 'a second password' })
    })

    it('lists the sessions, ends one by a sign-out, and all of them at once', async () => {
      const person = await newPerson()
      const first = await signedIn(person)
      const count = await product.sessions(first)
      const [second, third] = [await signedIn(person), await signedIn(person)]
      assert.equal(await product.sessions(first), count + 2)
      const copy = third.copy()
      await product.signOut(third)
      assert.equal(await status(copy), 401)
      assert.equal(await product.sessions(first), count + 1)
      await product.signOutEverywhere(first)
      for (const browser of [first, second]) assert.equal(await status(browser), 401)
    })

    it('remembers a user for 30 days, and otherwise until the browser ends', async () => {
      const person = await newPerson()
      const ages = (browser) => [...browser.cookies.values()].map(({ seconds }) => seconds ?? 0)
      const kept = Math.max(...ages(await signedIn(person, { remember: true })))
      assert.ok(kept > 29 * DAY && kept <= 30 * DAY, String(kept))
      assert.ok(Math.max(...ages(await signedIn(person, { remember: false }))) <= DAY)
    })

    it('keeps three tabs signed in that refresh at the same time', async () => {
      const browser = await signedIn(await newPerson())
      const tabs = [browser, browser.copy(), browser.copy()]
      assert.deepEqual(await Promise.all(tabs.map(product.refresh)), [200, 200, 200])
      for (const tab of tabs) {
        assert.equal(await product.refresh(tab), 200)
        assert.equal(await status(tab), 200)
      }
    })

    it('refuses a disabled user at once', async () => {
      const person = await newPerson()
      const [browser, manager] = [await signedIn(person), await signedIn(await newManager())]
      assert.ok((await product.disable(browser, person.email)) >= 400)
      assert.ok((await product.disable(manager, person.email)) < 300)
      assert.equal(await status(browser), 401)
      assert.notEqual(await product.signIn(open(), person), 'signed_in')
    })

    it('writes who did what from where, also for a manager who acts as a user', async () => {
      const person = await newPerson()
      const [manager, viewer] = [await signedIn(await newManager()), await signedIn(await newManager())]
      await product.signIn(open('203.0.113.9'), { ...person, password: 'a wrong password' })
      await product.actAs(manager, person.email)
      assert.equal((await manager.send('POST', '/sheets', week)).status, 201)
      const rows = JSON.parse((await viewer.send('GET', '/audit')).text)
      const row = rows.find(({ action, address }) => action === 'POST /sheets' && address === manager.address)
      assert.ok(row.user_id && row.actor_id && row.user_id !== row.actor_id)
      assert.ok(rows.some(({ address, action }) => address === '203.0.113.9' && action))
      assert.equal(await status(await signedIn(person), '/audit'), 403)
    })

    it('describes its routes in an OpenAPI document', async () => {
      const document = JSON.parse((await open().send('GET', '/openapi.json')).text)
      assert.match(document.openapi, /^3\.1/)
      for (const path of ['/sheets', '/sheets/{id}/approve', '/audit']) assert.ok(document.paths[path], path)
      assert.ok(Object.keys(document.paths).length > 10)
    })
  })
}

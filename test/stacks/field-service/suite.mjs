/** The tests of the second product in both stacks. Run `node --test test/stacks/field-service/suite.mjs`. */
import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { PASSWORD, STACKS, startProduct } from '../kit/people.mjs'

const DAY = 24 * 60 * 60
const json = ({ text }) => JSON.parse(text)

for (const name of STACKS) {
  const product = await startProduct('field-service', name)
  const { open, linkTo, newPerson, newManager, signedIn } = product
  const status = (browser, path = '/jobs') => product.status(browser, path)
  /** A dispatcher gives a technician a job. Returns its id. */
  async function newJob(dispatcher, person, title = 'Repair the pump') {
    const created = await dispatcher.send('POST', '/jobs', { title, email: person.email })
    assert.equal(created.status, 201)
    return json(created).id
  }

  describe(name, () => {
    after(product.stop)

    it('signs a user up by a mailed link, with a name', async () => {
      const person = { email: `New-${name}@Example.com`, password: PASSWORD, name: 'Grace Field' }
      const email = person.email.toLowerCase()
      const browser = open()
      assert.ok((await product.signUp(browser, person.email, PASSWORD, person.name)) < 300)
      assert.equal(await product.signIn(browser, person), 'refused')
      const link = await linkTo(email, 'sign-up')
      assert.ok((await product.verify(browser, link, PASSWORD, person.name)) < 400)
      assert.equal(await product.signIn(browser, person), 'signed_in')
      assert.deepEqual(json(await browser.send('GET', '/me')), { name: 'Grace Field', email })
    })

    it('refuses a sign-up without a name, with a short password, or with no address', async () => {
      const email = `none-${name}@example.com`
      for (const wrong of [{ name: undefined }, { password: 'short' }, { email: 'nobody' }, { email: undefined }]) {
        const found = await product.join(open(), { email, password: PASSWORD, name: 'Grace', ...wrong })
        assert.ok(found >= 400 && found < 500, `${JSON.stringify(wrong)}: ${found}`)
      }
    })

    it('does not tell at the sign-up that an address has an account, and changes nothing of it', async () => {
      const person = await newPerson()
      const fresh = await product.signUp(open(), `fresh-${name}@example.com`, PASSWORD, 'Grace')
      assert.equal(await product.signUp(open(), person.email, 'a different password', 'Mallory'), fresh)
      const browser = await signedIn(person)
      assert.equal(json(await browser.send('GET', '/me')).name, 'Ada Field')
      assert.equal(await product.signIn(open(), { ...person, password: 'a different password' }), 'refused')
    })

    it('remembers a user for 30 days, and otherwise until the browser ends', async () => {
      const person = await newPerson()
      const ages = (browser) => [...browser.cookies.values()].map(({ seconds }) => seconds ?? 0)
      const kept = Math.max(...ages(await signedIn(person, { remember: true })))
      assert.ok(kept > 29 * DAY && kept <= 30 * DAY, String(kept))
      assert.ok(Math.max(...ages(await signedIn(person, { remember: false }))) <= DAY)
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

    it('changes the password with the old one, and ends the other sessions', async () => {
      const person = await newPerson()
      const [first, second] = [await signedIn(person), await signedIn(person)]
      assert.ok((await product.changePassword(first, 'a wrong password', 'a second password')) >= 400)
      assert.ok((await product.changePassword(first, PASSWORD, 'short')) >= 400)
      assert.equal(await status(second), 200)
      assert.ok((await product.changePassword(first, PASSWORD, 'a second password')) < 300)
      assert.deepEqual([await status(first), await status(second)], [200, 401])
      assert.equal(await product.signIn(open(), person), 'refused')
      await signedIn({ ...person, password: 'a second password' })
    })

    it('changes the address by a link to the new one, and tells the old one', async () => {
      const person = await newPerson()
      const email = `moved-${name}@example.com`
      const browser = await signedIn(person)
      assert.ok((await product.changeAddress(browser, email)) < 300)
      await signedIn(person)
      assert.equal(await product.signIn(open(), { ...person, email }), 'refused')
      assert.ok((await product.confirmAddress(browser, await linkTo(email, 'new-address'))) < 400)
      await linkTo(person.email, 'address-changed')
      assert.equal(await product.signIn(open(), person), 'refused')
      const moved = await signedIn({ ...person, email })
      assert.equal(json(await moved.send('GET', '/me')).email, email)
    })

    it('asks for a code once the second factor is on', async () => {
      const person = await newPerson()
      const { codeOf, confirmed } = await product.withCodes(person)
      assert.ok(confirmed < 300)
      assert.equal(await product.signIn(open(), person), 'code_required')
      assert.equal(await product.signIn(open(), { ...person, code: '000000' }), 'wrong_code')
      assert.equal(await status(await signedIn(person, { code: codeOf(0) })), 200)
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

    it('does not move a user to the address of somebody else, and does not tell that there is one', async () => {
      const [person, other] = [await newPerson(), await newPerson()]
      const browser = await signedIn(person)
      const free = await product.changeAddress(browser, `free-${name}@example.com`)
      assert.equal(await product.changeAddress(browser, other.email), free)
      await signedIn(other)
      await signedIn(person)
    })

    it('lists the devices, and ends one, the others, or the current one', async () => {
      const person = await newPerson()
      const [first, second, third] = [await signedIn(person), await signedIn(person), await signedIn(person)]
      const ids = await product.devices(first)
      assert.ok(ids.length >= 3)
      const [ofSecond] = await product.devices(second)
      assert.ok((await product.endDevice(first, ofSecond)) < 300)
      assert.deepEqual([await status(first), await status(second), await status(third)], [200, 401, 200])
      assert.equal((await product.devices(first)).length, ids.length - 1)
      assert.ok((await product.endOthers(first)) < 300)
      assert.deepEqual([await status(first), await status(third)], [200, 401])
      const copy = first.copy()
      await product.signOut(first)
      assert.equal(await status(copy), 401)
    })

    it('does not end the device of somebody else', async () => {
      const [alice, bob] = [await signedIn(await newPerson()), await signedIn(await newPerson())]
      const [id] = await product.devices(bob)
      await product.endDevice(alice, id)
      assert.equal(await status(bob), 200)
    })

    it('deletes an account with its jobs, and lets its owner begin anew', async () => {
      const person = await newPerson()
      const [browser, dispatcher] = [await signedIn(person), await signedIn(await newManager())]
      const id = await newJob(dispatcher, person)
      assert.ok((await product.remove(browser)) < 300)
      assert.equal(await status(browser), 401)
      assert.equal(await product.signIn(open(), person), 'refused')
      assert.ok(!json(await dispatcher.send('GET', '/jobs')).some((job) => job.id === id))
      assert.ok((await product.join(open(), person)) < 400)
      assert.deepEqual(json(await (await signedIn(person)).send('GET', '/jobs')), [])
    })

    it('gives jobs to technicians, who see and report only their own', async () => {
      const people = [await newPerson(), await newPerson()]
      const [alice, bob] = await Promise.all(people.map((person) => signedIn(person)))
      const dispatcher = await signedIn(await newManager())
      assert.equal((await alice.send('POST', '/jobs', { title: 'x', email: people[0].email })).status, 403)
      for (const body of [undefined, {}, { title: '', email: people[0].email }, { title: 'x', email: 1 }])
        assert.equal((await dispatcher.send('POST', '/jobs', body)).status, 422)
      assert.equal((await dispatcher.send('POST', '/jobs', { title: 'x', email: 'nobody@example.com' })).status, 404)
      const id = await newJob(dispatcher, people[0])
      assert.equal((await bob.send('POST', `/jobs/${id}/report`, { report: 'Done' })).status, 404)
      assert.equal((await alice.send('POST', `/jobs/${id}/report`, { report: '' })).status, 422)
      assert.equal((await alice.send('POST', `/jobs/${id}/report`, { report: 'Done' })).status, 204)
      assert.deepEqual(json(await bob.send('GET', '/jobs')), [])
      assert.equal(json(await alice.send('GET', '/jobs'))[0].report, 'Done')
      assert.ok(json(await dispatcher.send('GET', '/jobs')).some((job) => job.id === id))
      for (const path of ['/jobs', '/me', '/audit', '/changes']) assert.equal(await status(open(), path), 401)
    })

    it('gives a link that downloads a report without a header, only to those who see the job', async () => {
      const person = await newPerson()
      const [alice, bob] = [await signedIn(person), await signedIn(await newPerson())]
      const id = await newJob(await signedIn(await newManager()), person)
      await alice.send('POST', `/jobs/${id}/report`, { report: 'The pump runs.' })
      const url = await product.reportUrl(alice, id)
      const follow = (browser, link) => browser.open('GET', link, undefined, { authorization: '' })
      const found = await follow(alice, url)
      assert.match(found.headers.get('content-disposition'), /^attachment/)
      assert.match(await found.text(), /Repair the pump\s+The pump runs\./)
      assert.ok([401, 404].includes((await follow(bob, `/jobs/${id}/report.txt`)).status))
      assert.equal((await follow(open(), `/jobs/${id}/report.txt`)).status, 401)
      await product.signOut(alice)
      assert.equal((await follow(alice, url)).status, 401)
    })

    it('streams the changes of jobs to those who see them', async () => {
      const people = [await newPerson(), await newPerson()]
      const [alice, bob] = await Promise.all(people.map((person) => signedIn(person)))
      const dispatcher = await signedIn(await newManager())
      const streams = await Promise.all([alice, bob, dispatcher].map((one) => one.open('GET', '/changes')))
      assert.match(streams[0].headers.get('content-type'), /^text\/event-stream/)
      const readers = streams.map(({ body }) => body.pipeThrough(new TextDecoderStream()).getReader())
      const ofBob = readers[1].read()
      await newJob(dispatcher, people[0])
      for (const reader of [readers[0], readers[2]]) assert.match((await reader.read()).value, /^data: job/)
      await newJob(dispatcher, people[1], 'For Bob')
      assert.equal((await ofBob).value.match(/data: job/g).length, 1)
      await Promise.all(readers.map((reader) => reader.cancel()))
    })

    it('shows users what happened to their account, from where', async () => {
      const [person, other] = [await newPerson(), await signedIn(await newPerson())]
      const browser = await signedIn(person)
      await product.signIn(open('203.0.113.9'), { ...person, password: 'a wrong password' })
      await product.changePassword(browser, PASSWORD, 'a second password')
      const rows = json(await browser.send('GET', '/audit'))
      assert.ok(rows.some(({ address, status }) => address === '203.0.113.9' && status !== '200'))
      assert.ok(rows.some(({ action, address }) => /password/.test(action) && address === browser.address))
      assert.ok(!json(await other.send('GET', '/audit')).some(({ address }) => address === '203.0.113.9'))
    })

    it('describes its routes in an OpenAPI document', async () => {
      const document = json(await open().send('GET', '/openapi.json'))
      assert.match(document.openapi, /^3\.1/)
      for (const path of ['/me', '/jobs', '/jobs/{id}/report', '/changes', '/audit'])
        assert.ok(document.paths[path], path)
      assert.ok(Object.keys(document.paths).length > 15)
    })
  })
}

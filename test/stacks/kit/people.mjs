import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { Secret, TOTP } from 'otpauth'
import { openBrowser } from './browser.mjs'
import { mailTo } from './outbox.mjs'

/** The people of the suites and of the trials, for each product in each stack. */

export const PASSWORD = 'a quiet harbour at dawn'
export const STACKS = ['express-token-endpoint', 'better-auth']
let people = 0

/** Starts a product in a stack, in this process. */
export async function startProduct(folder, name) {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${server.address().port}`
  const SECRET = randomBytes(32).toString('base64url')
  Object.assign(process.env, { BASE_URL: url, DATABASE: ':memory:', SECRET })
  const driver = await import(`../${folder}/${name}/driver.mjs`)
  server.on('request', driver.app)
  const open = (address) => openBrowser(url, address)
  const linkTo = async (email, subject) => (await mailTo(email, subject)).link

  /** Signs a person up, and opens the mailed link. Returns the first status that is a refusal, or the last status. */
  async function join(browser, { email, password, name }) {
    const status = await driver.signUp(browser, email, password, name)
    return status < 400 ? driver.verify(browser, await linkTo(email.toLowerCase(), 'sign-up'), password, name) : status
  }

  /** Signs up a person whose address is verified, and who is not signed in. */
  async function newPerson(role = 'person') {
    const person = { email: `${role}-${++people}@example.com`, password: PASSWORD, name: 'Ada Field' }
    const status = await join(open(), person)
    if (status >= 400) throw new Error(`${name}: the sign-up of ${person.email}: ${status}`)
    return person
  }

  /** Returns a browser in which the person is signed in. */
  async function signedIn(person, more = {}) {
    const browser = open()
    const outcome = await driver.signIn(browser, { ...person, ...more })
    if (outcome !== 'signed_in') throw new Error(`${name}: the sign-in of ${person.email}: ${outcome}`)
    return browser
  }

  async function newManager() {
    const person = await newPerson('manager')
    await driver.makeManager(person.email)
    return person
  }

  /** Turns the second factor on with the code before the current one. Returns the code of a step: -1, 0 or 1. */
  async function withCodes(person) {
    const browser = await signedIn(person)
    const secret = await driver.enrol(browser, person.password)
    const totp = new TOTP({ secret: Secret.fromBase32(secret) })
    const now = Date.now()
    const codeOf = (step) => totp.generate({ timestamp: now + step * 30_000 })
    return { secret, codeOf, confirmed: await driver.confirm(browser, codeOf(-1)) }
  }

  return {
    ...driver,
    url,
    open,
    linkTo,
    join,
    newPerson,
    newManager,
    signedIn,
    withCodes,
    status: async (browser, path = '/sheets') => (await browser.send('GET', path)).status,
    stop() {
      server.close()
      server.closeAllConnections()
    },
  }
}

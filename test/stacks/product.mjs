import { readFileSync } from 'node:fs'
import { outbox } from './kit/outbox.mjs'
import { PASSWORD, STACKS, startProduct } from './kit/people.mjs'

/** Counts the lines of two products in two stacks, and tries the first one: `test/stacks/product.md` has the output. */

const FOLDERS = { 'time sheets': 'product', 'field service': 'field-service' }

const PARTS = {
  'lines of the server': ['server.mjs'],
  'lines of the page': ['page/index.html', 'page/page.js'],
  'lines of the driver for the tests': ['driver.mjs'],
}

const linesOf = (folder, files) =>
  files
    .flatMap((file) => readFileSync(new URL(`${folder}/${file}`, import.meta.url), 'utf8').split('\n'))
    .filter((line) => /\S/.test(line) && !/^\s*(\/\/|\/?\*|<!--)/.test(line)).length

/** Counts the packages of the server. This package is the folder `dist`. */
function packagesOf(folder) {
  const source = readFileSync(new URL(`${folder}/server.mjs`, import.meta.url), 'utf8')
  const found = [...source.matchAll(/from '(?!node:)((?:\.\.\/)+dist|@?[\w-]+)/g)]
  return new Set(found.map(([, from]) => from)).size
}

/** Returns the rows of the counts of a product in a stack. */
function count(product, name) {
  const folder = `${FOLDERS[product]}/${name}`
  const lines = Object.entries(PARTS).map(([part, files]) => [part, linesOf(folder, files)])
  const all = lines.reduce((sum, [, found]) => sum + found, 0)
  const rows = [...lines, ['lines in all', all], ['packages that the server imports', packagesOf(folder)]]
  return Object.fromEntries(rows.map(([row, found]) => [`${product}: ${row}`, found]))
}

/** Calls `guess` with the number of the call until it is limited. Returns the number of guesses that were checked. */
async function untilLimited(most, guess) {
  for (let i = 0; i < most; i++) if ((await guess(i)) === 'limited') return i
  return 'never'
}

/** Tries a product. Each trial has its own people and addresses. Returns the result of each row. */
async function tryOut(name) {
  const product = await startProduct('product', name)
  const { open, linkTo, newPerson, newManager, signedIn, status } = product
  const spread = (net) => (i) => open(`${net}.${1 + (i % 25)}`)
  const guessesOf = (person, browserOf, more, most = 110) =>
    untilLimited(most, (i) => product.signIn(browserOf(i), { ...person, ...more }))
  const one = (address) => () => open(address)
  const textOfTables = () =>
    product.database
      .prepare("select name from sqlite_master where type = 'table'")
      .all()
      .map((table) => JSON.stringify(product.database.prepare(`select * from "${table.name}"`).all()))
      .join()
  const isStored = (text) => (textOfTables().includes(text) ? 'yes' : 'no')

  const rows = {}
  const wrong = { password: 'a wrong password' }
  rows['wrong passwords before 429: one account, one address'] = await guessesOf(
    await newPerson(),
    one('203.0.113.1'),
    wrong,
    12,
  )
  rows['wrong passwords before 429: one account, 25 addresses'] = await guessesOf(
    await newPerson(),
    spread('192.0.2'),
    wrong,
  )
  rows['correct passwords before 429: one address'] = await guessesOf(await newPerson(), one('203.0.113.2'), {}, 20)

  for (const [from, browserOf] of Object.entries({
    'one address': one('203.0.113.3'),
    '25 addresses': spread('198.18.0'),
  })) {
    const person = await newPerson()
    await product.withCodes(person)
    const row = `wrong codes with the correct password before 429: ${from}`
    rows[row] = await guessesOf(person, browserOf, { code: '000000' })
  }

  const guessed = await newPerson()
  const app = await product.withCodes(guessed)
  const newAddress = spread('198.18.1')
  for (let i = 0; i < 20; i++) await product.signIn(newAddress(i), { ...guessed, code: '000000' })
  rows['the correct code after 20 wrong codes from 20 addresses'] = await product.signIn(open(), {
    ...guessed,
    code: app.codeOf(1),
  })

  const person = await newPerson()
  const { codeOf, secret } = await product.withCodes(person)
  await signedIn(person, { code: codeOf(0) })
  rows['a code of the second factor, used again'] = await product.signIn(open(), { ...person, code: codeOf(0) })
  rows['the secret of the second factor is readable in the database'] = isStored(secret)

  rows['sign-ups before 429: one address'] = await untilLimited(12, async (i) => {
    const found = await product.signUp(open('203.0.113.4'), `flood-${i}@example.com`, PASSWORD)
    return found === 429 ? 'limited' : found
  })

  const forgetful = await newPerson()
  const kept = await signedIn(forgetful)
  await product.requestReset(open(), forgetful.email)
  const link = await linkTo(forgetful.email, 'password-reset')
  rows['the code of a reset link is readable in the database'] = isStored(link.split('=')[1])
  const resets = await Promise.all([...'12345678'].map((i) => product.reset(open(), link, `${i} is my new password`)))
  rows['a reset link, used 8 times at once: new passwords'] = resets.filter((found) => found < 300).length
  rows['a reset link, used again'] = await product.reset(open(), link, 'another new password')
  rows['an old session after the reset: GET /sheets'] = await status(kept)

  const scanned = { email: 'scanned@example.com', password: PASSWORD }
  await product.signUp(open(), scanned.email, scanned.password)
  await open().send('GET', await linkTo(scanned.email, 'sign-up'))
  rows['a mail scanner opens the link of a sign-up: the address is verified'] =
    (await product.signIn(open(), scanned)) === 'signed_in' ? 'yes' : 'no'

  const victim = { email: 'victim@example.com', password: PASSWORD }
  const planted = 'the password of an attacker'
  await product.signUp(open(), victim.email, planted)
  await product.verify(open(), await linkTo(victim.email, 'sign-up'), PASSWORD)
  rows['an attacker signs up with an address, and its owner opens the link: the password of the attacker works'] =
    (await product.signIn(open(), { ...victim, password: planted })) === 'signed_in' ? 'yes' : 'no'

  const [alice, manager] = [await newPerson(), await signedIn(await newManager())]
  const devices = [await signedIn(alice), await signedIn(alice), await signedIn(alice)]
  await product.signOutEverywhere(devices[0])
  rows['three sessions after a sign-out everywhere: GET /sheets'] = await Promise.all(devices.map((one) => status(one)))
  const tab = await signedIn(alice)
  const tabs = [tab, tab.copy(), tab.copy()]
  rows['three tabs refresh at once, and then GET /sheets'] = [
    ...(await Promise.all(tabs.map(product.refresh))),
    ...(await Promise.all(tabs.map((one) => status(one)))),
  ]
  await product.disable(manager, alice.email)
  rows['GET /sheets with the token of a disabled user'] = await status(tab)

  const bob = await newPerson()
  const browser = await signedIn(bob)
  product.database.close()
  const down = await browser.send('GET', '/sheets')
  rows['GET /sheets while the database is down'] = down.status
  rows['a sign-in while the database is down'] = await product.signIn(open(), bob)
  product.stop()
  return rows
}

const results = []
for (const name of STACKS) {
  const counts = Object.keys(FOLDERS).map((product) => count(product, name))
  results.push(Object.assign({}, ...counts, await tryOut(name)))
  outbox.length = 0
}
const rows = Object.keys(results[0]).map((row) => [row, ...results.map((result) => [result[row]].flat().join(', '))])
const table = [['', ...STACKS], ['---', ...STACKS.map(() => '--:')], ...rows]
process.stdout.write(`${table.map((cells) => `| ${cells.join(' | ')} |`).join('\n')}\n`)
process.exit()

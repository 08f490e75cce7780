import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import argon2 from 'argon2'
import { EMAIL, PASSWORD } from './account.mjs'
import { users } from './same-app/accounts.mjs'

/** Counts the lines of the same app in three ways, and tries them: `test/stacks/same-app.md` has the output. */

process.env['SECRET'] = randomBytes(32).toString('base64url')
process.env['BASE_URL'] = 'http://127.0.0.1:3000'
const BOB = 'bob@example.com'
const passwordHash = await argon2.hash(PASSWORD, { memoryCost: 19456, timeCost: 2, parallelism: 1 })

/** Sets the accounts of the apps with a look-up function. Their `find` may throw, as a database that is down does. */
const own = {
  reset() {
    delete users.find
    const account = (id, email, scopes) => ({ id, email, scopes, passwordHash, disabled: false })
    users.splice(0, users.length, account('1', EMAIL, ['reports:read']), account('2', BOB, []))
  },
  disable: () => Object.assign(users[0], { disabled: true }),
  fail: () => Object.assign(users, { find: () => Promise.reject(new Error('down')) }),
  tokenOf: async (res) => Object.values(await res.json())[0],
}

const APPS = [
  { name: 'express-token-endpoint', path: '/login', ...own },
  { name: 'jsonwebtoken', path: '/login', ...own },
  {
    name: 'better-auth',
    path: '/api/auth/sign-in/email',
    async reset({ auth }) {
      for (const [email, scopes] of Object.entries({ [EMAIL]: ['reports:read'], [BOB]: [] })) {
        const { user } = await auth.api.signUpEmail({ body: { email, password: PASSWORD, name: email } })
        const { internalAdapter } = await auth.$context
        await internalAdapter.updateUser(user.id, { scopes })
      }
    },
    async disable({ auth }) {
      const { internalAdapter } = await auth.$context
      const { user } = await internalAdapter.findUserByEmail(EMAIL)
      await internalAdapter.updateUser(user.id, { banned: true })
    },
    fail: ({ auth }) =>
      auth.$context.then(({ internalAdapter }) =>
        Object.assign(internalAdapter, { findSession: () => Promise.reject(new Error('down')) }),
      ),
    tokenOf: (res) => res.headers.get('set-auth-token'),
  },
]

const until429 = (statuses) => (statuses.includes(429) ? statuses.indexOf(429) : 'never')

/** Tries an app. Each step has its own address. Returns the result of each row. */
async function tryOut({ name, path, reset, disable, fail, tokenOf }) {
  const module = await import(`./same-app/${name}.mjs`)
  const server = module.app.set('trust proxy', 1).disable('x-powered-by').listen(0, '127.0.0.1')
  await Promise.all([once(server, 'listening'), reset(module)])
  const url = `http://127.0.0.1:${server.address().port}`
  const logIn = (address, email = EMAIL, password = PASSWORD) =>
    fetch(url + path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-Forwarded-For': address, Origin: process.env['BASE_URL'] },
      body: JSON.stringify({ email, password }),
    })
  const get = async (route, token) =>
    (await fetch(url + route, { headers: token ? { Authorization: `Bearer ${token}` } : {} })).status
  const times = async (count, call) => {
    const found = []
    for (let i = 0; i < count; i++) found.push((await call(i)).status)
    return found
  }

  const [alice, bob] = [await tokenOf(await logIn('192.0.2.1')), await tokenOf(await logIn('192.0.2.1', BOB))]
  const rows = {
    'GET /me without and with a token': [await get('/me'), await get('/me', alice)],
    'GET /reports without and with the scope': [await get('/reports', bob), await get('/reports', alice)],
    'wrong passwords before 429: one account, one address': until429(
      await times(12, () => logIn('192.0.2.2', EMAIL, 'wrong')),
    ),
    'then a different account from that address': (await logIn('192.0.2.2', BOB)).status,
    'wrong passwords before 429: one account, 25 addresses': until429(
      await times(110, (i) => logIn(`192.0.2.${100 + (i % 25)}`, BOB, 'wrong')),
    ),
    'correct passwords before 429: one address': until429(await times(20, () => logIn('192.0.2.3'))),
  }
  await disable(module)
  rows['disabled account: login, GET /me with its old token'] = [
    (await logIn('192.0.2.4')).status,
    await get('/me', alice),
  ]
  await fail(module)
  rows['GET /me while the store is down'] = await get('/me', bob)
  server.close()
  server.closeAllConnections()
  return rows
}

const linesOf = (name) =>
  readFileSync(new URL(`same-app/${name}.mjs`, import.meta.url), 'utf8')
    .split('\n')
    .filter((line) => /\S/.test(line) && !/^\s*(\/\/|\/?\*)/.test(line)).length

const results = []
for (const app of APPS) results.push({ lines: linesOf(app.name), ...(await tryOut(app)) })
const table = [
  ['', ...APPS.map(({ name }) => name)],
  ['---', ...APPS.map(() => '--:')],
  ...Object.keys(results[0]).map((row) => [row, ...results.map((result) => String(result[row]).replace(',', ', '))]),
]
process.stdout.write(`${table.map((cells) => `| ${cells.join(' | ')} |`).join('\n')}\n`)
process.exit()

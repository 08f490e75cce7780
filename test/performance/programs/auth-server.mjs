// Serves an app of `createAuth` for each of the options: a guarded route, and a token endpoint with and without the hash.
import express from 'express'
import { createAuth, createLimits, createPasswords, memoryAccounts } from 'express-token-endpoint'
import { bearer, createClient, login } from '../../support/plain-js/http-client.mjs'
import { OPTIONS } from './auth-options.mjs'
import { respond, serve } from './serve.mjs'

const PASSWORD = 'correct horse'

const withHash = createPasswords()
const passwordHash = await withHash.hash(PASSWORD)
/** Accepts every password without hashing, because the hash would hide the cost of all other steps. */
const free = createPasswords({ hashers: [{ accepts: () => true, verify: () => true, hash: () => 'free' }] })
const emails = Array.from({ length: 64 }, (_, i) => `user${String(i).padStart(2, '0')}@example.com`)
const accounts = memoryAccounts(emails.map((email) => ({ id: email.slice(0, 6), email, passwordHash })))

const app = express().set('trust proxy', 1)
const paths = new Map(Object.keys(OPTIONS).map((name, i) => [name, `/${i}`]))
for (const [name, below] of paths) {
  for (const [path, passwords] of Object.entries({ free, hash: withHash })) {
    const own = { accounts, passwords, limits: createLimits(), paths: { token: '/token' } }
    const { router, guard } = createAuth({ ...OPTIONS[name](), ...own })
    app.use(`${below}/${path}`, router)
    app.get(`${below}/${path}/guarded`, guard(), respond)
  }
}

/** Returns logins over https, because the refresh cookie needs it. */
const loginsOf = (path) =>
  emails.map((email, i) => {
    const { headers, ...request } = login(email, PASSWORD, `198.51.100.${10 + i}`, `${path}/token`)
    return { ...request, headers: { ...headers, 'X-Forwarded-Proto': 'https' } }
  })

/** Returns an access token of each account, with its session where the app has a store. */
async function tokensOf(path) {
  const server = app.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { send, close } = createClient(server.address().port, { connections: 4 })
  const answers = await Promise.all(loginsOf(path).map(send))
  close()
  server.close()
  return answers.map(({ body }) => JSON.parse(body).authenticationToken)
}

const apps = {}
for (const [name, below] of paths) {
  const tokens = await tokensOf(`${below}/free`)
  const guarded = tokens.map((token) => bearer(token, `${below}/free/guarded`))
  apps[name] = { guarded, free: loginsOf(`${below}/free`), hash: loginsOf(`${below}/hash`) }
}
serve(app, { apps })

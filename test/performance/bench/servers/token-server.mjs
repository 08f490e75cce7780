// The server of the part about logins: a token endpoint for each algorithm, with a password check without cost, and one with the
// default password check. A bare route reads JSON and returns JSON of the same shape and length.
import { generateKeyPairSync } from 'node:crypto'
import express from 'express'
import { createPasswords, createTokenIssuer, memoryAccounts, tokenRouter } from 'express-token-endpoint'
import { appOf, serve } from './app-server.mjs'

const ACCOUNTS = 64
const BARE = '/token/bare0'
const REAL = '/token/real0'
const BARE_REAL = '/token/bare1'
const PASSWORD = 'correct horse'

const freePasswords = createPasswords({
  hashers: [{ accepts: () => true, verify: () => true, hash: () => 'free' }],
})
const passwords = createPasswords()
const passwordHash = await passwords.hash(PASSWORD)
const emails = Array.from({ length: ACCOUNTS }, (_, i) => `user${String(i).padStart(2, '0')}@example.com`)
const accountsWith = (hash) =>
  memoryAccounts(emails.map((email) => ({ id: email.slice(0, 6), email, passwordHash: hash })))

const keys = {
  HS256: { alg: 'HS256', secret: 's'.repeat(32) },
  RS256: { alg: 'RS256', privateKey: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey },
  ES256: { alg: 'ES256', privateKey: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey },
}

const issuerOf = (alg) => createTokenIssuer({ issuer: 'https://api.example.com', keys: keys[alg] })

const apps = new Map()
const addEndpoint = (path, options) =>
  apps.set(
    path,
    appOf((app) => app.use(tokenRouter({ path, ...options }))),
  )
for (const alg of Object.keys(keys)) {
  addEndpoint(`/token/${alg}`, {
    tokens: issuerOf(alg),
    accounts: accountsWith('free'),
    passwords: freePasswords,
  })
}
const free = [...apps.keys()]
addEndpoint(REAL, { tokens: issuerOf('HS256'), accounts: accountsWith(passwordHash), passwords })
const { token, expiresAt } = issuerOf('HS256').issue({ accountId: 'user00' })
const answer = { authenticationToken: token, expiration: expiresAt.toISOString() }
apps.set(
  BARE,
  appOf((app) => app.post(BARE, express.json(), (_req, res) => res.json(answer))),
)
apps.set(
  BARE_REAL,
  appOf((app) =>
    app.post(BARE_REAL, express.json(), async (req, res) => {
      await passwords.verify(req.body.password, passwordHash)
      res.json(answer)
    }),
  ),
)

/** Checks the password `checks` times, `together` at a time. Sends the processor time of this process in microseconds. */
process.on('message', async ({ checks = 0, together = 1 }) => {
  let left = checks
  async function checkInTurn() {
    while (left-- > 0) await passwords.verify(PASSWORD, passwordHash)
  }
  await Promise.all(Array.from({ length: together }, checkInTurn))
  const { user, system } = process.cpuUsage()
  process.send(user + system)
})
process.on('disconnect', () => process.exit())
process.send({ port: await serve(apps), bare: BARE, free, real: REAL, bareReal: BARE_REAL, emails })

// Serves a route for each feature of the guard, and a token endpoint for each feature of a login, on the example's own stores.
import express from 'express'
import {
  authOf,
  createPasswords,
  createThrottle,
  createTokenIssuer,
  requireBearer,
  tokenRouter,
} from 'express-token-endpoint'

const from = (file) => import(`../../../example-app/dist/data/${file}.js`)
const [{ openDatabase }, { createAccountStore }, { openSharedState }, { databaseRevocation }, { tokenKeys }] =
  await Promise.all(['databases/database', 'account-store', 'shared-state', 'revocation', 'signing-keys'].map(from))

const { BASE_URL: issuer, DATA_DIR: dataDir, DATABASE_URL: databaseUrl, REDIS_URL: redisUrl } = process.env
const log = (line) => process.stderr.write(`${line}\n`)
const db = await openDatabase({ databaseUrl, dataDir }, log)
const shared = await openSharedState(redisUrl, db, log)
const accounts = createAccountStore(db)
const tokens = createTokenIssuer({ issuer, keys: tokenKeys(dataDir) })

const GUARDS = {
  guard: {},
  accounts: { accounts },
  'revocation-redis': { isRevoked: shared.revocation.isRevoked },
  'revocation-database': { isRevoked: databaseRevocation(db).isRevoked },
}

/** Accepts every password without hashing, because the hash would hide the cost of all other steps. */
const withoutHash = createPasswords({
  hashers: [{ accepts: () => true, verify: () => true, hash: () => '', external: true }],
})
const LOGINS = {
  login: { passwords: withoutHash, throttle: createThrottle() },
  hash: { passwords: createPasswords(), throttle: createThrottle() },
  'throttle-redis': { passwords: withoutHash, throttle: shared.throttle },
}

const app = express().set('trust proxy', 1)
for (const [name, options] of Object.entries(GUARDS)) {
  app.get(`/${name}`, requireBearer({ tokens, ...options }), (req, res) => {
    res.json({ account: authOf(req).accountId, statements: [] })
  })
}
for (const [name, options] of Object.entries(LOGINS)) {
  app.use(tokenRouter({ path: `/${name}`, tokens, accounts, ...options }))
}

const rows = await db.selectFrom('accounts').select('id').execute()
const issued = await Promise.all(rows.map(({ id }) => tokens.issue({ accountId: id })))
process.on('disconnect', () => process.exit())
const server = app.listen(0, '127.0.0.1', 1024, () => {
  process.send({ port: server.address().port, tokens: issued.map(({ token }) => token) })
})

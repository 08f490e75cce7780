// Serves a route for each feature of the guard, and a token endpoint for each feature of a login, on the example's own stores.
import express from 'express'
import { createLimits, createPasswords, createTokenIssuer, requireBearer, tokenRouter } from 'express-token-endpoint'
import { respond, serve } from './serve.mjs'

const from = (file) => import(`../../../example-app/dist/data/${file}.js`)
const [{ openDatabase }, { createAccountStore }, { openSharedState }, { openRedis }, { tokenKeys }] = await Promise.all(
  ['databases/database', 'account-store', 'shared-state', 'redis', 'signing-keys'].map(from),
)

const { BASE_URL: issuer, DATA_DIR: dataDir, DATABASE_URL: databaseUrl, REDIS_URL: redisUrl } = process.env
const log = (line) => process.stderr.write(`${line}\n`)
const db = await openDatabase({ databaseUrl, dataDir }, log)
const shared = await openSharedState(redisUrl, db, log)
const inDatabase = await openSharedState(undefined, db, log)
const accounts = createAccountStore(db)
const tokens = createTokenIssuer({ issuer, keys: tokenKeys(dataDir) })
const redis = await openRedis(redisUrl, log)
const stores = {
  'sessions-redis': shared.store,
  'sessions-database': inDatabase.store,
}

const GUARDS = {
  guard: {},
  accounts: { accounts },
  'revocation-redis': { isRevoked: async ({ id }) => (await redis.exists(`revoked:${id}`)) === 1 },
  'revocation-database': {
    isRevoked: async ({ id }) =>
      !!(await db.selectFrom('revoked').select('id').where('id', '=', id).executeTakeFirst()),
  },
  'sessions-redis': { store: stores['sessions-redis'] },
  'sessions-database': { store: stores['sessions-database'] },
}

/** Accepts every password without hashing, because the hash would hide the cost of all other steps. */
const free = { accepts: () => true, verify: () => true, hash: () => '', external: true }
const withoutHash = createPasswords({ hashers: [free] })
const LOGINS = {
  login: { passwords: withoutHash, limits: createLimits() },
  hash: { passwords: createPasswords(), limits: createLimits() },
  'limits-redis': { passwords: withoutHash, limits: shared.limits },
}

const app = express().set('trust proxy', 1)
for (const [name, options] of Object.entries(GUARDS)) {
  app.get(`/${name}`, requireBearer({ tokens, ...options }), respond)
}
for (const [name, options] of Object.entries(LOGINS)) {
  app.use(tokenRouter({ path: `/${name}`, tokens, accounts, ...options }))
}

const rows = await db.selectFrom('accounts').select('id').execute()
const issued = await Promise.all(
  rows.map(async ({ id: accountId }) => {
    const token = await tokens.issue({ accountId })
    const client = { address: '192.0.2.1', userAgent: 'Mozilla/5.0 (X11; Linux x86_64)', label: 'Laptop' }
    for (const { sessions } of Object.values(stores)) await sessions.add({ ...token, accountId, ...client })
    return token
  }),
)
serve(app, { tokens: issued.map(({ token }) => token) })

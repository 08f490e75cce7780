import { ISSUER, SECRET } from '../fixtures.js'
import { root } from './repository.js'

/** The fake clients of key services. The real ones are large packages. */
export const KEY_SERVICES = `${root}test/support/services/key-services.js`

/** An issuer, and a store with an account, for a block that has neither; under a name that no block imports. */
const HOST = `import * as library from 'express-token-endpoint'
    export const tokens = library.createTokenIssuer({ issuer: '${ISSUER}', keys: { alg: 'HS256', secret: '${SECRET}' } })
    const account = {
      id: 'acc-1',
      email: 'alice@example.com',
      passwordHash: await library.createPasswords().hash('secret'),
      scopes: ['statements:read'],
      claims: { admin: true },
    }
    const accounts = library.memoryAccounts([account])`

/** The options of an app's \`createAuth\`, and a store with an account. */
const KEYS = `${HOST.replace(/export const tokens[^\n]*/, '')}
    const issuer = '${ISSUER}'
    const keys = { alg: 'HS256' as const, secret: '${SECRET}' }`

/** The same as \`HOST\`, with the authentication of an app, which has the same keys. */
const AUTH = `${HOST}
    const auth = library.createAuth({ issuer: '${ISSUER}', keys: { alg: 'HS256', secret: '${SECRET}' }, accounts })`

/** The same as \`HOST\`, with a function that is called before each `findById`. */
const HOST_WITH_LOOK_UPS = `${HOST}
    export const lookUp = { before: async (_id: string) => {} }
    const { findById } = accounts
    accounts.findById = async (id) => {
      await lookUp.before(id)
      return findById(id)
    }`

/** A store with an account, for a block that creates its issuer. */
const WITHOUT_ISSUER = HOST.replace(/export const tokens[^\n]*/, '')

/** An issuer, for a block that has none. */
const ISSUER_ONLY = `import { createTokenIssuer } from 'express-token-endpoint'
    export const tokens = createTokenIssuer({ issuer: '${ISSUER}', keys: { alg: 'HS256', secret: '${SECRET}' } })`

/** The account of the README's `app.mjs`. */
const README = `import * as library from 'express-token-endpoint'
const passwordHash = await library.createPasswords().hash('correct horse')
const account = { id: 'acc-1', email: 'alice@example.com', passwordHash, scopes: ['reports:read'], verified: false }
const accounts = library.memoryAccounts([account])
export const issuer = '${ISSUER}'
export const keys = Object.freeze({ alg: 'HS256', secret: '${SECRET}' })`

/** The declarations of the README's `app.mjs`. */
const README_APP = `${README}
import 'express-token-endpoint/express'
import express from 'express'
const auth = library.createAuth({ issuer, keys, accounts })
export const { tokens } = auth
export const app = express()`

const APP = `import express from 'express'
export const app = express()`

const API = `import { createTokenClient } from 'express-token-endpoint/client'
    const url = process.env.API_URL ?? ''
    export const api = createTokenClient({ url, credentials: () => ({ email: 'alice@example.com', password: 'secret' }) })`

/** A page with a form, for the types of browsers. A test in a browser runs the block. */
const PAGE = `/// <reference lib="dom" />
    /// <reference lib="dom.iterable" />
    const showStatements = () => api.fetch('/statements')`

const SERVER = `${HOST}
    import { createServer } from 'node:http'
    export const api = createServer()
    const server = api`

/** A database with a table of users and the tables of the store. */
const SQLITE = `import { createTables } from 'express-token-endpoint/kysely'
    import { Kysely, SqliteDialect } from 'kysely'
    const { default: Database } = await import('libsql' as string)
    const file = new Database(':memory:')
    file.exec('create table users (id integer primary key autoincrement, email text not null unique, password_hash text, name text, scopes text)')
    export const db = new Kysely<any>({ dialect: new SqliteDialect({ database: file as never }) })
    await createTables(db)`

/** Accounts that a user of Google or GitHub may have, and the nonces of Google. */
const GOOGLE = `${WITHOUT_ISSUER.replace('const accounts = library.memoryAccounts([account])', '')}
    type User = library.MemoryAccount & { google?: string; github?: string }
    const users: User[] = [account]
    export const created: object[] = []
    function create(more: object, email: string | null) {
      created.push({ ...more, email })
      const user = { id: 'user-' + users.length, passwordHash: null, email: email ?? '', ...more }
      users.push(user)
      return user
    }
    const accounts = {
      findByEmail: async (email: string) => users.find((user) => user.email === email),
      findById: async (id: string) => users.find((user) => user.id === id),
      findByGoogle: async (google: string) => users.find((user) => user.google === google),
      findByGithub: async (github: string) => users.find((user) => user.github === github),
      createForGoogle: async (google: string, email: string | null) => create({ google }, email),
      createForGithub: async (github: string, email: string | null) => create({ github }, email),
      connectGoogle: async (id: string, google: string) => void Object.assign(users.find((user) => user.id === id) ?? {}, { google }),
    }
    const pending = new Map<string, number>()
    const nonces = {
      add: async (nonce: string, expiresAt: number) => void pending.set(nonce, expiresAt),
      async take(nonce: string) {
        const expiresAt = pending.get(nonce) ?? 0
        return pending.delete(nonce) && expiresAt > Date.now()
      },
    }`

/** The names of blocks whose reader has one of these contexts. */
const SHARED: [context: string, blocks: string][] = [
  [KEYS, 'own-errors'],
  [HOST, 'token-source own-response'],
  [KEYS, 'own-route own-route-express-4 limits-reset sessions refresh'],
  [KEYS, 'cors'],
  [AUTH, 'guard-mount allow step-up nest fastify apollo trpc passport session-or-token tickets typed-claims openapi'],
  [HOST_WITH_LOOK_UPS, 'server-sent-events'],
  [WITHOUT_ISSUER, 'other-site'],
  [README_APP, 'readme-guards'],
  [APP, 'serverless-cdn'],
  [API, 'client-axios client-got client-openapi-fetch client-socket-io'],
  [SERVER, 'ws socket-io'],
]

/** The code that the reader of a block has already, by the name of the block. Other blocks need none. */
export const CONTEXTS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(SHARED.flatMap(([context, blocks]) => blocks.split(' ').map((block) => [block, context]))),
  // The login.
  'kms-vault': `import { fetch } from '${KEY_SERVICES}'`,
  'kms-pkcs11': `import { hsm, objects } from '${KEY_SERVICES}'
    const { slot, session, privateObject, publicObject } = objects`,
  codes: `${WITHOUT_ISSUER}
    export const auth = library.createAuth({
      issuer: '${ISSUER}', keys: { alg: 'HS256', secret: '${SECRET}' }, accounts, store: library.memoryStore(),
    })
    export const added: string[][] = []
    const team = { add: async (...ids: string[]) => void added.push(ids) }`,
  'keep-express-session': `${KEYS.replace(/const (issuer|keys)[^\n]*/g, '')}
    import { MemoryStore } from 'express-session'
    export const sessionStore = new MemoryStore()
    export { account }
    const isCodeOf = (id: string, code: unknown) => id === 'acc-1' && code === '123456'`,
  'old-refresh-tokens': `${KEYS.replace(/const (issuer|keys)[^\n]*/g, '')}
    const { default: Database } = await import('libsql' as string)
    export const db = new Database(':memory:')
    db.exec('create table refresh_tokens (hash text primary key, user_id text, created_at integer, expires_at integer)')`,
  'table-limits': `const { default: Database } = await import('libsql' as string)
    export const db = new Database(process.env['LIMITS_DB'] ?? ':memory:')`,
  'sequelize-hash': `${KEYS.replace(/const (issuer|keys)[^\n]*/g, '')}
    export const updates: unknown[] = []
    const User = { update: async (...given: unknown[]) => [updates.push(given)] }`,
  'account-routes': `${SQLITE}
    type Texts = Record<import('express-token-endpoint').MailKind, (details?: object) => string>
    const texts: Texts = new Proxy({} as Texts, { get: (_, kind) => (details?: object) => String(kind) + JSON.stringify(details ?? '') })
    export const sent: { to: string; text: string; link: string | undefined }[] = []
    const mailer = { send: async (mail: (typeof sent)[number]) => void sent.push(mail) }`,
  'second-factor': `${SQLITE}
    import * as library from 'express-token-endpoint'
    const password_hash = await library.createPasswords().hash('secret')
    await db.insertInto('users').values({ email: 'alice@example.com', password_hash, scopes: '["reports:read"]' }).execute()
    export const kinds: string[] = []
    const mail = async ({ kind }: { kind: string }) => void kinds.push(kind)`,
  'own-model': `import * as library from 'express-token-endpoint'
    const password = await library.createPasswords().hash('secret')
    class User {
      _doc = { _id: 7, email: 'alice@example.com', password }
      static async findOne({ email }: { email: string }) { return email === alice._doc.email ? alice : null }
      static async findById(id: string) { return id === '7' ? alice : null }
      get _id() { return this._doc._id }
      get password() { return this._doc.password }
      toProfile() { return { email: this._doc.email } }
      toJSON() { return this._doc }
    }
    const alice = new User()`,
  tenants: `import * as library from 'express-token-endpoint'
    const passwordHash = await library.createPasswords().hash('secret')
    const users = ['north', 'south'].map((tenant) => ({ id: tenant, tenant, email: 'alice@example.com', passwordHash }))`,
  'create-auth': WITHOUT_ISSUER,
  'key-from-env': WITHOUT_ISSUER,
  rotation: WITHOUT_ISSUER,
  google: GOOGLE,
  'google-connect': `${GOOGLE}
    import * as framework from 'express'
    export const app = framework.default()
    export const auth = library.createAuth({ issuer: '${ISSUER}', keys: { alg: 'HS256', secret: '${SECRET}' }, accounts })
    app.use(auth.router)
    const google = library.createTokenVerifier({
      issuer: process.env['GOOGLE_ISSUER'] ?? '', audience: 'client-1', accept: 'id-token',
      keys: library.discoverKeys(process.env['GOOGLE_ISSUER'] ?? ''),
    })
    export { nonces, users }`,
  github: `${GOOGLE}
    const store = library.memoryStore()
    const secret = '${SECRET}'`,
  'offline-passwords': '',
  'leaked-passwords': `export const warnings: string[] = []
    const log = { warn: (text: string, error: unknown) => void warnings.push(text + error) }`,
  'old-guard': '',
  'side-by-side': WITHOUT_ISSUER,
  'after-password': `import * as library from 'express-token-endpoint'
    const issuer = '${ISSUER}'
    const keys = { alg: 'HS256' as const, secret: '${SECRET}' }
    const passwordHash = await library.createPasswords().hash('secret')
    export const alice: { verified: boolean; termsAccepted: boolean } & library.MemoryAccount = {
      id: 'acc-1', email: 'alice@example.com', passwordHash, verified: false, termsAccepted: false,
    }
    const accounts = library.memoryAccounts([alice])
    const users = { acceptTerms: async (_id: string) => void (alice.termsAccepted = true) }`,
  'act-as': `import * as library from 'express-token-endpoint'
    const issuer = '${ISSUER}'
    const keys = { alg: 'HS256' as const, secret: '${SECRET}' }
    const passwordHash = await library.createPasswords().hash('secret')
    const accountOf = (id: string, name: string, scopes: string[]) => ({ id, email: name + '@example.com', passwordHash, scopes })
    const list = [accountOf('acc-1', 'alice', []), accountOf('adm-1', 'bob', ['admin']), accountOf('adm-2', 'carol', ['admin'])]
    const accounts = library.memoryAccounts(list)
    export const store = library.memoryStore()
    export const rows: object[] = []
    export const failing = new Set<string>()
    const audit = {
      async add(row: { accountId: string; actorId: string | undefined; sessionId: string; action: string }) {
        if (failing.has(row.action)) throw new Error('down')
        rows.push(row)
      },
    }`,
  'passkeys-page': `/// <reference lib="dom" />
    ${API}`,
  graphql: KEYS.replace(
    '[account]',
    "[account, { ...account, id: 'acc-2', email: 'big@example.com', claims: { big: 1n } }]",
  ),
  'two-names': `${KEYS}
    const users = {
      findByEmail: async (email: string) => accounts.findByEmail(email),
      findByPhone: async (number: string) => (number === '+4915112345678' ? account : undefined),
    }`,
  // README and tutorial.
  'readme-point': `${README}
import { createAuth } from 'express-token-endpoint'
import express from 'express'
export const app = express()`,
  'readme-test': `${README}
import { once } from 'node:events'
import { after } from 'node:test'
import express from 'express'
const auth = library.createAuth({ issuer, keys, accounts })
const app = express().get('/reports', auth.guard({ scope: 'reports:read' }), (_req, res) => {
  res.json([])
})
const server = app.listen(0)
await once(server, 'listening')
after(() => server.close())
const url = 'http://localhost:' + /** @type {import('node:net').AddressInfo} */ (server.address()).port`,
  'readme-account': `${README}
/** @type {string[]} */
export const links = []
process.env.AUTH_SECRET ??= 'secret of the page'.repeat(3)
const sendMail = async (/** @type {string} */ _to, /** @type {string} */ _kind, /** @type {string | undefined} */ link) => void links.push(link ?? '')
Object.assign(accounts, { create: async () => undefined, replacePasswordHash: async () => true })`,
  'readme-lookup': `${README}
const find = async (/** @type {object} */ where) => (Object.values(where)[0] === 'acc-1' || Object.values(where)[0] === account.email ? account : null)
const db = { users: { findOne: find } }`,
  // Accounts.
  lookup: `interface User { id: string; passwordHash: string; disabled: boolean; scopes: string[] }
    const user: User = { id: 'acc-1', passwordHash: 'x', disabled: false, scopes: ['a'] }
    const db = { users: { findOne: async ({ email }: { email: string }) => email === 'alice@example.com' ? user : null } }`,
  'prisma-accounts': `const { prisma } = globalThis as any`,
  // Tokens.
  'remote-keys': `const log = { error: (_: unknown) => {} }`,
  'redis-revocation': `${KEYS}
    const log = { error: (_: unknown) => {} }`,
  // Sessions.
  'whole-store-contract': `import { memoryStore } from 'express-token-endpoint'
    const store = memoryStore()`,
  'stores-create': `import { Kysely, SqliteDialect, sql } from 'kysely'
    const { default: Database } = await import('libsql' as string)
    export const db = new Kysely<any>({ dialect: new SqliteDialect({ database: new Database(':memory:') as never }) })
    await sql\`create table users (id text primary key, email text unique, password_hash text, display_name text not null,
      role text not null)\`.execute(db)`,
  'stores-node-sqlite': `type Values = (string | number | null)[]
    interface Statement {
      columns(): object[]
      all(...values: Values): unknown[]
      run(...values: Values): { changes: number | bigint; lastInsertRowid: number | bigint }
      iterate(...values: Values): IterableIterator<unknown>
    }
    type Sqlite = { DatabaseSync: new (path: string) => { prepare(sql: string): Statement; close(): void } }
    const { DatabaseSync } = (process as unknown as { getBuiltinModule(id: string): Sqlite }).getBuiltinModule('node:sqlite')
    const file = new DatabaseSync(':memory:')`,
  'sessions-mongodb': `const rows = new Map<string, Stored>()
    type Filter = { accountId?: string; refresh?: string; _id?: string | { $ne: string } }
    const fits = ({ accountId, refresh, _id: id }: Filter) => (row: Stored) =>
      (accountId === undefined || row.accountId === accountId) &&
      (refresh === undefined || row.refresh === refresh) &&
      (id === undefined || (typeof id === 'string' ? row._id === id : row._id !== id.$ne))
    const some = (filter: Filter) => structuredClone([...rows.values()].filter(fits(filter)))
    const collection = {
      createIndex: async (_keys: object, _options?: object) => 'index',
      async insertOne(row: Stored) {
        if (rows.has(row._id)) throw new Error('E11000 duplicate key error')
        rows.set(row._id, structuredClone(row))
      },
      findOne: async (filter: Filter) => some(filter)[0] ?? null,
      find: (filter: Filter) => ({ toArray: async () => some(filter) }),
      deleteOne: async (filter: Filter) => ({ deletedCount: some(filter).slice(0, 1).filter(({ _id }) => rows.delete(_id)).length }),
      deleteMany: async (filter: Filter) => ({ deletedCount: some(filter).filter(({ _id }) => rows.delete(_id)).length }),
      updateOne: async (filter: Filter, { $set }: { $set: Partial<Stored> }) => {
        const found = some(filter).slice(0, 1)
        for (const row of found) rows.set(row._id, { ...row, ...$set })
        return { matchedCount: found.length }
      },
    }`,
  'redis-limits': `${KEYS}
    const log = { error: (_: unknown) => {} }`,
  // Routes.
  roles: `import * as library from 'express-token-endpoint'
    const issuer = '${ISSUER}'
    const keys = { alg: 'HS256' as const, secret: '${SECRET}' }
    const passwordHash = await library.createPasswords().hash('secret')
    export const user = { id: 'acc-1', passwordHash, role: 'manager' }
    const users = { findByEmail: async (email: string) => (email === 'alice@example.com' ? user : undefined) }`,
  environments: `${HOST}
    const [live, sandbox] = [accounts, accounts]`,
  proxy: `${KEYS}
    export const lines: string[] = []
    const log = { info: (line: string) => lines.push(line) }`,
  // Clients.
  'client-form': PAGE,
  'client-other-names': `const url = process.env.API_URL ?? ''
    const [email, password] = ['alice@example.com', 'secret']`,
  'client-sign-in': `${API}
    const newPassword = 'another secret'
    const passwordUrl = url + '/password'`,
  'refresh-page': `const location = { origin: process.env.API_URL ?? '' }
    export const shown: string[] = []
    const showForm = () => {
      shown.push('form')
      return { email: 'alice@example.com', password: 'secret' }
    }
    const showApp = () => shown.push('app')`,
  'refresh-app': `export const kept = new Map<string, string>()
    const askUser = () => ({ email: 'alice@example.com', password: 'secret' })
    const SecureStore = {
      getItemAsync: async (key: string) => kept.get(key) ?? null,
      setItemAsync: async (key: string, value: string) => void kept.set(key, value),
      deleteItemAsync: async (key: string) => void kept.delete(key),
    }`,
  // Operation.
  'stores-scale-out': `import pg from 'pg'
    export const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL ?? '' })`,
  'serverless-lambda': `import { createPasswords, createLimits, memoryAccounts } from 'express-token-endpoint'
    const passwordHash = await createPasswords().hash('secret')
    const accounts = memoryAccounts([{ id: 'acc-1', email: 'alice@example.com', passwordHash }])
    const limits = createLimits()`,
  'serverless-google': `${HOST}
    import express from 'express'
    const app = express().use(library.tokenRouter({ tokens, accounts }))`,
  maintenance: `${KEYS}
    import express from 'express'
    export const auth = library.createAuth({ issuer, keys, accounts, paths: { token: '/login' } })
    export const app = express()`,
  'serverless-azure': `${APP}
app.get('/me', (_req, res) => {
  res.json({ account: 'acc-1' })
})`,
  server: `import express from 'express'
    const app = express().get('/slow', (_req, res) => {
      console.log('in flight')
      setTimeout(() => res.send('done'), 300)
    })`,
  health: `import { createPasswords } from 'express-token-endpoint'
    export const database = { up: true }
    const ping = async () => {
      if (!database.up) throw new Error('down')
    }
    const passwords = createPasswords()`,
  // Tests.
  'store-contract': `import { memoryAccounts } from 'express-token-endpoint'
    const accounts = memoryAccounts([{ id: 'acc-1', email: 'alice@example.com', passwordHash: 'hash-1' }])`,
  'testing-client': `import type { TokenClient } from 'express-token-endpoint/client'
    const readStatements = async (api: TokenClient) => (await api.fetch('/statements')).json()`,
  'testing-vitest': `${KEYS}
    import express from 'express'
    const auth = library.createAuth({ issuer, keys, accounts: library.memoryAccounts([{ ...account, scopes: ['reports:read'] }]) })
    const app = express().get('/reports', auth.guard({ scope: 'reports:read' }), (req, res) => {
      res.json({ reportsOf: library.authOf(req).accountId })
    })`,
  'testing-sessions': `${KEYS}
    import express from 'express'
    const store = library.memoryStore()
    const auth = library.createAuth({ issuer, keys, accounts, store })
    const app = express().get('/me', auth.guard(), (_req, res) => void res.json([]))`,
  'testing-node': `const issuer = '${ISSUER}'
    const keys = { alg: 'HS256' as const, secret: '${SECRET}' }`,
  // Migrations.
  'from-express-session': `import * as library from 'express-token-endpoint'
    import { MemoryStore } from 'express-session'
    export const oldStore = new MemoryStore()
    export const account: library.MemoryAccount = {
      id: 'acc-1', email: 'alice@example.com', passwordHash: await library.createPasswords().hash('secret'),
    }
    const keys = { alg: 'HS256' as const, secret: '${SECRET}' }
    export const store = library.memoryStore()
    export const newStore = store.sessions
    const accounts = library.memoryAccounts([account])
    const ofRefresh = { store, secret: '${SECRET}', refresh: 'cookie' as const }
    export const auth = library.createAuth({ issuer: '${ISSUER}', keys, accounts, ...ofRefresh })
    export const { sessions } = auth`,
  provider: `${ISSUER_ONLY}
    const log = { error(_: unknown) {} }`,
  issuers: `${WITHOUT_ISSUER.replace('const accounts', 'export const accounts')}
    export const store = library.memoryStore()`,
  'service-tokens': `${AUTH.replace('const auth', 'export const auth')}
    import * as crypto from 'node:crypto'
    const digestOf = async (id: string) => (id === 'acc-1' ? crypto.createHash('sha256').update('a secret').digest() : undefined)`,
}

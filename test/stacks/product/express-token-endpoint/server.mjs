import express from 'express'
import { Kysely, SqliteDialect } from 'kysely'
import Database from 'libsql'
import { authOf, createAuth } from '../../../../dist/index.js'
import { createTables, kyselyAccounts, kyselyStore } from '../../../../dist/kysely.js'
import { guardedOperation, openApiDocument } from '../../../../dist/openapi.js'
import { sendMail } from '../../kit/outbox.mjs'

const { BASE_URL, SECRET, DATABASE } = process.env
export const database = new Database(DATABASE)
database.exec(`
  create table if not exists users (
    id integer primary key autoincrement, email text not null unique, password_hash text not null,
    role text not null default 'employee', disabled integer not null default 0
  );
  create table if not exists sheets (id integer primary key, user_id text not null, week text, hours real, approved_by text);
  create table if not exists audit (at integer, user_id text, actor_id text, action text, status text, address text);
`)
const db = new Kysely({ dialect: new SqliteDialect({ database }) })
await createTables(db)
const run = (sql, ...values) => database.prepare(sql).run(...values).changes === 1
const all = (sql, ...values) => database.prepare(sql).all(...values)

const audit = (userId, actorId, action, status, address) =>
  run('insert into audit values (?, ?, ?, ?, ?, ?)', Date.now(), userId, actorId, action, status, address)

const auth = createAuth({
  issuer: BASE_URL,
  secret: SECRET,
  lifetime: '10m',
  accounts: kyselyAccounts(db, {
    table: 'users',
    columns: { disabled: 'disabled' },
    read: ({ role }) => ({ scopes: role === 'manager' ? ['manager'] : [] }),
    normalizeEmail: (email) => email.toLowerCase(),
  }),
  store: kyselyStore(db),
  refresh: { mode: 'cookie', idle: '30d', unremembered: '1d', longest: '30d' },
  mail: ({ kind, to, code = '' }) => sendMail(to, kind, `${BASE_URL}/#${kind}=${code}`),
  signUp: true,
  passwordReset: true,
  changeAddress: true,
  secondFactor: { name: 'Time sheets' },
  onEvent: ({ type, accountId, actorId, address, code }) => audit(accountId, actorId, type, code, address),
})

function audited(req, res, next) {
  const { accountId, claims } = authOf(req)
  const action = `${req.method} ${req.path}`
  res.on('finish', () => audit(accountId, claims.act?.sub, action, res.statusCode, req.ip))
  next()
}
const guard = (options) => [auth.guard(options), audited]

export const app = express()
  .set('trust proxy', 1)
  .use(express.json({ limit: '4kb' }))
app.use(express.static(`${import.meta.dirname}/page`))
app.use('/token-client', express.static(`${import.meta.dirname}/../../../../dist`))
app.use(auth.router)

app.patch('/users/:id', guard({ scope: 'manager' }), (req, res) => {
  const role = ['employee', 'manager'].find((name) => name === req.body?.role)
  const disabled = typeof req.body?.disabled === 'boolean' ? Number(req.body.disabled) : undefined
  const set = 'update users set role = coalesce(?, role), disabled = coalesce(?, disabled) where id = ?'
  res.sendStatus(run(set, role, disabled, req.params.id) ? 204 : 404)
})
app.post('/act-as/:id', guard({ scope: 'manager' }), async (req, res) => {
  res.json(await auth.signIn(req.params.id, req, res, { actor: authOf(req) }))
})
app.get('/audit', guard({ scope: 'manager' }), (_req, res) => {
  res.json(all('select * from audit order by at desc limit 500'))
})

app.get('/sheets', guard(), (req, res) => {
  const { accountId, scopes } = authOf(req)
  res.json(
    scopes.includes('manager') ? all('select * from sheets') : all('select * from sheets where user_id = ?', accountId),
  )
})
app.post('/sheets', guard(), (req, res) => {
  const { week, hours } = req.body ?? {}
  if (!/^\d{4}-W\d\d$/.test(week) || !(hours >= 0 && hours <= 168)) return res.sendStatus(422)
  const [sheet] = all(
    'insert into sheets (user_id, week, hours) values (?, ?, ?) returning *',
    authOf(req).accountId,
    week,
    hours,
  )
  res.status(201).json(sheet)
})
app.post('/sheets/:id/approve', guard({ scope: 'manager' }), (req, res) => {
  const isFound = run('update sheets set approved_by = ? where id = ?', authOf(req).accountId, req.params.id)
  res.sendStatus(isFound ? 204 : 404)
})

const operation = (summary) => ({ summary, responses: { '2XX': { description: 'Done' } } })
const manager = { scope: 'manager' }
const document = openApiDocument({
  ...auth.openApi,
  title: 'Time sheets',
  servers: BASE_URL,
  paths: {
    '/users/{id}': { patch: guardedOperation(operation('Change the role, or disable a user'), manager) },
    '/act-as/{id}': { post: guardedOperation(operation('Act as a user'), manager) },
    '/audit': { get: guardedOperation(operation('The audit log'), manager) },
    '/sheets': { get: guardedOperation(operation('The sheets')), post: guardedOperation(operation('Add a sheet')) },
    '/sheets/{id}/approve': { post: guardedOperation(operation('Approve a sheet'), manager) },
  },
})
app.get('/openapi.json', (_req, res) => {
  res.json(document)
})
app.use(auth.errors)

import { EventEmitter } from 'node:events'
import { finished } from 'node:stream'
import express from 'express'
import { Kysely, SqliteDialect } from 'kysely'
import Database from 'libsql'
import { authOf, closeWhenEnded, createAuth, SignInRefusal } from '../../../../dist/index.js'
import { createTables, kyselyAccounts, kyselyStore } from '../../../../dist/kysely.js'
import { guardedOperation, openApiDocument } from '../../../../dist/openapi.js'
import { sendMail } from '../../kit/outbox.mjs'

const { BASE_URL, SECRET, DATABASE } = process.env
export const database = new Database(DATABASE)
database.exec(`
  create table if not exists users (
    id integer primary key autoincrement, email text not null unique, password_hash text not null, name text not null,
    role text not null default 'technician'
  );
  create table if not exists jobs (
    id integer primary key, user_id integer not null references users on delete cascade, title text not null, report text
  );
  create table if not exists audit (at integer, user_id text, action text, status text, address text);
`)
const db = new Kysely({ dialect: new SqliteDialect({ database }) })
await createTables(db)
const run = (sql, ...values) => database.prepare(sql).run(...values).changes === 1
const all = (sql, ...values) => database.prepare(sql).all(...values)
const isText = (value, most) => typeof value === 'string' && value.trim() !== '' && value.length <= most

const audit = (userId, action, status, address) =>
  run('insert into audit values (?, ?, ?, ?, ?)', Date.now(), userId, action, status, address)

const auth = createAuth({
  issuer: BASE_URL,
  secret: SECRET,
  lifetime: '10m',
  accounts: kyselyAccounts(db, {
    table: 'users',
    read: ({ name, role }) => ({ name, scopes: [role] }),
    normalizeEmail: (email) => email.toLowerCase(),
    create({ name }) {
      if (isText(name, 80)) return { name }
      throw new SignInRefusal('invalid_name', { status: 422 })
    },
  }),
  store: kyselyStore(db),
  refresh: { mode: 'cookie', idle: '30d', unremembered: '1d', longest: '30d' },
  mail: ({ kind, to, code = '' }) => sendMail(to, kind, `${BASE_URL}/#${kind}=${code}`),
  signUp: { fields: ['name'] },
  passwordReset: true,
  changePassword: true,
  changeAddress: true,
  deletion: true,
  secondFactor: { name: 'Field service' },
  onEvent: ({ type, accountId, address, code }) => audit(accountId, type, code, address),
})

const guard = (options) => [
  auth.guard(options),
  (req, res, next) => {
    const [{ accountId }, action] = [authOf(req), `${req.method} ${req.path}`]
    if (req.method !== 'GET') res.on('finish', () => audit(accountId, action, res.statusCode, req.ip))
    next()
  },
]
const changes = new EventEmitter().setMaxListeners(0)
const canSee = (req, userId) => authOf(req).scopes.includes('dispatcher') || authOf(req).accountId === String(userId)

function ownJob(req, res, next) {
  const [job] = all('select * from jobs where id = ?', req.params.id)
  if (!job || !canSee(req, job.user_id)) return res.sendStatus(404)
  req.job = job
  next()
}

export const app = express()
  .set('trust proxy', 1)
  .use(express.json({ limit: '4kb' }))
app.use(express.static(`${import.meta.dirname}/page`))
app.use('/token-client', express.static(`${import.meta.dirname}/../../../../dist`))
app.use(auth.router)

app.get('/me', guard(), (req, res) => {
  const { name, email } = auth.userOf(req)
  res.json({ name, email })
})
app.get('/audit', guard(), (req, res) => {
  res.json(all('select * from audit where user_id = ? order by at desc limit 100', authOf(req).accountId))
})

app.get('/jobs', guard(), (req, res) => {
  res.json(all('select * from jobs').filter((job) => canSee(req, job.user_id)))
})
app.post('/jobs', guard({ scope: 'dispatcher' }), (req, res) => {
  const { title, email } = req.body ?? {}
  if (!isText(title, 200) || !isText(email, 254)) return res.sendStatus(422)
  const add = 'insert into jobs (user_id, title) select id, ? from users where email = ? returning *'
  const [job] = all(add, title, email.toLowerCase())
  if (!job) return res.sendStatus(404)
  changes.emit('job', job.user_id)
  res.status(201).json(job)
})
app.post('/jobs/:id/report', guard(), ownJob, (req, res) => {
  const { report } = req.body ?? {}
  if (!isText(report, 2000)) return res.sendStatus(422)
  run('update jobs set report = ? where id = ?', report, req.job.id)
  changes.emit('job', req.job.user_id)
  res.sendStatus(204)
})
app.post('/jobs/:id/link', guard(), ownJob, async (req, res) => {
  const path = `/jobs/${req.job.id}/report.txt`
  res.json({ url: `${path}?ticket=${await auth.ticket(req, { path })}` })
})
app.get('/jobs/:id/report.txt', guard({ ticket: true }), ownJob, (req, res) => {
  res.attachment(`job-${req.job.id}.txt`).send(`${req.job.title}\n\n${req.job.report ?? ''}\n`)
})
app.get('/changes', guard(), (req, res) => {
  const onJob = (userId) => canSee(req, userId) && res.write('data: job\n\n')
  const cancel = closeWhenEnded(req, auth.guard(), () => res.destroy())
  changes.on('job', onJob)
  finished(res, () => {
    cancel()
    changes.off('job', onJob)
  })
  res.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' }).flushHeaders()
})

const operation = (summary) => ({ summary, responses: { '2XX': { description: 'Done' } } })
const guarded = (summary, options) => guardedOperation(operation(summary), options)
const document = openApiDocument({
  ...auth.openApi,
  title: 'Field service',
  servers: BASE_URL,
  refusals: ['invalid_name'],
  paths: {
    '/me': { get: guarded('Who is signed in') },
    '/audit': { get: guarded('What happened to the account') },
    '/jobs': { get: guarded('The jobs'), post: guarded('Add a job', { scope: 'dispatcher' }) },
    '/jobs/{id}/report': { post: guarded('Write the report of a job') },
    '/jobs/{id}/link': { post: guarded('A link to the report, for a minute') },
    '/jobs/{id}/report.txt': { get: operation('The report of a job') },
    '/changes': { get: guarded('A stream of changes of jobs') },
  },
})
app.get('/openapi.json', (_req, res) => {
  res.json(document)
})
app.use(auth.errors)

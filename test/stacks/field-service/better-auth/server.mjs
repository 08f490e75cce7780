import { EventEmitter } from 'node:events'
import { betterAuth } from 'better-auth'
import { APIError, createAuthMiddleware } from 'better-auth/api'
import { getMigrations } from 'better-auth/db/migration'
import { fromNodeHeaders, toNodeHandler } from 'better-auth/node'
import { openAPI, twoFactor } from 'better-auth/plugins'
import express from 'express'
import { SqliteDialect } from 'kysely'
import Database from 'libsql'
import { sendMail } from '../../kit/outbox.mjs'

const { BASE_URL, SECRET, DATABASE } = process.env
export const database = new Database(DATABASE)
database.exec(`
  create table if not exists jobs (
    id integer primary key, user_id text not null references user on delete cascade, title text not null, report text
  );
  create table if not exists audit (at integer, user_id text, action text, status text, address text);
`)
const run = (sql, ...values) => database.prepare(sql).run(...values).changes === 1
const all = (sql, ...values) => database.prepare(sql).all(...values)
const isText = (value, most) => typeof value === 'string' && value.trim() !== '' && value.length <= most

const audit = (userId, action, status, address) =>
  run('insert into audit values (?, ?, ?, ?, ?)', Date.now(), userId, action, status, address)

const options = {
  appName: 'Field service',
  baseURL: BASE_URL,
  secret: SECRET,
  database: { dialect: new SqliteDialect({ database }), type: 'sqlite' },
  emailAndPassword: {
    enabled: true,
    minPasswordLength: 15,
    requireEmailVerification: true,
    revokeSessionsOnPasswordReset: true,
    sendResetPassword: async ({ user, token }) => {
      sendMail(user.email, 'password-reset', `${BASE_URL}/#reset=${token}`)
    },
  },
  emailVerification: {
    sendVerificationEmail: async ({ user, url }, request) => {
      sendMail(user.email, request.url.endsWith('/change-email') ? 'new-address' : 'sign-up', url)
    },
  },
  user: {
    changeEmail: { enabled: true },
    deleteUser: { enabled: true },
    additionalFields: { role: { type: 'string', defaultValue: 'technician', input: false } },
  },
  databaseHooks: {
    user: {
      update: {
        before: async ({ email }, ctx) => {
          if (email) sendMail(ctx.context.session.user.email, 'address-changed', BASE_URL)
        },
      },
    },
  },
  session: { expiresIn: 30 * 24 * 60 * 60 },
  plugins: [twoFactor(), openAPI()],
  rateLimit: { enabled: true, customRules: { '/sign-in/email': { window: 900, max: 10 } } },
  advanced: { ipAddress: { ipAddressHeaders: ['x-client-ip'], ipv6Subnet: 64 } },
  hooks: {
    before: createAuthMiddleware(async (ctx) => {
      if (ctx.path === '/sign-up/email' && !isText(ctx.body.name, 80)) throw new APIError('UNPROCESSABLE_ENTITY')
    }),
    after: createAuthMiddleware(async (ctx) => {
      const { newSession, session, returned, internalAdapter } = ctx.context
      const named = ctx.path === '/sign-in/email' && (await internalAdapter.findUserByEmail(ctx.body.email))
      const { user } = newSession ?? session ?? named ?? {}
      const status = returned instanceof APIError ? returned.statusCode : 200
      audit(user?.id, ctx.path, status, ctx.headers?.get('x-client-ip'))
    }),
  },
}
export const auth = betterAuth(options)
await (await getMigrations(options)).runMigrations()

const guard = (role) => async (req, res, next) => {
  const found = await auth.api.getSession({ headers: fromNodeHeaders(req.headers) })
  if (!found) return res.sendStatus(401)
  if (role && found.user.role !== role) return res.sendStatus(403)
  req.user = found.user
  const action = `${req.method} ${req.path}`
  if (req.method !== 'GET') res.on('finish', () => audit(found.user.id, action, res.statusCode, req.ip))
  next()
}
const changes = new EventEmitter().setMaxListeners(0)
const canSee = (req, userId) => req.user.role === 'dispatcher' || req.user.id === userId

function ownJob(req, res, next) {
  const [job] = all('select * from jobs where id = ?', req.params.id)
  if (!job || !canSee(req, job.user_id)) return res.sendStatus(404)
  req.job = job
  next()
}

export const app = express().set('trust proxy', 1)
app.use(express.static(`${import.meta.dirname}/page`))
app.use((req, _res, next) => {
  req.headers['x-client-ip'] = req.ip
  next()
})
app.all('/api/auth/*path', toNodeHandler(auth))
app.use(express.json({ limit: '4kb' }))

app.get('/me', guard(), (req, res) => {
  const { name, email } = req.user
  res.json({ name, email })
})
app.get('/audit', guard(), (req, res) => {
  res.json(all('select * from audit where user_id = ? order by at desc limit 100', req.user.id))
})

app.get('/jobs', guard(), (req, res) => {
  res.json(all('select * from jobs').filter((job) => canSee(req, job.user_id)))
})
app.post('/jobs', guard('dispatcher'), (req, res) => {
  const { title, email } = req.body ?? {}
  if (!isText(title, 200) || !isText(email, 254)) return res.sendStatus(422)
  const add = 'insert into jobs (user_id, title) select id, ? from user where email = ? returning *'
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
app.get('/jobs/:id/report.txt', guard(), ownJob, (req, res) => {
  res.attachment(`job-${req.job.id}.txt`).send(`${req.job.title}\n\n${req.job.report ?? ''}\n`)
})
app.get('/changes', guard(), (req, res) => {
  const onJob = (userId) => canSee(req, userId) && res.write('data: job\n\n')
  changes.on('job', onJob)
  res.on('close', () => changes.off('job', onJob))
  res.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' }).flushHeaders()
})

const operation = (summary) => ({
  summary,
  responses: { '2XX': { description: 'Done' }, 401: { description: 'Sign in' } },
})
const servers = [{ url: BASE_URL }]
const paths = {
  '/me': { servers, get: operation('Who is signed in') },
  '/audit': { servers, get: operation('What happened to the account') },
  '/jobs': { servers, get: operation('The jobs'), post: operation('Add a job') },
  '/jobs/{id}/report': { servers, post: operation('Write the report of a job') },
  '/jobs/{id}/report.txt': { servers, get: operation('The report of a job') },
  '/changes': { servers, get: operation('A stream of changes of jobs') },
}
app.get('/openapi.json', async (_req, res) => {
  const document = await auth.api.generateOpenAPISchema()
  res.json({ ...document, paths: { ...document.paths, ...paths } })
})

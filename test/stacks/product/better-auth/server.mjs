import { betterAuth } from 'better-auth'
import { APIError, createAuthMiddleware } from 'better-auth/api'
import { getMigrations } from 'better-auth/db/migration'
import { fromNodeHeaders, toNodeHandler } from 'better-auth/node'
import { admin, openAPI, twoFactor } from 'better-auth/plugins'
import express from 'express'
import { SqliteDialect } from 'kysely'
import Database from 'libsql'
import { sendMail } from '../../kit/outbox.mjs'

const { BASE_URL, SECRET, DATABASE } = process.env
export const database = new Database(DATABASE)
database.exec(`
  create table if not exists used_codes (user_id text, code text, at integer, primary key (user_id, code));
  create table if not exists sheets (id integer primary key, user_id text not null, week text, hours real, approved_by text);
  create table if not exists audit (at integer, user_id text, actor_id text, action text, status text, address text);
`)
const run = (sql, ...values) => database.prepare(sql).run(...values).changes === 1
const all = (sql, ...values) => database.prepare(sql).all(...values)

const audit = (userId, actorId, action, status, address) =>
  run('insert into audit values (?, ?, ?, ?, ?, ?)', Date.now(), userId, actorId, action, status, address)

function isNewCode(userId, code) {
  run('delete from used_codes where at < ?', Date.now() - 120_000)
  return run('insert into used_codes values (?, ?, ?) on conflict do nothing', userId, code, Date.now())
}

const options = {
  appName: 'Time sheets',
  baseURL: BASE_URL,
  secret: SECRET,
  database: { dialect: new SqliteDialect({ database }), type: 'sqlite' },
  emailAndPassword: {
    enabled: true,
    minPasswordLength: 12,
    requireEmailVerification: true,
    revokeSessionsOnPasswordReset: true,
    sendResetPassword: async ({ user, token }) => {
      sendMail(user.email, 'password-reset', `${BASE_URL}/#reset=${token}`)
    },
  },
  emailVerification: {
    sendOnSignIn: true,
    sendVerificationEmail: async ({ user, url }, request) => {
      sendMail(user.email, request.url.endsWith('/change-email') ? 'new-address' : 'sign-up', url)
    },
  },
  user: { changeEmail: { enabled: true } },
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
  plugins: [twoFactor(), admin(), openAPI()],
  rateLimit: { enabled: true, customRules: { '/sign-in/email': { window: 900, max: 10 } } },
  advanced: { ipAddress: { ipAddressHeaders: ['x-client-ip'], ipv6Subnet: 64 } },
  hooks: {
    after: createAuthMiddleware(async (ctx) => {
      const { newSession, session, returned, internalAdapter } = ctx.context
      const { user, session: current } = newSession ?? session ?? {}
      if (ctx.path === '/two-factor/verify-totp' && newSession && !isNewCode(user.id, ctx.body.code)) {
        await internalAdapter.deleteSession(current.token)
        throw new APIError('UNAUTHORIZED', { code: 'USED_CODE' })
      }
      const status = returned instanceof APIError ? returned.statusCode : 200
      audit(user?.id, current?.impersonatedBy, ctx.path, status, ctx.headers?.get('x-client-ip'))
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
  res.on('finish', () => audit(found.user.id, found.session.impersonatedBy, action, res.statusCode, req.ip))
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

app.get('/audit', guard('admin'), (_req, res) => {
  res.json(all('select * from audit order by at desc limit 500'))
})

app.get('/sheets', guard(), (req, res) => {
  const { id, role } = req.user
  res.json(role === 'admin' ? all('select * from sheets') : all('select * from sheets where user_id = ?', id))
})
app.post('/sheets', guard(), (req, res) => {
  const { week, hours } = req.body ?? {}
  if (!/^\d{4}-W\d\d$/.test(week) || !(hours >= 0 && hours <= 168)) return res.sendStatus(422)
  const [sheet] = all(
    'insert into sheets (user_id, week, hours) values (?, ?, ?) returning *',
    req.user.id,
    week,
    hours,
  )
  res.status(201).json(sheet)
})
app.post('/sheets/:id/approve', guard('admin'), (req, res) => {
  const isFound = run('update sheets set approved_by = ? where id = ?', req.user.id, req.params.id)
  res.sendStatus(isFound ? 204 : 404)
})

const operation = (summary) => ({
  summary,
  responses: { '2XX': { description: 'Done' }, 401: { description: 'Sign in' } },
})
const servers = [{ url: BASE_URL }]
const paths = {
  '/audit': { servers, get: operation('The audit log') },
  '/sheets': { servers, get: operation('The sheets'), post: operation('Add a sheet') },
  '/sheets/{id}/approve': { servers, post: operation('Approve a sheet') },
}
app.get('/openapi.json', async (_req, res) => {
  const document = await auth.api.generateOpenAPISchema()
  res.json({ ...document, paths: { ...document.paths, ...paths } })
})

import express from 'express'
import session, { type MemoryStore } from 'express-session'
import type { Account, Auth, SessionStore } from 'express-token-endpoint'
import passport from 'passport'
import { Strategy } from 'passport-local'
import request from 'supertest'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { get, startExamples } from '../../../support/documents/examples.js'
import { issueNow } from '../../../support/fixtures.js'
import { TOKEN_PATH } from '../../../support/http.js'

const { run } = startExamples(import.meta.url)

const SESSION_SECRET = 'a secret of sessions'

beforeAll(() => {
  process.env['SESSION_SECRET'] = SESSION_SECRET
  passport.serializeUser((user, done) => done(null, (user as { id: string }).id))
  passport.deserializeUser((id, done) => done(null, { id: String(id) }))
})

/** Returns the pairs of the cookies that a response sets, by their names. */
const cookiesOf = ({ headers }: { headers: object }): Record<string, string> =>
  Object.fromEntries(
    [(headers as { 'set-cookie'?: string[] })['set-cookie'] ?? []]
      .flat()
      .map((line) => [line.split('=')[0], line.split(';')[0]]),
  )

describe('an app with passport-local and express-session', () => {
  async function start(instance: string) {
    type Recipe = { auth: Auth<Account>; account: object; oldStore: MemoryStore; newStore: SessionStore }
    const recipe = await run<Recipe>('from-express-session', instance)
    const { app, auth, oldStore } = recipe
    app.get('/me', auth.guard(), (req, res) => void res.json(auth.userOf(req).id))

    const old = express().use(express.json())
    old.use(
      session({ secret: SESSION_SECRET, store: oldStore, resave: false, saveUninitialized: false }),
      passport.session(),
    )
    const checkPassword = new Strategy({ usernameField: 'email' }, (_, password, done) =>
      done(null, password === 'secret' && { id: 'acc-1' }),
    )
    old.post('/login', passport.authenticate(checkPassword), (_req, res) => void res.end())
    old.get('/me', (req, res) => void res.sendStatus(req.isAuthenticated() ? 200 : 401))

    const credentials = { email: 'alice@example.com', password: 'secret' }
    const cookie = cookiesOf(await request(old).post('/login').send(credentials).expect(200))['connect.sid'] ?? ''
    const isOld = async () => (await request(old).get('/me').set('Cookie', cookie)).status
    expect(await isOld()).toBe(200)
    const move = () => request(app).post('/sign-in/session').set('Cookie', cookie)
    return { ...recipe, isOld, move }
  }

  it('from-express-session: keeps a user signed in with a refresh cookie, and ends the old session', async () => {
    const { app, sessions, isOld, move } = await start('move')
    const response = await move().send({}).expect(200).expect('Cache-Control', 'no-store')
    await get(app, '/me', response.body.authenticationToken).expect(200, '"acc-1"')
    const { '__Secure-refresh': refresh = '', 'connect.sid': ended } = cookiesOf(response)
    expect(ended).toBe('connect.sid=')
    const refreshed = await request(app).post(`${TOKEN_PATH}/refresh`).set('Cookie', refresh).expect(200)
    await get(app, '/me', refreshed.body.authenticationToken).expect(200)
    expect(await isOld()).toBe(401)
    await move().send({}).expect(403, '')
    expect(await sessions.list('acc-1')).toHaveLength(1)
  })

  it('from-express-session: refuses a request without JSON, without a session, and of a disabled account', async () => {
    const { app, account, sessions, isOld, move } = await start('refusals')
    await move().type('form').send('a=1').expect(403, '')
    await move().expect(403, '')
    await request(app).post('/sign-in/session').send({}).expect(403, '')
    await request(app).post('/sign-in/session').set('Cookie', 'connect.sid=s%3Aforged.x').send({}).expect(403, '')
    Object.assign(account, { disabled: true })
    await move().send({}).expect(403, '')
    expect([await isOld(), await sessions.list('acc-1')]).toEqual([200, []])
  })

  it('from-express-session: keeps the old session while the new store is down', async () => {
    const { newStore, isOld, move } = await start('outage')
    vi.spyOn(newStore, 'add').mockRejectedValueOnce(new Error('down'))
    await move().send({}).expect(503)
    expect(await isOld()).toBe(200)
    await move().send({}).expect(200)
  })

  it('session-or-token: takes either, and prefers the token', async () => {
    const { app, tokens } = await run('session-or-token')
    app.post('/session', (req, res, next) => {
      req.logIn({ id: 'acc-2' }, (error) => (error ? next(error) : res.end()))
    })
    const cookie = cookiesOf(await request(app).post('/session'))['connect.sid'] ?? ''
    const ask = async (headers: Record<string, string>) => (await request(app).get('/statements').set(headers)).body
    const { token } = issueNow(tokens, { accountId: 'acc-1', scopes: ['statements:read'], lifetime: '5m' })
    const Authorization = `Bearer ${token}`
    expect(await ask({ cookie })).toEqual({ user: { id: 'acc-2' } })
    expect(await ask({ Authorization })).toMatchObject({ user: { id: 'acc-1' } })
    expect(await ask({ cookie, Authorization })).toMatchObject({ user: { id: 'acc-1' } })
    expect(await ask({ cookie, Authorization: 'Bearer x.y.z' })).toMatchObject({ code: 'invalid_token' })
  })
})

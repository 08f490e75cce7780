import express, { type Request } from 'express'
import {
  type AuthEvent,
  type AuthOptions,
  authOf,
  createAuth,
  type MemoryAccount,
  memoryStore,
  type Sessions,
} from 'express-token-endpoint'
import { ACCOUNTS, fastPasswords, ISSUER, SECRET } from './fixtures.js'
import { type Answer, asJson, GOOD } from './host.js'
import { bearer, client, listen, TOKEN_PATH } from './http.js'

const { alice, bob } = ACCOUNTS
export const carol = { ...bob, id: 'acc-carol', email: 'carol@example.com' }
export const parse = ({ body }: Answer) => JSON.parse(body)

/** Starts an app of `createAuth`, whose accounts the test changes. */
export async function startAuth(options: Partial<AuthOptions<MemoryAccount & { team: string }>> = {}, mount = '') {
  const events: AuthEvent[] = []
  const onEvent = (event: AuthEvent) => void events.push(event)
  const list = [alice, bob, carol].map((one) => ({ ...one, team: 'north' }))
  const accounts = {
    findByEmail: (email: string) => list.find((one) => one.email === email),
    findById: (id: string) => list.find((one) => one.id === id),
  }
  const store = memoryStore()
  const auth = createAuth({
    issuer: ISSUER,
    keys: { alg: 'HS256', secret: SECRET },
    lifetime: '10m',
    accounts,
    store,
    secret: SECRET,
    passwords: fastPasswords(),
    limits: false,
    onEvent,
    ...options,
  })
  const app = express()
  app.use(mount, auth.router)
  app.get('/me', auth.guard(), (req, res) => void res.json({ auth: authOf(req), user: auth.userOf(req) }))
  app.get('/reports', auth.guard({ scope: 'reports:read' }), (_req, res) => void res.json('reports'))
  app.post('/passkey', async (req: Request, res) => void res.json(await auth.signIn(alice.id, req, res)))
  app.post('/device', async (req: Request, res) => {
    res.json(await auth.signIn(alice, req, res, { label: 'Phone', remember: false }))
  })
  app.post('/act-as/:id', auth.guard(), async (req, res) => {
    res.json(await auth.signIn(String(req.params['id']), req, res, { actor: authOf(req) }))
  })
  app.get('/recent', auth.guard({ signedInWithin: '1m' }), (_req, res) => void res.json('recent'))
  const recentOrActing = auth.guard({ signedInWithin: '1m', acting: true })
  app.get('/recent-or-acting', recentOrActing, (_req, res) => void res.json('recent'))
  app.use(auth.errors)
  const { port } = await listen(app)
  const send = client(port)
  const post = (path: string, body: object = {}, headers = {}) => {
    const sent = asJson(body)
    return send({ ...sent, method: 'POST', path, headers: { ...sent.headers, ...headers } })
  }
  const get = (path: string, token: string) => send(bearer(token, path))
  const signIn = async (body: object = GOOD) => parse(await post(mount + TOKEN_PATH, body))
  const actAs = ({ id }: { id: string }, token: string) =>
    post(`/act-as/${id}`, {}, { authorization: `Bearer ${token}` })
  return { auth, port, events, list, sessions: auth.sessions as Sessions, send, post, get, signIn, actAs }
}

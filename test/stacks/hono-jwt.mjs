import { randomBytes } from 'node:crypto'
import { serve } from '@hono/node-server'
import { verify } from '@node-rs/bcrypt'
import { Hono } from 'hono'
import { jwt, sign } from 'hono/jwt'
import { EMAIL, hashed, listening } from './account.mjs'

const secret = randomBytes(32).toString('hex')
const users = [{ id: 1, email: EMAIL, password: await hashed() }]

const app = new Hono()
app.post('/login', async (c) => {
  const { email, password } = await c.req.json()
  const user = users.find((one) => one.email === email)
  if (!user || !(await verify(password, user.password))) return c.json({ message: 'Invalid e-mail or password' }, 401)
  const exp = Math.floor(Date.now() / 1000) + 3600
  return c.json({ token: await sign({ sub: String(user.id), exp }, secret, 'HS256') })
})
app.get('/me', jwt({ secret, alg: 'HS256' }), (c) => c.json({ id: c.get('jwtPayload').sub }))

serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, ({ port }) => listening(port))

import { randomBytes } from 'node:crypto'
import fastifyJwt from '@fastify/jwt'
import { verify } from '@node-rs/bcrypt'
import Fastify from 'fastify'
import { EMAIL, hashed, listening } from './account.mjs'

const app = Fastify()
await app.register(fastifyJwt, { secret: randomBytes(32).toString('hex'), sign: { expiresIn: '1h' } })
const users = [{ id: 1, email: EMAIL, password: await hashed() }]

const body = {
  type: 'object',
  required: ['email', 'password'],
  properties: { email: { type: 'string' }, password: { type: 'string' } },
}
app.post('/login', { schema: { body } }, async (request, reply) => {
  const user = users.find(({ email }) => email === request.body.email)
  if (!user || !(await verify(request.body.password, user.password))) {
    return reply.code(401).send({ message: 'Invalid e-mail or password' })
  }
  return { token: app.jwt.sign({ sub: String(user.id) }) }
})
app.get('/me', { onRequest: (request) => request.jwtVerify() }, async (request) => ({ id: request.user.sub }))

await app.listen({ host: '127.0.0.1', port: 0 })
listening(app.server.address().port)

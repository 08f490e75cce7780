// Prints the response of the app in the current folder to each kind of request.
require('./stand-ins.cjs')
const { createRequire } = require('node:module')
const { join } = require('node:path')

const inApp = createRequire(join(process.cwd(), 'api/app.js'))
const request = inApp('supertest')
const jwt = inApp('jsonwebtoken')
const { beforeAction } = inApp('../test/setup/_setup')
console.log = () => {}

async function main() {
  const app = await beforeAction()
  const post = (path, body) => request(app).post(`/public/${path}`).send(body)
  const users = () => request(app).get('/private/users')
  const withHeader = (text) => users().set('Authorization', text)
  const alice = { email: 'alice@example.com', password: 'correct horse', password2: 'correct horse' }
  const signed = (options) => jwt.sign({ id: 1 }, 'secret', options)

  const registered = await post('register', alice)
  const signedIn = await post('login', alice)
  const responses = {
    registered,
    signedIn,
    'two passwords': await post('user', { ...alice, password2: 'other' }),
    'address in use': await post('user', alice),
    'a form': await post('login').type('form').send({ email: alice.email, password: alice.password }),
    'wrong password': await post('login', { ...alice, password: 'wrong' }),
    'unknown address': await post('login', { ...alice, email: 'bob@example.com' }),
    'no credentials': await post('login', {}),
    'valid token': await post('validate', { token: signedIn.body.token }),
    'invalid token': await post('validate', { token: 'invalid' }),
    'no token to validate': await post('validate', {}),
    'token of the sign-up': await withHeader(`Bearer ${registered.body.token}`),
    'token of the old code': await withHeader(`Bearer ${signed({ expiresIn: 10800 })}`),
    'token in the body': await users().send({ token: signedIn.body.token }),
    'no token': await users(),
    'another scheme': await withHeader('Basic abc'),
    'forged token': await withHeader(`Bearer ${jwt.sign({ id: 1 }, 'guess')}`),
    'expired token': await withHeader(`Bearer ${signed({ expiresIn: -5 })}`),
  }
  for (const [name, { status, body }] of Object.entries(responses))
    process.stdout.write(`${name}: ${status} ${JSON.stringify(body).replace(/eyJ[\w.-]+/g, 'JWT')}\n`)
}
main().then(() => process.exit())

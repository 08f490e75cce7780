import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { createApp } from './app.js'

const [email, password, newPassword] = ['alice@example.com', 'green tea at half past four', 'black tea at noon']
const [TOKEN, ACCOUNT] = ['/api/v2013/authentication/token', '/auth/account']
const secret = 'a secret of the tests, which is long enough'

test('a user signs up, stays signed in by the cookie, and resets the password', async (t) => {
  const codes = []
  const mail = ({ code }) => code && codes.push(code)
  const app = await createApp({ file: ':memory:', issuer: 'http://localhost', secret, mail })
  const server = app.listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  const call = (path, init) => fetch(`http://127.0.0.1:${server.address().port}${path}`, init)
  const post = (path, body) => call(path, { method: 'POST', body: new URLSearchParams(body) })
  async function codeFrom(path) {
    assert.equal((await post(path, { email })).status, 202)
    while (codes.length === 0) await new Promise(setImmediate)
    return codes.pop()
  }

  assert.equal((await call('/me')).status, 401)
  const signUp = await post(`${ACCOUNT}/confirm`, { code: await codeFrom(ACCOUNT), password })
  const Cookie = signUp.headers.get('Set-Cookie').split(';')[0]
  const refresh = await call(`${TOKEN}/refresh`, { method: 'POST', headers: { Cookie } })
  const Authorization = `Bearer ${(await refresh.json()).authenticationToken}`
  assert.deepEqual(await (await call('/me', { headers: { Authorization } })).json(), { email })
  const code = await codeFrom(`${ACCOUNT}/password/forgotten`)
  assert.equal((await post(`${ACCOUNT}/password/reset`, { code, password: newPassword })).status, 204)
  assert.equal((await post(TOKEN, { email, password })).status, 403)
  assert.equal((await post(TOKEN, { email, password: newPassword })).status, 200)
})

import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { authOf, memoryAccounts, requireBearer, tokenRouter } from 'express-token-endpoint'
import { createTestIssuer, fastPasswords } from 'express-token-endpoint/testing'
import { withCanActivate } from '../frameworks/nest.mjs'

const { tokens, bearer, refused } = createTestIssuer()
const passwords = fastPasswords()
const alice = { id: 'acc-1', email: 'alice@example.com', scopes: ['reports:read'] }
let app

beforeAll(async () => {
  const accounts = memoryAccounts([{ ...alice, passwordHash: await passwords.hash('secret') }])
  const guard = requireBearer({ tokens, scope: 'reports:read' })
  app = await withCanActivate({ authOf, guard, router: tokenRouter({ tokens, accounts, passwords }) })
})
afterAll(() => app.close())

const login = (password) =>
  fetch(`${app.url}/api/v2013/authentication/token`, {
    method: 'POST',
    body: new URLSearchParams({ email: alice.email, password }),
  })
const reports = (headers = {}) => fetch(`${app.url}/reports`, { headers })

test('a login returns a token that the guard admits', async () => {
  const { authenticationToken } = await (await login('secret')).json()
  const response = await reports({ Authorization: `Bearer ${authenticationToken}` })
  expect([response.status, await response.json()]).toEqual([200, { account: 'acc-1' }])
})

test('a wrong password is 403 with an empty body', async () => {
  const response = await login('Secret')
  expect([response.status, await response.text()]).toEqual([403, ''])
})

test('no token is 401 with a challenge', async () => {
  const response = await reports()
  expect([response.status, response.headers.get('www-authenticate')]).toEqual([
    401,
    'Bearer realm="https://issuer.test", scope="reports:read"',
  ])
})

test('a token without the scope is 403', async () => {
  const response = await reports(bearer('acc-1'))
  expect(response.status).toBe(403)
  expect(response.headers.get('www-authenticate')).toContain('error="insufficient_scope"')
})

test.each(Object.entries(refused))('a token that is %s is 401', async (_, headers) => {
  expect((await reports(headers(alice))).status).toBe(401)
})

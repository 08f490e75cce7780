import type { RequestListener, Server } from 'node:http'
import { expect } from 'vitest'
import { ACCOUNTS, ISSUER, PASSWORD } from '../support/fixtures.js'
import { listen, TOKEN_PATH } from '../support/http.js'
import { makeKit } from './kit.js'

const realm = `Bearer realm="${ISSUER}"`

/** The refusals of the guarded route: one row for each kind of token. */
export const REFUSED = [
  { token: undefined, status: 401, code: 'missing_token', challenge: realm },
  { token: 'forged', status: 401, code: 'invalid_token', challenge: `${realm}, error="invalid_token"` },
  { token: 'bob', status: 403, code: 'insufficient_scope', challenge: `${realm}, error="insufficient_scope"` },
] as const

/**
 * Expects the behaviour that all hosts share. A login returns a token, and a wrong password gets 403. The guarded route refuses each row
 * of {@link REFUSED} with its challenge, and admits the token of the login.
 * @param hasCode whether the body of a refusal is ours
 */
export async function expectHost(url: string, hasCode = true): Promise<void> {
  const login = (password: string) =>
    fetch(url + TOKEN_PATH, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ email: ACCOUNTS.alice.email, password }),
    })
  const wrong = await login('wrong')
  expect([wrong.status, await wrong.text()]).toEqual([403, ''])
  const right = await login(PASSWORD)
  expect([right.status, right.headers.get('Cache-Control')]).toEqual([200, 'no-store'])
  const { authenticationToken, ...rest } = (await right.json()) as { authenticationToken: string }
  expect(Object.keys(rest)).toEqual(['expiration'])

  const { issued } = makeKit()
  const guarded = (token: string | undefined) =>
    fetch(`${url}/reports`, {
      headers: { Accept: 'application/json', ...(token && { Authorization: `Bearer ${token}` }) },
    })
  for (const { token, status, code, challenge } of REFUSED) {
    const refused = await guarded(token && issued[token])
    expect([refused.status, refused.headers.get('WWW-Authenticate')]).toEqual([
      status,
      expect.stringContaining(challenge),
    ])
    if (hasCode) expect(await refused.json()).toMatchObject({ code })
  }
  const admitted = await guarded(authenticationToken)
  expect(admitted.status).toBe(200)
  expect(await admitted.json()).toMatchObject({ account: ACCOUNTS.alice.id })
}

/** Starts a server on a free port of loopback, and stops it when the test ends. Returns its URL. */
export const start = async (handler: Server | RequestListener): Promise<string> => (await listen(handler)).url

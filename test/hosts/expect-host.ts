import { once } from 'node:events'
import { createServer, type RequestListener, Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished } from 'vitest'
import { ACCOUNTS, ISSUER, PASSWORD } from '../support/fixtures.js'
import { TOKEN_PATH } from '../support/http.js'
import { makeKit } from './kit.js'

/** A response as a client sees it. Header names are in lower case. */
export interface Seen {
  status: number
  headers: Record<string, string | undefined>
  body: string
}

/** Sends a request. The body is a JSON text. */
export type Call = (
  url: string,
  method: 'GET' | 'POST',
  headers: Record<string, string>,
  body?: string,
) => Promise<Seen>

export const byFetch: Call = async (url, method, headers, body) => {
  const response = await fetch(url, { method, headers, ...(body === undefined ? {} : { body }) })
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    body: await response.text(),
  }
}

const realm = `Bearer realm="${ISSUER}"`

/** The refusals of the guarded route: one row for each kind of token. */
export const REFUSED = [
  { token: undefined, status: 401, code: 'missing_token', challenge: realm },
  { token: 'forged', status: 401, code: 'invalid_token', challenge: `${realm}, error="invalid_token"` },
  { token: 'bob', status: 403, code: 'insufficient_scope', challenge: `${realm}, error="insufficient_scope"` },
] as const

interface HostOptions {
  /** The path of the guarded route. */
  path?: string
  call?: Call
  /** Reads the account from the body of the guarded route. */
  accountIn?: (body: never) => unknown
  /** Reads the code of the refusal from the body. Null when another program writes the body. */
  codeIn?: ((body: never) => unknown) | null
}

/**
 * Expects the behaviour that all hosts share. A login returns a token, and a wrong password gets 403. The guarded route refuses each row
 * of {@link REFUSED} with its challenge, and admits the token of the login.
 */
export async function expectHost(url: string, options: HostOptions = {}): Promise<void> {
  const { path = '/reports', call = byFetch } = options
  const accountIn = options.accountIn ?? (({ account }: { account: string }) => account)
  const { codeIn = ({ code }: { code: string }) => code } = options

  const login = (password: string) =>
    call(
      url + TOKEN_PATH,
      'POST',
      { 'Content-Type': 'application/json' },
      JSON.stringify({ email: ACCOUNTS.alice.email, password }),
    )
  const wrong = await login('wrong')
  expect([wrong.status, wrong.body]).toEqual([403, ''])
  const right = await login(PASSWORD)
  expect(right).toMatchObject({ status: 200, headers: { 'cache-control': 'no-store' } })
  const { authenticationToken, ...rest } = JSON.parse(right.body)
  expect(Object.keys(rest)).toEqual(['expiration'])

  const { issued } = makeKit()
  const guarded = (token: string | undefined) =>
    call(url + path, 'GET', { Accept: 'application/json', ...(token && { Authorization: `Bearer ${token}` }) })
  for (const { token, status, code, challenge } of REFUSED) {
    const refused = await guarded(token && issued[token])
    expect(refused).toMatchObject({ status, headers: { 'www-authenticate': expect.stringContaining(challenge) } })
    if (codeIn) expect(codeIn(JSON.parse(refused.body) as never)).toBe(code)
  }
  const admitted = await guarded(authenticationToken)
  expect(admitted.status).toBe(200)
  expect(accountIn(JSON.parse(admitted.body) as never)).toBe(ACCOUNTS.alice.id)
}

/** Starts a server on a free port of loopback, and stops it when the test ends. */
export async function start(handler: Server | RequestListener): Promise<string> {
  const server = handler instanceof Server ? handler : createServer(handler)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

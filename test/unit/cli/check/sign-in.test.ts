import { expect, test } from 'vitest'
import type { Received, Send, Sent } from '../../../../src/cli/check/probe/send.js'
import { signIn } from '../../../../src/cli/check/probe/sign-in.js'
import { Fault } from '../../../../src/cli/check/verdict.js'
import { OWN_WIRE } from '../../../../src/cli/check/wire/wire.js'

const credentials = { email: 'alice@example.com', password: 'hers' }
/** A URL that the client itself refuses, with a query, which its options cannot say. */
const token = new URL('http://api.example.com/token?house=north')
const environment = { token, guarded: [], credentials }

const result = { authenticationToken: 'a.b.c', expiration: '2100-01-01T00:00:00.000Z' }
const issued: Received = { status: 200, headers: {}, body: JSON.stringify(result), receivedAt: 0 }

/** Signs in. Returns what was sent, with the token or the error. */
async function signedIn(respond: () => Promise<Received>) {
  const sent: [url: string, request: Sent | undefined][] = []
  const send: Send = (url, request) => {
    sent.push([url.href, request])
    return respond()
  }
  return { sent, found: await signIn(environment, send, OWN_WIRE).catch((error) => error) }
}

test('sends the credentials once to the token URL, and over plain http too', async () => {
  const { sent, found } = await signedIn(async () => issued)
  expect(found).toBe('a.b.c')
  expect(sent).toEqual([
    [
      token.href,
      { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(credentials) },
    ],
  ])
})

test.each<[string, Partial<Received>]>([
  ['invalid credentials', { status: 403, body: '' }],
  ['a limit without a time', { status: 429 }],
  ['a limit with a time', { status: 429, headers: { 'retry-after': '1' } }],
  ['an overload', { status: 503 }],
  ['a status that `Response` does not take', { status: 999 }],
  ['no JSON', { body: 'hello' }],
  ['a token that is none', { body: JSON.stringify({ ...result, authenticationToken: 'a b' }) }],
  ['a token without an expiration', { body: JSON.stringify({ authenticationToken: 'a.b.c' }) }],
])('%s: one request, and no token', async (_what, answer) => {
  const { sent, found } = await signedIn(async () => ({ ...issued, ...answer }))
  expect(found).toEqual(new Fault('the other environment gave no token'))
  expect(sent).toHaveLength(1)
})

test('keeps the message of a server that does not respond', async () => {
  const fault = new Fault('no response: connect ECONNREFUSED 127.0.0.1:9')
  const { sent, found } = await signedIn(() => Promise.reject(fault))
  expect(found).toBe(fault)
  expect(sent).toHaveLength(1)
})

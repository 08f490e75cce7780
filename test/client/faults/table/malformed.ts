import type { ServerResponse } from 'node:http'
import { type Fault, fault, must, mustGet, mustSignIn, mustSignInAtMost } from '../fault.js'
import { type Handler, sends } from '../server.js'

const JSON_TYPE = { 'Content-Type': 'application/json' }
const later = () => new Date(Date.now() + 3_600_000).toISOString()
const result = (members: object) => JSON.stringify({ authenticationToken: 'Tmade-up', expiration: later(), ...members })
const body = (make: () => string) => (res: ServerResponse) => sends(200, JSON_TYPE, make())(res, undefined as never)

/** Returns a fault in which a sign-in fails, and the next one succeeds. */
const recovers = (name: string, handler: Handler, code: string): Fault =>
  fault(name, ['waits'], async ({ server, start, fails }) => {
    server.next.token.push(handler)
    const client = start({ timeout: 2 })
    await fails(client.call('/x'), code)
    must(server.seen.api.length === 0, 'calls the API without a valid token')
    mustGet(await client.call('/x'), 200)
  })

/** Returns a fault that is gone at once. The caller must not see it. */
const passes = (name: string, handler: Handler, code: string): Fault[] => [
  fault(name, ['waits'], async ({ server, start }) => {
    server.next.token.push(handler)
    mustGet(await start().call('/x'), 200)
    mustSignIn(server, 2)
  }),
  fault(`${name}, twice`, ['waits'], async ({ server, start, fails }) => {
    server.next.token.push(handler, handler)
    await fails(start().call('/x'), code)
    mustSignInAtMost(server, 2, 'for one call')
  }),
]

/** Responses that are not what the specification says, and connections that break. */
export const malformed: Fault[] = [
  recovers(
    'truncated JSON',
    body(() => result({}).slice(0, -10)),
    'unexpected',
  ),
  recovers(
    'concatenated JSON',
    body(() => result({}) + result({})),
    'unexpected',
  ),
  recovers('a 200 without a body', sends(200), 'unexpected'),
  recovers(
    'a 200 with a page of a proxy',
    sends(200, { 'Content-Type': 'text/html' }, '<h1>Sign in</h1>'),
    'unexpected',
  ),
  recovers(
    'a 200 without a token',
    body(() => JSON.stringify({ expiration: later() })),
    'unexpected',
  ),
  recovers(
    'a token that is not text',
    body(() => result({ authenticationToken: ['T'] })),
    'unexpected',
  ),
  recovers(
    'a token with a line break',
    body(() => result({ authenticationToken: 'T\r\nX-Evil: 1' })),
    'unexpected',
  ),
  recovers(
    'an empty token',
    body(() => result({ authenticationToken: '' })),
    'unexpected',
  ),
  recovers(
    'a 200 without an expiration',
    body(() => JSON.stringify({ authenticationToken: 'T' })),
    'unexpected',
  ),
  recovers(
    'an expiration that is not a time',
    body(() => result({ expiration: 'in an hour' })),
    'unexpected',
  ),
  recovers(
    'an expiration in the past',
    body(() => result({ expiration: '2020-01-01T00:00:00.000Z' })),
    'unexpected',
  ),
  recovers(
    'a token in __proto__',
    body(() => `{"__proto__":${result({})}}`),
    'unexpected',
  ),
  recovers(
    'an expiration that is a number',
    body(() => JSON.stringify({ authenticationToken: 'T', expiration: 3600 })),
    'unexpected',
  ),
  recovers(
    'an expiration without a time zone',
    body(() => result({ expiration: later().slice(0, -1) })),
    'unexpected',
  ),
  recovers(
    'a 403 with a page of a proxy',
    sends(403, { 'Content-Type': 'text/html' }, '<h1>Blocked</h1>'),
    'unexpected',
  ),
  recovers('204 in place of 200', sends(204), 'unexpected'),
  recovers('500', sends(500, {}, 'Internal Server Error'), 'unexpected'),
  recovers('404', sends(404), 'unexpected'),
  ...passes('502 of a proxy', sends(502), 'unexpected'),
  ...passes('a connection that is closed before the response', (res) => res.destroy(), 'unreachable'),
  ...passes(
    'a connection that is closed within the response',
    (res) => {
      res.writeHead(200, { ...JSON_TYPE, 'Content-Length': 500 })
      res.write('{"authenticationToken":"T', () => res.destroy())
    },
    'unreachable',
  ),
  recovers('a half-open connection: no response', () => {}, 'unreachable'),
  recovers(
    'a half-open connection: half a response',
    (res) => {
      res.writeHead(200, JSON_TYPE)
      res.write('{"authenticationToken":"T')
    },
    'unreachable',
  ),
  recovers(
    'a response without end',
    (res) => {
      res.writeHead(200, JSON_TYPE)
      const more = () => {
        if (!res.destroyed) res.write(' '.repeat(16_384), () => setImmediate(more))
      }
      more()
    },
    'unexpected',
  ),
  fault('a server that is not there', async ({ other, start, fails }) => {
    await other.stop()
    await fails(start({ url: other.url }).call('/x'), 'unreachable')
  }),
]

import type { ServerResponse } from 'node:http'
import { type Fault, fault, must, mustGet, mustSignIn, mustSignInAtMost, waitingFault } from '../fault.js'
import { type Handler, sends } from '../server.js'

const JSON_TYPE = { 'Content-Type': 'application/json' }
const later = () => new Date(Date.now() + 3_600_000).toISOString()
const result = (members: object) => JSON.stringify({ authenticationToken: 'Tmade-up', expiration: later(), ...members })
const made = (make: () => string) => (res: ServerResponse) => sends(200, JSON_TYPE, make())(res, undefined as never)
/** A token response with other members. */
const odd = (members: object) => made(() => result(members))
/** A page of a proxy. */
const html = (status: number, page: string) => sends(status, { 'Content-Type': 'text/html' }, page)
const starts = (res: ServerResponse, headers = {}) => res.writeHead(200, { ...JSON_TYPE, ...headers })

const HALF = '{"authenticationToken":"T'
const breaks: Handler = (res) => starts(res, { 'Content-Length': 500 }).write(HALF, () => res.destroy())

/** Returns a fault in which a sign-in fails, and the next one succeeds. */
const recovers = (name: string, handler: Handler, code = 'unexpected'): Fault =>
  waitingFault(name, async ({ server, start, fails }) => {
    server.next.token.push(handler)
    const client = start({ timeout: 4 })
    await fails(client.call('/x'), code)
    must(server.seen.api.length === 0, 'calls the API without a valid token')
    mustGet(await client.call('/x'), 200)
  })

/** Returns a fault that is gone at once. The caller must not see it. */
const passes = (name: string, handler: Handler, code: string): Fault[] => [
  waitingFault(name, async ({ server, start }) => {
    server.next.token.push(handler)
    mustGet(await start().call('/x'), 200)
    mustSignIn(server, 2)
  }),
  waitingFault(`${name}, twice`, async ({ server, start, fails }) => {
    server.next.token.push(handler, handler)
    await fails(start().call('/x'), code)
    mustSignInAtMost(server, 2)
  }),
]

/** Responses that are not what the specification says, and connections that break. */
export const malformed: Fault[] = [
  recovers(
    'truncated JSON',
    made(() => result({}).slice(0, -10)),
  ),
  recovers('a 200 without a body', sends(200)),
  recovers('a 200 without a token', odd({ authenticationToken: undefined })),
  recovers('a token with a line break', odd({ authenticationToken: 'T\r\nX-Evil: 1' })),
  recovers('an empty token', odd({ authenticationToken: '' })),
  recovers('an expiration that is not a time', odd({ expiration: 'in an hour' })),
  recovers('an expiration in the past', odd({ expiration: '2020-01-01T00:00:00.000Z' })),
  recovers(
    'a token in __proto__',
    made(() => `{"__proto__":${result({})}}`),
  ),
  recovers(
    'an expiration without a time zone',
    made(() => result({ expiration: later().slice(0, -1) })),
  ),
  recovers('a 403 with a page of a proxy', html(403, '<h1>Blocked</h1>')),
  recovers('204 in place of 200', sends(204)),
  recovers('500', sends(500, {}, 'Internal Server Error')),
  recovers('404', sends(404)),
  ...passes('502 of a proxy', sends(502), 'unexpected'),
  ...passes('a connection that is closed before the response', (res) => res.destroy(), 'unreachable'),
  ...passes('a connection that is closed within the response', breaks, 'unreachable'),
  recovers('a half-open connection: no response', () => {}, 'unreachable'),
  recovers('a half-open connection: half a response', (res) => starts(res).write(HALF), 'unreachable'),
  recovers('a response without end', (res) => {
    starts(res)
    const more = () => {
      if (!res.destroyed) res.write(' '.repeat(16_384), () => setImmediate(more))
    }
    more()
  }),
  fault('a server that is not there', async ({ other, start, fails }) => {
    await other.stop()
    await fails(start({ url: other.url }).call('/x'), 'unreachable')
  }),
]

import { runInNewContext } from 'node:vm'
import Bluebird from 'bluebird'
import express from 'express'
import { type AuthEvent, authOf, requireBearer } from 'express-token-endpoint'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { settled } from '../../support/concurrency.js'
import { ACCOUNTS, decodePayload, makeIssuer, makeStore } from '../../support/fixtures.js'
import { unhandledRejections } from '../../support/host.js'
import { bearer, client, listen } from '../../support/http.js'

const tokens = makeIssuer()
const { token } = tokens.issue({ accountId: ACCOUNTS.alice.id, scopes: ['reports:read'] })
const accounts = makeStore()

/** Guards of every kind: those that ask the host are asynchronous for every token. */
const GUARDS = {
  plain: requireBearer({ tokens }),
  scoped: requireBearer({ tokens, scope: 'reports:read' }),
  revocable: requireBearer({ tokens, isRevoked: () => false }),
  account: requireBearer({ tokens, accounts }),
  optional: requireBearer({ tokens, optional: true }),
  custom: requireBearer({ tokens: { ...tokens, verify: (text: string) => tokens.verify(text) } }),
}

afterEach(() => void vi.unstubAllGlobals())

async function start() {
  const app = express()
  for (const [name, guard] of Object.entries(GUARDS)) {
    app.get(`/${name}`, guard, (req, res) => void res.json({ account: authOf(req).accountId }))
  }
  return client((await listen(app)).port)
}

describe.each<[string, () => unknown]>([
  ['a subclass of Promise, as zone.js puts there', () => class extends Promise<unknown> {}],
  ['another implementation (bluebird)', () => Bluebird],
  ["another realm's Promise", () => runInNewContext('Promise')],
])('globalThis.Promise replaced by %s', (_, replacement) => {
  it.each(Object.keys(GUARDS))('the %s guard admits a valid token only', async (name) => {
    const caught = unhandledRejections()
    const send = await start()
    vi.stubGlobal('Promise', replacement())
    const forged = await Bluebird.all(
      ['x', 'x.y.z', `${token}x`, token.slice(0, -4)].map((text) => send(bearer(text, `/${name}`))),
    )
    const good = [await send(bearer(token, `/${name}`)), await send(bearer(token, `/${name}`))]
    vi.unstubAllGlobals()
    expect(forged.map(({ status }) => status)).toEqual([401, 401, 401, 401])
    for (const { status, body } of good) expect([status, body]).toEqual([200, '{"account":"acc-1"}'])
    await settled()
    expect(caught).toEqual([])
  })
})

describe('what a guard must never admit', () => {
  const LIES: [string, unknown][] = [
    ['undefined', undefined],
    ['the text of the token', token],
    ['the payload', decodePayload(token)],
    ['true', true],
    ['a date of no time', { id: 'a', accountId: 'acc-1', scopes: [], issuedAt: new Date(Number.NaN) }],
  ]
  it.each(LIES)('%s, from a verifier of the host', async (_, lie) => {
    for (const options of [{}, { optional: true }, { accounts }, { isRevoked: () => false }]) {
      const events: AuthEvent[] = []
      const app = express()
      const guard = requireBearer({
        tokens: { ...tokens, verify: async () => lie as never },
        onEvent: (e) => events.push(e),
        ...options,
      })
      app.get('/', guard, (_req, res) => void res.end('in'))
      expect((await client((await listen(app)).port)(bearer('x.y.z', '/'))).status).toBe(503)
      expect(events).toMatchObject([{ type: 'dependency.failed', dependency: 'keys', refused: true }])
    }
  })
})

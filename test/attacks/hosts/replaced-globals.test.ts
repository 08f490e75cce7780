import { runInNewContext } from 'node:vm'
import Bluebird from 'bluebird'
import express from 'express'
import { authOf, requireBearer } from 'express-token-endpoint'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { settled } from '../../support/concurrency.js'
import { ACCOUNTS, issueNow, makeIssuer, makeStore } from '../../support/fixtures.js'
import { unhandledRejections } from '../../support/host.js'
import { bearer, client, listen } from '../../support/http.js'

const tokens = makeIssuer()
const { token } = issueNow(tokens, { accountId: ACCOUNTS.alice.id, scopes: ['reports:read'] })
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

it('a verifier of the host that also offers a verified token without waiting admits nothing by it', async () => {
  const verifier = { ...tokens, verify: () => new Promise<never>(() => {}) }
  const lie = { id: 'a', accountId: 'acc-1', scopes: [], issuedAt: new Date() }
  const now = () => Date.now()
  const value = {
    issuer: tokens.issuer,
    cached: () => lie,
    verify: async () => lie,
    now,
    tolerance: 0,
  }
  const symbol = Object.getOwnPropertySymbols(tokens).find((mark) => String(mark).includes('TokenVerifier'))
  Object.defineProperty(verifier, symbol as symbol, { value: { of: verifier, value } })
  for (const options of [{}, { optional: true }, { isRevoked: () => false }]) {
    const guard = requireBearer({ tokens: verifier, timeout: '50ms', ...options })
    const { port } = await listen(express().get('/', guard, (_req, res) => void res.end('in')))
    expect((await client(port)(bearer('x.y.z', '/'))).status).toBe(503)
  }
})

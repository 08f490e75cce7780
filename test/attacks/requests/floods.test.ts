import { once } from 'node:events'
import { connect } from 'node:net'
import express from 'express'
import {
  type AuthEvent,
  createPasswords,
  requireBearer,
  type TokenRouterOptions,
  tokenRouter,
} from 'express-token-endpoint'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { deferred, settled, statuses, until } from '../../support/concurrency.js'
import {
  ACCOUNTS,
  countingHasher,
  fastPasswords,
  issueNow,
  makeIssuer,
  makeStore,
  PASSWORD,
} from '../../support/fixtures.js'
import { bearer, client, flood, listen, login } from '../../support/http.js'
import { requestText, type Sent } from '../../support/plain-js/http-client.mjs'

const ALICE = ACCOUNTS.alice.email
const tokens = makeIssuer()

async function start(options: Partial<TokenRouterOptions> = {}) {
  const events: AuthEvent[] = []
  const onEvent = (event: AuthEvent) => void events.push(event)
  const app = express().set('trust proxy', 1)
  const parts = { tokens, accounts: makeStore(), passwords: fastPasswords(), limits: false as const, timeout: '1m' }
  app.use(tokenRouter({ ...parts, onEvent, ...options }))
  app.get('/in', requireBearer({ tokens, onEvent, timeout: '1m' }), (_req, res) => void res.end('in'))
  return { port: (await listen(app)).port, events }
}

describe('token calls that a client pipelines', () => {
  it.each([
    ['one address', () => '192.0.2.1'],
    ['an address of its own for each', (i: number) => `10.0.${i >> 8}.${i & 255}`],
  ])('continue when 8 come at once and 16 wait, and get 503 when more wait: %s', async (_, address) => {
    const { port, events } = await start()
    const guess = (i: number) => login(ALICE, 'guess', address(i))
    expect(statuses(await flood(port, 24, guess, 1))).toEqual({ 403: 24 })
    const { 403: refused = 0, 503: overloaded = 0 } = statuses(await flood(port, 100, guess, 1))
    expect(refused + overloaded).toBe(100)
    expect(overloaded).toBeGreaterThan(0)
    // Those that wait continue.
    expect(refused).toBeGreaterThanOrEqual(24)
    expect(events.filter(({ type }) => type === 'token.overloaded')).toHaveLength(overloaded)
    expect(events).toHaveLength(124)
  })

  it('do not take the place of a login on another connection, nor of one of another network', async () => {
    const { port } = await start()
    for (const address of ['192.0.2.1', '192.0.2.2']) {
      const greedy = flood(port, 200, () => login(ALICE, 'guess', '192.0.2.1'), 1)
      expect((await client(port)(login(ALICE, PASSWORD, address))).status).toBe(200)
      expect(statuses(await greedy)).toHaveProperty('503')
    }
  })

  it('have no other password hashed when the client hangs up', async () => {
    const { promise, resolve } = deferred<boolean>()
    const verify = vi.fn((_password: string, _hash: string) => promise)
    const passwords = createPasswords({ hashers: [{ ...countingHasher(), verify }], concurrency: 1 })
    const { port, events } = await start({ passwords })
    const socket = connect(port, '127.0.0.1')
    onTestFinished(() => void socket.destroy())
    await once(socket, 'connect')
    socket.write(requestText(login(ALICE, PASSWORD)).repeat(5))
    await until(() => expect(passwords.load()).toEqual({ active: 1, waiting: 4 }))
    socket.destroy()
    const left = { type: 'token.refused', code: 'client_closed_request' }
    await until(() => expect(events).toEqual(Array(4).fill(expect.objectContaining(left))))
    resolve(true)
    await until(() => expect(events).toHaveLength(5))
    await settled()
    expect(verify).toHaveBeenCalledOnce()
    expect(passwords.load()).toEqual({ active: 0, waiting: 0 })
  })
})

it('a valid token that is not cached does not wait behind forged ones of another network', async () => {
  const { port } = await start()
  const { token } = issueNow(tokens, { accountId: 'acc-1' })
  const ended: string[] = []
  const from = (address: string, sent: Sent) => ({ ...sent, headers: { ...sent.headers, 'X-Forwarded-For': address } })
  const forged = (i: number) => from('192.0.2.1', bearer(`${token.slice(0, -6)}${String(i).padStart(6, 'A')}`, '/in'))
  const floods = flood(port, 100, forged, 1).finally(() => ended.push('forged'))
  const owner = client(port)(from('192.0.2.2', bearer(token, '/in'))).finally(() => ended.push('owner'))
  expect(statuses(await floods)).toEqual({ 401: 100 })
  expect((await owner).status).toBe(200)
  expect(ended).toEqual(['owner', 'forged'])
})

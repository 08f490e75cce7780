import { connect } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import express from 'express'
import {
  type AuthEvent,
  createPasswords,
  type RequireBearerOptions,
  requireBearer,
  type TokenRouterOptions,
  tokenRouter,
} from 'express-token-endpoint'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { all, deferred, settled, statuses, until } from '../../support/concurrency.js'
import { ACCOUNTS, countingHasher, fastPasswords, makeIssuer, makeStore, PASSWORD } from '../../support/fixtures.js'
import { bearer, client, flood, listen, login } from '../../support/http.js'

const ALICE = ACCOUNTS.alice.email
const hangs = () => new Promise<never>(() => {})

async function start(router: Partial<TokenRouterOptions> = {}, guard: Partial<RequireBearerOptions> = {}) {
  const tokens = makeIssuer()
  const events: AuthEvent[] = []
  const onEvent = (event: AuthEvent) => void events.push(event)
  const app = express().set('trust proxy', 1)
  const defaults = { tokens, accounts: makeStore(), passwords: fastPasswords(), throttle: false as const, onEvent }
  app.use(tokenRouter({ ...defaults, ...router }))
  app.get('/in', requireBearer({ tokens, onEvent, timeout: '1m', ...guard }), (_req, res) => void res.end('in'))
  return { port: (await listen(app)).port, tokens, events }
}

describe('token calls that a client pipelines', () => {
  const guess = () => login(ALICE, 'guess')

  it('continue when 8 come at once and 16 wait on a connection; when more wait, all that wait get 503', async () => {
    const { port, events } = await start()
    expect(statuses(await flood(port, 24, guess, 1))).toEqual({ 403: 24 })
    const { 403: refused = 0, 503: overloaded = 0 } = statuses(await flood(port, 100, guess, 1))
    expect(refused + overloaded).toBe(100)
    expect(overloaded).toBeGreaterThanOrEqual(17)
    expect(events.filter(({ type }) => type === 'token.overloaded')).toHaveLength(overloaded)
    expect(events).toHaveLength(124)
  })

  it('count for their connection, whatever address each of them claims', async () => {
    const { port } = await start()
    const spoofed = (i: number) => login(ALICE, 'guess', `10.0.0.${i}`)
    expect(statuses(await flood(port, 100, spoofed, 1))[503]).toBeGreaterThanOrEqual(17)
  })

  it('do not take the place of a login on another connection', async () => {
    const { port } = await start()
    const [greedy, owner] = await Promise.all([flood(port, 200, guess, 1), client(port)(login(ALICE, PASSWORD))])
    expect(statuses(greedy)).toHaveProperty('503')
    expect(owner.status).toBe(200)
  })
})

describe('a login', () => {
  it('waits for one login of each other network, however many of them wait', async () => {
    const order: string[] = []
    const go = deferred<void>()
    const hasher = {
      ...countingHasher(),
      async verify(password: string) {
        await go.promise
        order.push(password)
        await turn()
        return false
      },
    }
    const passwords = createPasswords({ hashers: [hasher], concurrency: 1 })
    const { port } = await start({ passwords })
    const attackers = ['203.0.113.1', '203.0.113.2']
    const send = client(port, 80)
    const guesses = all(80, (i) => send(login(ALICE, 'guess', attackers[i % 2])))
    await until(() => expect(passwords.load()).toEqual({ active: 1, waiting: 79 }))
    const owner = client(port)(login(ALICE, 'owner', '198.51.100.7'))
    await until(() => expect(passwords.load().waiting).toBe(80))
    go.resolve()
    await Promise.all([guesses, owner])
    expect(order).toHaveLength(81)
    // The attackers' hash that ran, one of each for the slot, and one of each for the thread.
    expect(order.indexOf('owner')).toBeLessThanOrEqual(6)
  })
})

describe('guarded requests that wait for a function of the host', () => {
  /** Sends requests in two pieces on one connection, the second when the first has arrived. */
  async function inTwo(port: number, token: (i: number) => string, arrived: () => number) {
    const text = (i: number) => `GET /in HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token(i)}\r\n\r\n`
    const texts = Array.from({ length: 129 }, (_, i) => text(i))
    const socket = connect(port, '127.0.0.1')
    onTestFinished(() => void socket.destroy())
    let received = ''
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      received += chunk
    })
    socket.write(texts.slice(0, 100).join(''))
    await until(() => expect(arrived()).toBe(100))
    socket.write(texts.slice(100).join(''))
    await until(() => expect(received.match(/HTTP\/1\.1 \d+/g)).toHaveLength(129))
    return new Set(received.match(/HTTP\/1\.1 \d+/g))
  }

  it.each(['isRevoked', 'accounts'] as const)('%s: 128 wait, and with one more all get 503', async (kind) => {
    const asked = vi.fn(hangs)
    const guard = kind === 'isRevoked' ? { isRevoked: asked } : { accounts: { findByEmail: hangs, findById: asked } }
    const { port, tokens } = await start({}, guard)
    const { token } = tokens.issue({ accountId: 'acc-1' })
    await tokens.verify(token)
    expect(
      await inTwo(
        port,
        () => token,
        () => asked.mock.calls.length,
      ),
    ).toEqual(new Set(['HTTP/1.1 503']))
    expect(asked).toHaveBeenCalledTimes(128)
  })

  it('a verifier of its own: 128 wait, and with one more all get 503', async () => {
    const verify = vi.fn(hangs)
    const { port } = await start({}, { tokens: { ...makeIssuer(), verify } })
    const arrived = () => verify.mock.calls.length
    expect(await inTwo(port, (i) => `token${i}`, arrived)).toEqual(new Set(['HTTP/1.1 503']))
    expect(verify).toHaveBeenCalledTimes(128)
  })
})

it('a valid token that is not cached does not wait behind forged ones of another connection', async () => {
  const verified: string[] = []
  const { port, tokens } = await start()
  const original = tokens.issue({ accountId: 'acc-1' }).token
  const forged = Array.from({ length: 100 }, (_, i) => `${original.slice(0, -6)}${String(i).padStart(6, 'A')}`)
  const floods = flood(port, 100, (i) => bearer(forged[i] as string, '/in'), 1).then((answers) => {
    verified.push('forged')
    return answers
  })
  const owner = client(port)({ ...bearer(original, '/in') }).then((answer) => {
    verified.push('owner')
    return answer
  })
  expect(statuses(await floods)).toEqual({ 401: 100 })
  expect((await owner).status).toBe(200)
  expect(verified).toEqual(['owner', 'forged'])
})

describe('what always holds at the end', () => {
  it('the guard admits nothing that is not a verified token, whatever its verifier offers without waiting', async () => {
    const verifier = { issuer: 'https://api.example.com', audience: 'x', verify: hangs }
    const lie = { id: 'a', accountId: 'acc-1', scopes: [], issuedAt: new Date() }
    const sync = { fromCache: () => lie, verifySync: () => lie, now: () => Date.now(), tolerance: 0 }
    const symbol = Symbol.for('express-token-endpoint.SyncVerifier.4')
    Object.defineProperty(verifier, symbol, { value: { of: verifier, sync } })
    for (const options of [{}, { optional: true }, { isRevoked: () => false }]) {
      const { port } = await start({}, { tokens: verifier as never, ...options })
      expect((await client(port)(bearer('x.y.z', '/in'))).status).toBe(503)
    }
  })

  it('onEvent is called before the response', async () => {
    const sent: boolean[] = []
    let response: express.Response | undefined
    const app = express()
    app.use((_req, res, next) => {
      response = res
      next()
    })
    const onEvent = () => void sent.push(response?.headersSent === true)
    app.use(tokenRouter({ tokens: makeIssuer(), accounts: makeStore(), passwords: fastPasswords(), onEvent }))
    const send = client((await listen(app)).port)
    expect((await send(login(ALICE, PASSWORD))).status).toBe(200)
    expect((await send(login(ALICE, 'guess'))).status).toBe(403)
    await settled()
    expect(sent).toEqual([false, false])
  })
})

import { inspect } from 'node:util'
import express from 'express'
import {
  AuthError,
  type AuthEvent,
  argon2id,
  createLimits,
  createPasswords,
  memoryAccounts,
  memoryStore,
  requireBearer,
  tokenRouter,
} from 'express-token-endpoint'
import { BearerStrategy } from 'express-token-endpoint/passport'
import { Passport } from 'passport'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createTurnQueue } from '../../src/concurrency/turn-queue.js'
import { MOST_FIELDS, MOST_SIGNS } from '../../src/http/body.js'
import { DRAINED_BODIES, GUARDED_REQUESTS, TOKEN_CALLS } from '../../src/http/request-limits.js'
import type { QueuedPasswords } from '../../src/passwords/passwords.js'
import { authWith } from '../support/auth.js'
import { settled, statuses } from '../support/concurrency.js'
import { PROMISED } from '../support/documents/promised.js'
import { countingHasher, fastPasswords, issueNow, makeIssuer, makeStore } from '../support/fixtures.js'
import { sendEndlessly } from '../support/host.js'
import { bearer, client, flood, listen, login, sendBytes } from '../support/http.js'

/** Reads the numbers from the one sentence of the promises that fits. */
function numbers(sentence: RegExp): number[] {
  const found = [...PROMISED.matchAll(new RegExp(sentence, 'g'))]
  expect(found, `${sentence} in the promises`).toHaveLength(1)
  return (found[0] as RegExpMatchArray).slice(1).map((text) => Number(text.replaceAll(',', '')))
}

describe('the page on security promises', () => {
  it('a number for each limit, and no limit without a test here', () => {
    const sentences = PROMISED.split(/(?<=[.:])\s+|^- /m).filter((sentence) =>
      /at most|limited to|longer than/.test(sentence),
    )
    expect(sentences.filter((sentence) => !/\d|half of a password/.test(sentence))).toEqual([])
  })

  it('a body: read after the limit of its network, parsed in a turn, with few fields', async () => {
    const [fields, signs] = numbers(
      /A body has at most (\d+) form fields, or (\d+) colons, commas and brackets of JSON/,
    ) as [number, number]
    expect([MOST_FIELDS, MOST_SIGNS]).toEqual([fields, signs])
    const limits = createLimits({
      limits: { address: { points: 1, duration: '1h' }, pair: false, account: false },
    })
    const shared = { tokens: makeIssuer(), accounts: makeStore(), passwords: fastPasswords() }
    const limited = await listen(express().use(tokenRouter({ ...shared, limits })))
    const free = await listen(express().use(tokenRouter({ ...shared, limits: false })))
    expect((await client(limited.port)(login('a', 'x'))).status).toBe(403)
    const parsed = vi.spyOn(JSON, 'parse')
    onTestFinished(() => parsed.mockRestore())
    const count = async (port: number, times: number) => statuses(await flood(port, times, () => login('a', 'x'), 1))
    expect(await count(limited.port, 100)).toEqual({ 429: 100 })
    expect(parsed).not.toHaveBeenCalled()
    const { 403: refused, 503: overloaded } = await count(free.port, 100)
    expect(overloaded).toBeGreaterThan(0)
    expect(parsed.mock.calls.filter(([text]) => text.startsWith('{'))).toHaveLength(refused ?? 0)
  })

  it('a stored hash of a high cost: 503 before it is checked, and an event with the account', async () => {
    const [times] = numbers(
      /does not check a stored argon2id or bcrypt hash that costs more than (\d+) times as much as a new one/,
    ) as [number]
    const hash = (memory: number, passes: number) =>
      `$argon2id$v=19$m=${memory},t=${passes},p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4`
    expect([argon2id().accepts(hash(19_456 * times, 2)), argon2id().accepts(hash(19_456 * times + 1, 2))]).toEqual([
      true,
      false,
    ])
    const events: AuthEvent[] = []
    const accounts = () => ({ id: 'acc-1', passwordHash: hash(1_048_576, 64) })
    const router = tokenRouter({ tokens: makeIssuer(), accounts, onEvent: (event) => void events.push(event) })
    const { port } = await listen(express().use(router))
    expect((await client(port)(login('a', 'x'))).status).toBe(503)
    expect(events).toMatchObject([{ type: 'dependency.failed', dependency: 'passwords', accountId: 'acc-1' }])
    expect(inspect(events)).not.toMatch(/1048576|c29tZXNhbHQ/)
  })

  it('logins that wait', async () => {
    const [total] = numbers(/At most ([\d,]+) logins wait\. 32 for each hashing thread already look up/) as [number]
    const hasher = { ...countingHasher(), verify: () => new Promise<never>(() => {}) }
    const passwords = createPasswords({ hashers: [hasher], concurrency: 1 }) as QueuedPasswords
    let refused = 0
    // One login runs, the others wait.
    for (let i = 0; i < 1 + total + 5; i++) {
      const reserved = passwords.reserve({ network: `${i}` })
      reserved.catch(() => refused++)
    }
    await settled()
    expect(refused).toBe(5)
  })

  it('token calls that wait for a turn: in total, of one network, of one connection', () => {
    expect(TOKEN_CALLS).toEqual(
      Object.fromEntries(
        numbers(
          /At most ([\d,]+) token calls wait for that: ([\d,]+) of one client network and (\d+) of one connection/,
        ).map((number, i) => [['total', 'perNetwork', 'perConnection'][i], number]),
      ),
    )
  })

  it('tokens that wait to be verified: in a turn, in total, of one network', async () => {
    const waitForTurn = createTurnQueue(GUARDED_REQUESTS)
    const [inTurn, total, ofNetwork] = numbers(
      /: (\d+) other tokens are verified in one turn of the event loop\. At most ([\d,]+) requests wait for that, and ([\d,]+) of one client network/,
    ) as [number, number, number]
    expect(GUARDED_REQUESTS).toEqual({ total, perNetwork: ofNetwork })
    const waits = Array.from({ length: inTurn + 1 }, (_, i) => waitForTurn(`${i}`))
    expect(waits.map((turn) => turn !== undefined)).toEqual([...Array(inTurn).fill(false), true])
  })

  it('an unread body after a refusal', async () => {
    const drained = numbers(/is drained for at most (\d+) s and ([\d,]+) bytes/)
    const [short] = numbers(/Node reads a body of at most ([\d,]+) bytes/) as [number]
    expect(drained).toEqual([10, 33_554_432])
    const [total, perNetwork] = numbers(
      /At most ([\d,]+) unread bodies are drained in this way at the same time, and (\d+) of one client network/,
    ) as [number, number]
    expect(DRAINED_BODIES).toEqual({ total, perNetwork })
    expect(numbers(/are drained for at most (\d+) s and ([\d,]+) bytes/)).toEqual([1, 1_048_576])
    const tokens = makeIssuer()
    const app = express().post('/guard', requireBearer({ tokens }))
    app.post('/own', (_req, _res, next) => next(new AuthError('missing_token')))
    app.post('/passport', new Passport().use(new BearerStrategy({ tokens })).authenticate('bearer', { session: false }))
    const { port } = await listen(app.use(authWith({ accounts: () => null }).errors))
    for (const path of ['/guard', '/own', '/passport']) {
      const sized = { method: 'POST', path, body: 'x'.repeat(short) }
      expect((await client(port)(sized)).headers['connection']).toBe('keep-alive')
      // The head arrives before the body does, so the body is unread when the guard refuses.
      const long = `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${short + 1}\r\n\r\n`
      expect(await sendEndlessly(port, long, 'x'.repeat(16_384))).toMatch(
        /^HTTP\/1\.1 401 [\s\S]*\r\nConnection: close\r\n/,
      )
    }
  })

  it('long addresses', async () => {
    const [email] = numbers(/An email address longer than (\d+) characters is not normalised, hashed or looked up/) as [
      number,
    ]
    const [address] = numbers(/A client address longer than (\d+) characters is not parsed/) as [number]
    const asked: string[] = []
    const accounts = (given: string) => void asked.push(given)
    const app = express().use(tokenRouter({ tokens: makeIssuer(), accounts, passwords: fastPasswords() }))
    const { port } = await listen(app)
    const emails = [email, email + 1].map((length) => 'a'.repeat(length))
    expect(statuses(await flood(port, 2, (i) => login(emails[i] ?? '', 'x'), 1))).toEqual({ 403: 2 })
    expect(asked).toEqual([emails[0]])
    const { clientNetwork } = await import('../../src/http/client-network.js')
    const zone = (length: number) => `fe80::1%${'e'.repeat(length - 8)}`
    expect([address, address + 1].map((length) => clientNetwork(zone(length)))).toEqual([
      expect.stringMatching(/\/64$/),
      'unknown',
    ])
  })

  it('one token: no second one is among the header lines that Node drops', async () => {
    const [lines] = numbers(/headers or ([\d,]+) header lines/) as [number]
    const tokens = makeIssuer()
    const app = express().use(requireBearer({ tokens, optional: true }), (_req, res) => void res.end('admitted'))
    const { port } = await listen(app)
    const authorization = `Authorization: Bearer ${issueNow(tokens, { accountId: 'acc-1' }).token}`
    const ask = async (...more: string[]) => {
      const head = ['GET / HTTP/1.1', 'Host: x', 'Connection: close', ...more]
      return (await sendBytes(port, `${head.join('\r\n')}\r\n\r\n`)).slice(9, 12)
    }
    const others = (count: number) => Array.from({ length: count }, () => 'x:')
    expect(await ask(authorization, ...others(lines - 4))).toBe('200')
    expect(await ask(authorization, ...others(lines - 3))).toBe('400')
    expect(await ask(authorization, ...others(lines), 'Authorization: Bearer a.b.c')).toBe('400')
    expect(await ask(...others(lines), authorization)).toBe('400')
  })

  it.each([Number.NaN, new Date(''), 'now', undefined])('a clock that is broken: 503 for %o', async (time) => {
    const { token } = issueNow(makeIssuer(), { accountId: 'acc-1' })
    const guard = requireBearer({ tokens: makeIssuer({ clock: () => time as never }), onEvent() {} })
    const app = express().use(guard, (_req, res) => void res.end('admitted'))
    expect((await client((await listen(app)).port)(bearer(token, '/'))).status).toBe(503)
  })

  it('nothing of the testing entry in production, also nothing that was created before', async () => {
    const entry = await import('express-token-endpoint/testing')
    const store = memoryAccounts([])
    const early = entry.createTestIssuer()
    const { verify, hash } = entry.fastPasswords()
    const [{ token }, stored] = [early.issue('acc-1'), await hash('x')]
    const [check] = entry.accountStoreContract({ store, existing: { email: 'a@example.com' } })
    const { port } = await listen(express().use(requireBearer({ tokens: early.tokens, onEvent() {} })))
    expect((await client(port)(bearer(token, '/'))).status).toBe(404)
    vi.stubEnv('NODE_ENV', 'production')
    onTestFinished(() => void vi.unstubAllEnvs())
    expect((await client(port)(bearer(token, '/'))).status).toBe(503)
    const later: (() => unknown)[] = [
      () => early.bearer('acc-1'),
      () => early.refused.forged('acc-1'),
      () => issueNow(early.tokens, { accountId: 'acc-1', issuedAt: new Date() }),
      () => early.tokens.verify(token),
      () => verify('x', stored),
      () => hash('x'),
      () => check?.run(),
    ]
    for (const call of later) await expect(async () => call()).rejects.toThrow(/NODE_ENV/)
    const calls: Record<string, () => unknown> = {
      accountStoreContract: () => entry.accountStoreContract({ store, existing: { email: 'a@example.com' } }),
      createTestIssuer: () => entry.createTestIssuer(),
      fastPasswords: () => entry.fastPasswords(),
      storeContract: () => entry.storeContract(memoryStore()),
    }
    expect(Object.keys(calls)).toEqual(Object.keys(entry).sort())
    for (const call of Object.values(calls)) expect(call).toThrow(/NODE_ENV/)
  })
})

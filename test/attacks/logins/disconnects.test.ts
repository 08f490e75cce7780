import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import express from 'express'
import {
  type AuthEvent,
  createLimits,
  createPasswords,
  type LoginOrigin,
  type TokenRouterOptions,
  tokenRouter,
} from 'express-token-endpoint'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { LimitsPort } from '../../../src/limits/attempt.js'
import { logInWith } from '../../support/auth.js'
import { all, deferred, settled, statuses, until } from '../../support/concurrency.js'
import { refusalOf } from '../../support/failures.js'
import { ACCOUNTS, countingHasher, fastPasswords, makeIssuer, makeStore, PASSWORD } from '../../support/fixtures.js'
import { client, listen, login } from '../../support/http.js'
import { requestText, type Sent } from '../../support/plain-js/http-client.mjs'

const { alice, bob } = ACCOUNTS
const OFFICE = '203.0.113.9'
const HOME = '198.51.100.7'

/** Returns an account store that looks addresses up only while it is open. Each address has the password of Alice. */
function slowStore() {
  let gate = deferred<void>()
  const findByEmail = vi.fn(async (email: string) => {
    await gate.promise
    return { ...alice, id: email }
  })
  return {
    findByEmail,
    open: () => gate.resolve(),
    close() {
      gate = deferred()
    },
  }
}

async function start(options: Partial<TokenRouterOptions> = {}) {
  const events: AuthEvent[] = []
  const app = express().set('trust proxy', 1)
  const parts = { tokens: makeIssuer(), passwords: fastPasswords(), timeout: '1m' }
  app.use(tokenRouter({ ...parts, onEvent: (event) => void events.push(event), ...options } as TokenRouterOptions))
  const { port } = await listen(app)
  return { port, send: client(port), events }
}

/** Sends requests on a new connection, and returns the connection. */
async function pipeline(port: number, ...sent: Sent[]): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  onTestFinished(() => void socket.destroy())
  await once(socket, 'connect')
  socket.write(sent.map((one) => requestText(one)).join(''))
  return socket
}

/** Fakes the clock of the limits. For lru-cache, a time of 0 is none. */
function fakeClock(): void {
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  vi.advanceTimersByTime(1)
}

const codes = (events: AuthEvent[]) => events.map((event) => ('code' in event ? event.code : event.type))

describe('clients that disconnect', () => {
  it('lock nobody out: 120 of one office, with right passwords, give up while the account store is slow', async () => {
    const store = slowStore()
    const passwords = createPasswords({ hashers: [countingHasher()], concurrency: 4 })
    const { port, send, events } = await start({ accounts: store, passwords })
    const sockets = await all(120, (i) => pipeline(port, login(`user${i}@example.com`, PASSWORD, OFFICE)))
    await until(() => expect(store.findByEmail).toHaveBeenCalledTimes(100))
    for (const socket of sockets) socket.destroy()
    await until(() => expect(events).toHaveLength(20))
    store.open()
    await until(() => expect(codes(events)).toEqual(Array(120).fill('client_closed_request')))
    expect(await send(login('user1@example.com', PASSWORD, OFFICE))).toMatchObject({ status: 200 })
  })

  it('lock nobody out, while they wait for a hashing thread', async () => {
    const turn = deferred<boolean>()
    const verify = vi.fn((_password: string, _hash: string) => turn.promise)
    const passwords = createPasswords({ hashers: [{ ...countingHasher(), verify }], concurrency: 1 })
    const limits = createLimits({ limits: { address: { points: 3, duration: '1h' } } })
    const { port, send, events } = await start({ accounts: makeStore(), passwords, limits })
    const busy = send(login(bob.email, PASSWORD, HOME))
    await until(() => expect(verify).toHaveBeenCalledOnce())
    const sockets = await all(3, () => pipeline(port, login(alice.email, PASSWORD, OFFICE)))
    await until(() => expect(passwords.load()).toEqual({ active: 1, waiting: 3 }))
    for (const socket of sockets) socket.destroy()
    await until(() => expect(codes(events)).toEqual(Array(3).fill('client_closed_request')))
    turn.resolve(true)
    expect(await busy).toMatchObject({ status: 200 })
    expect(await send(login(alice.email, PASSWORD, OFFICE))).toMatchObject({ status: 200 })
    expect(verify).toHaveBeenCalledTimes(2)
  })

  it('hide no failed login: a wrong password counts, although its client has left during the check', async () => {
    const hasher = countingHasher()
    let turn = deferred<void>()
    const verify = async (password: string, hash: string) => {
      await turn.promise
      return hasher.verify(password, hash)
    }
    const passwords = createPasswords({ hashers: [{ ...hasher, verify }], concurrency: 4 })
    const { port, send, events } = await start({ accounts: makeStore(), passwords })
    for (let i = 1; i <= 10; i++) {
      const socket = await pipeline(port, login(alice.email, `guess ${i}`, OFFICE))
      await until(() => expect(passwords.load().active).toBe(1))
      socket.destroy()
      await once(socket, 'close')
      turn.resolve()
      await until(() => expect(events).toHaveLength(i))
      turn = deferred()
    }
    turn.resolve()
    expect(codes(events)).toEqual(Array(10).fill('invalid_credentials'))
    expect(await send(login(alice.email, PASSWORD, OFFICE))).toMatchObject({ status: 429 })
    expect(await send(login(alice.email, PASSWORD, HOME))).toMatchObject({ status: 200 })
  })

  it.each<[string, address: (i: number) => string, most: number]>([
    ['one address: ten', () => OFFICE, 10],
    ['five hundred addresses: a hundred', (i) => `10.0.${i >> 8}.${i & 255}`, 100],
  ])('have no more guesses checked, in whichever step they leave, from %s', async (_, address, most) => {
    fakeClock()
    const hasher = countingHasher()
    const passwords = createPasswords({ hashers: [hasher], concurrency: 4 })
    const { port, send } = await start({ accounts: makeStore(), passwords })
    // The server sees a client leave after some turns of its event loop, so in another step each time.
    await all(50, async (i) => {
      const guesses = Array.from({ length: 10 }, (_, n) => login(alice.email, `guess ${i}-${n}`, address(10 * i + n)))
      const socket = await pipeline(port, ...guesses)
      for (let turns = i % 20; turns > 0; turns--) await new Promise(setImmediate)
      socket.destroy()
    })
    await until(() => expect(passwords.load()).toEqual({ active: 0, waiting: 0 }))
    await settled()
    expect(hasher.asked.length).toBeLessThanOrEqual(most)
    // Clients that have disconnected too often get 503 for the rest of a second.
    vi.advanceTimersByTime(1000)
    const rest = await all(most + 1, (i) => send(login(alice.email, `again ${i}`, address(2000 + i))))
    expect(hasher.asked).toHaveLength(most)
    expect(statuses(rest)).toHaveProperty('429')
  })
})

describe('a client network that disconnects during every look-up', () => {
  const ONCE = { email: alice.email, password: PASSWORD }

  /** Creates a login whose clients disconnect during the look-up, unless they are patient. */
  function impatient() {
    fakeClock()
    let leave = () => {}
    const findByEmail = vi.fn(async () => {
      leave()
      return alice
    })
    const limits = createLimits()
    const logIn = logInWith({ accounts: findByEmail, limits, onEvent() {} })
    async function disconnect(address: string) {
      const gone = new AbortController()
      leave = () => gone.abort()
      const origin: LoginOrigin = { address, signal: gone.signal }
      const { code, headers } = await refusalOf(logIn(ONCE, origin))
      leave = () => {}
      return `${code} ${headers['Retry-After'] ?? ''}`.trim()
    }
    return { findByEmail, limits, logIn, disconnect }
  }

  it('causes 200 look-ups in a second, and then gets 503 until that second ends', async () => {
    const { findByEmail, limits, logIn, disconnect } = impatient()
    const ends: string[] = []
    for (let i = 0; i < 300; i++) ends.push(await disconnect(OFFICE))
    expect(ends).toEqual([...Array(200).fill('client_closed_request'), ...Array(100).fill('overloaded 1')])
    expect(findByEmail).toHaveBeenCalledTimes(200)
    // The router refuses it before the body is read.
    const { checkAddress } = limits as unknown as LimitsPort
    expect(() => checkAddress(OFFICE)).toThrow(expect.objectContaining({ code: 'overloaded' }))
    expect(() => checkAddress(HOME)).not.toThrow()
    expect(await logIn(ONCE, { address: HOME })).toMatchObject({ subject: { accountId: alice.id } })
    vi.advanceTimersByTime(1001)
    expect(await logIn(ONCE, { address: OFFICE })).toMatchObject({ subject: { accountId: alice.id } })
    expect(await disconnect(OFFICE)).toBe('client_closed_request')
  })

  it('gets 503 also where it has changed the account and the spelling of its address', async () => {
    const { logIn, disconnect } = impatient()
    for (let i = 0; i < 200; i++) await disconnect(`2001:db8::${i.toString(16)}`)
    const other = { email: bob.email, password: PASSWORD }
    expect(await refusalOf(logIn(other, { address: '2001:db8:0:0:ffff::1' }))).toMatchObject({ code: 'overloaded' })
  })
})

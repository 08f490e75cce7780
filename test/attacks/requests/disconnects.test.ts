import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import express from 'express'
import {
  type AuthEvent,
  createPasswords,
  createThrottle,
  type TokenRouterOptions,
  tokenRouter,
} from 'express-token-endpoint'
import { expect, it, onTestFinished, vi } from 'vitest'
import { deferred, settled, until } from '../../support/concurrency.js'
import { ACCOUNTS, countingHasher, fastPasswords, makeIssuer, makeStore, PASSWORD } from '../../support/fixtures.js'
import { listen, login } from '../../support/http.js'
import { requestText, send } from '../../support/plain-js/http-client.mjs'

const GOOD = login(ACCOUNTS.alice.email, PASSWORD)
const SLOW = 'slow@example.com'

/** Starts an app, and returns a function that opens a connection with some bytes. */
async function start(options: Partial<TokenRouterOptions>, before: express.RequestHandler[] = []) {
  const events: AuthEvent[] = []
  const onEvent = (event: AuthEvent) => events.push(event)
  const parts = { tokens: makeIssuer(), accounts: makeStore(), passwords: fastPasswords(), timeout: '1m', onEvent }
  const { port } = await listen(express().use(...before, tokenRouter({ ...parts, ...options })))
  async function dial(bytes: string): Promise<Socket> {
    const socket = connect(port, '127.0.0.1')
    onTestFinished(() => void socket.destroy())
    socket.on('error', () => {})
    await once(socket, 'connect')
    socket.write(bytes)
    return socket
  }
  const codes = () => events.map((event) => ('code' in event ? event.code : event.type))
  return { ask: (sent = GOOD) => send(port, sent), dial, codes }
}

/** A store whose look-up of one address ends when the test says so. */
function slowStore() {
  const asked = deferred<void>()
  const answer = deferred<null>()
  const accounts: TokenRouterOptions['accounts'] = (email) => {
    if (email !== SLOW) return makeStore().findByEmail(email)
    asked.resolve()
    return answer.promise
  }
  return { accounts, asked: asked.promise, answer: () => answer.resolve(null) }
}

it('a client that hangs up during its look-up costs its address a point, and the account none', async () => {
  const one = { points: 1, duration: '1h' }
  const throttle = createThrottle({ budgets: { address: { points: 2, duration: '1h' }, pair: one, account: one } })
  const { accounts, asked, answer } = slowStore()
  const { ask, dial, codes } = await start({ accounts, throttle })
  const client = await dial(requestText(login(SLOW, 'x')))
  await asked
  client.destroy()
  await settled()
  answer()
  await until(() => expect(codes()).toEqual(['client_closed_request']))
  expect((await ask(login(SLOW, 'x'))).status).toBe(403)
  expect((await ask()).status).toBe(429)
})

it.each<[string, express.RequestHandler]>([
  ['destroyed', ({ socket }, _res, next) => next(void socket.destroy())],
  ['closed', ({ socket }, _res, next) => void socket.once('close', () => next()).destroy()],
])('a connection that was %s before the router ran has nothing looked up and no password hashed', async (_, end) => {
  const hasher = countingHasher()
  const accounts = vi.fn(() => null)
  const options = { passwords: fastPasswords(hasher), accounts, throttle: false as const }
  const { dial, codes } = await start(options, [express.json(), end])
  await dial(requestText(GOOD))
  await until(() => expect(codes()).toEqual(['client_closed_request']))
  await settled()
  expect([hasher.asked, accounts.mock.calls]).toEqual([[], []])
})

it('a client that hangs up on pipelined logins has no other password hashed', async () => {
  const { promise, resolve } = deferred<boolean>()
  const verify = vi.fn((_password: string, _hash: string) => promise)
  const passwords = createPasswords({ hashers: [{ ...countingHasher(), verify }], concurrency: 1 })
  const { dial, codes } = await start({ passwords, throttle: false })
  const client = await dial(requestText(GOOD).repeat(5))
  await until(() => expect(passwords.load()).toEqual({ active: 1, waiting: 4 }))
  client.destroy()
  await until(() => expect(codes()).toEqual(Array(4).fill('client_closed_request')))
  resolve(true)
  await until(() => expect(codes()).toHaveLength(5))
  await settled()
  expect(verify).toHaveBeenCalledOnce()
  expect(passwords.load()).toEqual({ active: 0, waiting: 0 })
})

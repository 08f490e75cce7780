import express from 'express'
import { AuthError, type AuthEvent, type TokenRouterOptions, tokenRouter } from 'express-token-endpoint'
import { describe, expect, it } from 'vitest'
import { settled } from '../../support/concurrency.js'
import { ACCOUNTS, fastPasswords, makeIssuer, makeStore, PASSWORD } from '../../support/fixtures.js'
import { unhandledRejections } from '../../support/host.js'
import { client, listen, login } from '../../support/http.js'

const ALICE = ACCOUNTS.alice.email
const rejects = async () => {
  throw new Error('the host is down')
}
const hangs = () => new Promise<never>(() => {})
const spent = { giveBack() {} }

async function start(options: Partial<TokenRouterOptions>) {
  const caught = unhandledRejections()
  const events: AuthEvent[] = []
  const app = express()
  const defaults = { tokens: makeIssuer(), accounts: makeStore(), passwords: fastPasswords(), throttle: false as const }
  app.use(tokenRouter({ ...defaults, timeout: '30ms', onEvent: (event) => events.push(event), ...options }))
  app.use(((_error, _req, res, _next) => void res.destroy()) satisfies express.ErrorRequestHandler)
  const send = client((await listen(app)).port)
  return { events, caught, send: (password = PASSWORD) => send(login(ALICE, password)) }
}

/** Methods that return nothing may be asynchronous: TypeScript accepts a promise where nothing is expected. */
describe('a throttle of the host', () => {
  it.each([
    ['rejects', rejects],
    ['hangs', hangs],
  ])('whose check %s is a 503', async (_, check) => {
    const { send, events, caught } = await start({ throttle: { check: check as never, spend: async () => spent } })
    expect((await send()).status).toBe(503)
    expect(events).toMatchObject([{ type: 'dependency.failed', dependency: 'throttle', refused: true }])
    await settled()
    expect(caught).toEqual([])
  })

  it('whose asynchronous check refuses is a 429, and the password is not checked', async () => {
    const check = async () => {
      throw new AuthError('too_many_attempts', { retryAfter: 7 })
    }
    const { send, caught } = await start({ throttle: { check: check as never, spend: hangs } })
    expect(await send()).toMatchObject({ status: 429, headers: { 'retry-after': '7' } })
    await settled()
    expect(caught).toEqual([])
  })

  it.each([
    ['rejects', rejects],
    ['throws', () => rejects.call(undefined)],
  ])('whose giveBack %s harms no login', async (_, giveBack) => {
    const { send, caught } = await start({ throttle: { spend: async () => ({ giveBack: giveBack as never }) } })
    expect((await send()).status).toBe(200)
    await settled()
    expect(caught).toEqual([])
  })

  it.each([
    ['rejects', rejects],
    ['hangs', hangs],
  ])('whose failed %s is a 503 for a wrong password, and harms no right one', async (_, failed) => {
    const { send, events, caught } = await start({ throttle: { spend: async () => ({ ...spent, failed }) } })
    expect((await send()).status).toBe(200)
    expect((await send('wrong')).status).toBe(503)
    expect(events.at(-1)).toMatchObject({ type: 'dependency.failed', dependency: 'throttle', refused: true })
    await settled()
    expect(caught).toEqual([])
  })

  it('whose spend hangs is a 503', async () => {
    const { send, events } = await start({ throttle: { spend: hangs } })
    expect((await send()).status).toBe(503)
    expect(events).toMatchObject([{ type: 'dependency.failed', dependency: 'throttle' }])
  })
})

describe('passwords of the host', () => {
  const passwords = fastPasswords()
  it.each([
    ['hangs', hangs],
    ['rejects', rejects],
  ])('whose reserve %s are a 503', async (_, reserve) => {
    const { send, events, caught } = await start({ passwords: { ...passwords, reserve } })
    expect((await send()).status).toBe(503)
    expect(events).toMatchObject([{ type: 'dependency.failed', dependency: 'passwords', refused: true }])
    await settled()
    expect(caught).toEqual([])
  })

  it('whose leave rejects harm no login', async () => {
    const reserve: typeof passwords.reserve = async (request) => ({
      ...(await passwords.reserve(request)),
      leave: rejects as never,
    })
    const { send, caught } = await start({ passwords: { ...passwords, reserve } })
    expect((await send()).status).toBe(200)
    await settled()
    expect(caught).toEqual([])
  })
})

it('a host hook that throws while the token is sent makes no second event', async () => {
  const events: AuthEvent[] = []
  const app = express()
  app.use((_req, res, next) => {
    res.setHeader = () => {
      throw new Error('a hook')
    }
    next()
  })
  const options = { tokens: makeIssuer(), accounts: makeStore(), passwords: fastPasswords() }
  app.use(tokenRouter({ ...options, onEvent: (event) => events.push(event) }))
  app.use(((_error, _req, res, _next) => void res.writeHead(500).end()) satisfies express.ErrorRequestHandler)
  const send = client((await listen(app)).port)
  expect((await send(login(ALICE, PASSWORD))).status).toBe(500)
  expect(events.map(({ type }) => type)).toEqual(['token.issued'])
})

import { createServer } from 'node:http'
import express from 'express'
import { type BeforeSignIn, SignInRefusal, type TokenRouterOptions, tokenRouter } from 'express-token-endpoint'
import { describe, expect, it, vi } from 'vitest'
import { all, deferred, statuses, until } from '../../support/concurrency.js'
import { ACCOUNTS, fastPasswords, makeIssuer, makeStore, PASSWORD } from '../../support/fixtures.js'
import { client, flood, listen, TOKEN_PATH } from '../../support/http.js'

const ALICE = ACCOUNTS.alice.email
const wrongCode = () => new SignInRefusal('wrong_code', { countAsFailure: true })

/** Starts an app whose users have a second factor, and counts the codes that are looked at. */
async function start(look: (code: unknown) => unknown = () => {}, options: Partial<TokenRouterOptions> = {}) {
  const looked = vi.fn(look)
  const beforeSignIn: BeforeSignIn = async ({ fields: { code } }) => {
    if (code === undefined) throw new SignInRefusal('code_required')
    await looked(code)
    if (code !== '123456') throw wrongCode()
  }
  const app = express().set('trust proxy', 1)
  const parts = { tokens: makeIssuer(), accounts: makeStore(), passwords: fastPasswords() }
  app.use(tokenRouter({ ...parts, extraFields: ['code'], beforeSignIn, ...options }))
  const { port } = await listen(createServer(app))
  const guess = (code?: string, address = '192.0.2.1') => ({
    method: 'POST',
    path: TOKEN_PATH,
    headers: { 'Content-Type': 'application/json', 'X-Forwarded-For': address },
    body: JSON.stringify({ email: ALICE, password: PASSWORD, code }),
  })
  return { port, send: client(port, 50), looked, guess }
}

describe('somebody who has the password and guesses the second factor', () => {
  it.each<[string, number, (i: number) => string]>([
    ['one address: ten codes are looked at', 10, () => '192.0.2.1'],
    ['a thousand addresses: a hundred are looked at', 100, (i) => `10.0.${i >> 8}.${i & 255}`],
  ])('with requests without a code between the guesses, from %s', async (_, most, address) => {
    const { send, looked, guess } = await start()
    const answers = await all(1000, (i) => send(guess(i % 2 ? `${i}` : undefined, address(i))))
    expect(looked).toHaveBeenCalledTimes(most)
    expect(statuses(answers)[200]).toBeUndefined()
    expect(await send(guess('123456', '192.0.2.1'))).toMatchObject({ status: 429 })
  })

  it('with a hundred guesses on one connection at once, before the first is looked at: ten are', async () => {
    const turn = deferred<void>()
    const { port, send, looked, guess } = await start(() => turn.promise)
    const answers = flood(port, 16, (i) => guess(`${i}`), 1)
    const others = all(84, (i) => send(guess(`${i}`)))
    await until(() => expect(looked).toHaveBeenCalledTimes(10))
    turn.resolve()
    expect(statuses([...(await answers), ...(await others)])).toEqual({ 403: 10, 429: 90 })
    expect(looked).toHaveBeenCalledTimes(10)
  })

  it('and hangs up while each code is looked at: ten are', async () => {
    const turns: (() => void)[] = []
    const { send, looked, guess } = await start(() => new Promise<void>((resolve) => turns.push(resolve)))
    for (let i = 1; i <= 10; i++) {
      const leaving = new AbortController()
      const left = send({ ...guess(`${i}`), signal: leaving.signal }).catch(() => 'left')
      await until(() => expect(looked).toHaveBeenCalledTimes(i))
      leaving.abort()
      expect(await left).toBe('left')
      turns.pop()?.()
    }
    await until(async () => expect(await send(guess())).toMatchObject({ status: 429 }))
    expect(looked).toHaveBeenCalledTimes(10)
  })

  it('at a host that delays its refusal until the time limit has passed: ten are', async () => {
    const turns: (() => void)[] = []
    const look = (code: unknown) => code !== '123456' && new Promise<void>((resolve) => turns.push(resolve))
    const { send, looked, guess } = await start(look, { timeout: '50ms' })
    await until(async () => {
      const answers = statuses(await all(20, (i) => send(guess(`${i}`))))
      for (const turn of turns.splice(0)) turn()
      expect(answers).toEqual({ 429: 20 })
    })
    expect(looked).toHaveBeenCalledTimes(10)
    expect(await send(guess('123456'))).toMatchObject({ status: 429 })
  })
})

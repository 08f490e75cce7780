import express, { type RequestHandler } from 'express'
import {
  createTokenIssuer,
  type PrivateTokenKey,
  requireBearer,
  type TokenKey,
  tokenRouter,
} from 'express-token-endpoint'
import { describe, expect, it } from 'vitest'
import { tally } from '../../support/concurrency.js'
import {
  ACCOUNTS,
  fastPasswords,
  frozenClock,
  ISSUER,
  makeStore,
  PASSWORD,
  SECRET,
  signingKey,
} from '../../support/fixtures.js'
import { bearer, client, listen, login, TOKEN_PATH } from '../../support/http.js'
import { headerOf } from '../../support/tokens.js'

const HOUR = 3_600_000
const CLIENTS = 8
const ROUNDS = 20

const kidOf = (token: string) => headerOf(token)['kid'] as string

/** Two processes of one environment, and clients that sign in at one of them and use their tokens at both. */
async function start(first: TokenKey) {
  const clock = frozenClock()
  const accounts = makeStore()
  const passwords = fastPasswords()
  // The keys are all secrets or all key pairs. The type here does not say so.
  const issuerOf = (keys: TokenKey[]) =>
    createTokenIssuer({ issuer: ISSUER, keys: keys as PrivateTokenKey[], lifetime: '1h', clock })
  const processes: RequestHandler[] = []
  const app = express()
  for (const i of [0, 1]) app.use(`/${i}`, (req, res, next) => processes[i]?.(req, res, next))
  const send = client((await listen(app)).port, CLIENTS)

  /** Puts keys into one process, as a new deployment of it would: requests in flight end as they began. */
  function deploy(i: number, keys: TokenKey[]): void {
    const tokens = issuerOf(keys)
    const router = express.Router()
    router.use(tokenRouter({ tokens, accounts, passwords, throttle: false }))
    processes[i] = router.get('/in', requireBearer({ tokens }), (_req, res) => res.end('in'))
  }
  deploy(0, [first])
  deploy(1, [first])

  /** Valid tokens of clients. */
  const held: string[] = []
  const use = async (token: string, i: number) => (await send(bearer(token, `/${i}/in`))).status
  let rounds = 0
  let reached = () => {}

  async function round(i: number): Promise<number[]> {
    const answer = await send(login(ACCOUNTS.alice.email, PASSWORD, '192.0.2.1', `/${i % 2}${TOKEN_PATH}`))
    const token: string = JSON.parse(answer.body).authenticationToken
    held.push(token)
    const older = held[(i * 7919) % held.length] as string
    const uses = [await use(token, 0), await use(token, 1), await use(older, i % 2)]
    if (++rounds % ROUNDS === 0) reached()
    return [answer.status, ...uses]
  }

  return {
    clock,
    held,
    issuerOf,
    /** New keys in one process after the other, with many rounds of the clients after each. */
    async rollOut(keys: TokenKey[]): Promise<void> {
      for (const i of [0, 1]) {
        deploy(i, keys)
        for (let once = 0; once < 2; once++) {
          await new Promise<void>((resolve) => {
            reached = resolve
          })
        }
      }
    },
    /** Collects the responses to clients while a function runs. */
    async during(happens: () => Promise<void>) {
      let running = true
      const loops = Array.from({ length: CLIENTS }, async (_, c) => {
        const answers: number[] = []
        for (let i = c; running; i++) answers.push(...(await round(i)))
        return answers
      })
      await happens()
      running = false
      return tally((await Promise.all(loops)).flat())
    },
    /** Returns the verdicts of both processes about tokens. */
    async answersTo(tokens: readonly string[]) {
      return tally(await Promise.all(tokens.flatMap((token) => [use(token, 0), use(token, 1)])))
    },
  }
}

const [oldSecret, newSecret] = ['old', 'new'].map((kid) => ({ alg: 'HS256', secret: `${kid} ${SECRET}`, kid }) as const)

describe.each([
  ['secrets', oldSecret as TokenKey, newSecret as TokenKey],
  ['key pairs', signingKey('RS256', 'old'), signingKey('ES256', 'new')],
])('keys changed while requests go on: %s', (_, oldKey, newKey) => {
  it('one after the other: no token is refused before its time, and none is taken after', async () => {
    const { clock, held, issuerOf, rollOut, during, answersTo } = await start(oldKey)
    const before = await during(async () => {
      await rollOut([oldKey, newKey])
      await rollOut([newKey, oldKey])
    })
    expect(Object.keys(before)).toEqual(['200'])
    expect(Object.values(tally(held.map(kidOf))).every((count) => count > ROUNDS)).toBe(true)
    expect(new Set(held.map(kidOf)).size).toBe(2)
    expect(await answersTo(held)).toEqual({ 200: 2 * held.length })

    clock.advance(HOUR)
    expect(await answersTo(held)).toEqual({ 401: 2 * held.length })
    held.splice(0)
    expect(Object.keys(await during(() => rollOut([newKey])))).toEqual(['200'])
    expect(await answersTo(held)).toEqual({ 200: 2 * held.length })
    expect(await answersTo([issuerOf([oldKey]).issue({ accountId: 'acc-1' }).token])).toEqual({ 401: 2 })
  })

  it('at once, because the old one has leaked: its tokens are refused, the new one’s are not', async () => {
    const { held, rollOut, during, answersTo } = await start(oldKey)
    await during(() => rollOut([newKey, oldKey]))
    const last = kidOf(held.at(-1) as string)
    const leaked = held.filter((token) => kidOf(token) !== last)
    expect(leaked.length).toBeGreaterThan(CLIENTS)
    expect(await answersTo(leaked)).toEqual({ 200: 2 * leaked.length })
    held.splice(0, held.length, ...held.filter((token) => kidOf(token) === last))
    expect(Object.keys(await during(() => rollOut([newKey])))).toEqual(['200'])
    expect(await answersTo(leaked)).toEqual({ 401: 2 * leaked.length })
    expect(await answersTo(held)).toEqual({ 200: 2 * held.length })
  })
})

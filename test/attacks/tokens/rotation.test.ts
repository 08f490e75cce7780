import express, { type RequestHandler } from 'express'
import {
  createTokenIssuer,
  type PrivateTokenKey,
  requireBearer,
  type TokenKey,
  tokenRouter,
} from 'express-token-endpoint'
import { describe, expect, it } from 'vitest'
import { all, statuses, tally } from '../../support/concurrency.js'
import {
  ACCOUNTS,
  fastPasswords,
  frozenClock,
  ISSUER,
  issueNow,
  makeStore,
  PASSWORD,
  SECRET,
  signingKey,
} from '../../support/fixtures.js'
import { bearer, client, listen, login, TOKEN_PATH } from '../../support/http.js'

const HOUR = 3_600_000
const ROUNDS = 20

/** Two processes of one environment, and clients that log in at one of them and use their tokens at both. */
async function start(first: TokenKey) {
  const clock = frozenClock()
  const parts = { accounts: makeStore(), passwords: fastPasswords(), throttle: false as const }
  // The keys are all secrets or all key pairs. The type here does not say so.
  const issuerOf = (keys: TokenKey[]) =>
    createTokenIssuer({ issuer: ISSUER, keys: keys as PrivateTokenKey[], lifetime: '1h', clock })
  const processes: RequestHandler[] = []
  const app = express()
  for (const i of [0, 1]) app.use(`/${i}`, (req, res, next) => processes[i]?.(req, res, next))
  const send = client((await listen(app)).port)

  /** Puts keys into one process, as a new deployment of it would. */
  function deploy(i: number, keys: TokenKey[]): void {
    const tokens = issuerOf(keys)
    const router = express.Router().use(tokenRouter({ ...parts, tokens }))
    processes[i] = router.get('/in', requireBearer({ tokens }), (_req, res) => res.end('in'))
  }
  for (const i of [0, 1]) deploy(i, [first])

  /** Returns the verdicts of both processes about tokens. */
  const verdicts = async (tokens: readonly string[]) =>
    statuses(await all(2 * tokens.length, (i) => send(bearer(tokens[i >> 1] as string, `/${i % 2}/in`))))

  /** Logs in at both processes. */
  async function logIn(): Promise<string[]> {
    const { email } = ACCOUNTS.alice
    const answers = await all(ROUNDS, (i) => send(login(email, PASSWORD, '192.0.2.1', `/${i % 2}${TOKEN_PATH}`)))
    return answers.map(({ body }) => JSON.parse(body).authenticationToken)
  }

  return {
    clock,
    verdicts,
    old: () => issueNow(issuerOf([first]), { accountId: 'acc-1' }).token,
    /** Puts new keys into one process after the other. Clients log in meanwhile, and their tokens work at both processes. */
    async rollOut(keys: TokenKey[]): Promise<string[]> {
      const held: string[] = []
      for (const i of [0, 1]) {
        deploy(i, keys)
        held.push(...(await logIn()))
        expect(await verdicts(held)).toEqual({ 200: 2 * held.length })
      }
      return held
    },
  }
}

const [oldSecret, newSecret] = ['old', 'new'].map((kid) => ({ alg: 'HS256', secret: `${kid} ${SECRET}`, kid }) as const)

describe.each([
  ['secrets', oldSecret as TokenKey, newSecret as TokenKey],
  ['key pairs', signingKey('RS256', 'old'), signingKey('ES256', 'new')],
])('keys changed while clients log in: %s', (_, oldKey, newKey) => {
  it('one after the other: no token is refused before its time, and none is taken after', async () => {
    const { clock, old, rollOut, verdicts } = await start(oldKey)
    const held = [...(await rollOut([oldKey, newKey])), ...(await rollOut([newKey, oldKey]))]
    expect(Object.keys(tally(held.map((token) => token.split('.')[0] as string)))).toHaveLength(2)
    expect(await verdicts(held)).toEqual({ 200: 2 * held.length })
    clock.advance(HOUR)
    expect(await verdicts(held)).toEqual({ 401: 2 * held.length })
    await rollOut([newKey])
    expect(await verdicts([old()])).toEqual({ 401: 2 })
  })

  it('at once, because the old one has leaked: its tokens are refused, the new one’s are not', async () => {
    const { old, rollOut, verdicts } = await start(oldKey)
    const leaked = await rollOut([oldKey, newKey])
    const [, , ...later] = await rollOut([newKey, oldKey])
    await rollOut([newKey])
    expect(await verdicts([...leaked, old()])).toEqual({ 401: 2 * leaked.length + 2 })
    expect(await verdicts(later.slice(-ROUNDS))).toEqual({ 200: 2 * ROUNDS })
  })
})

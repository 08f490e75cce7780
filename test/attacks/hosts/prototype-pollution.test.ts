import express from 'express'
import {
  createAuth,
  createLimits,
  memoryAccounts,
  memoryStore,
  requireBearer,
  tokenRouter,
} from 'express-token-endpoint'
import { describe, expect, it } from 'vitest'
import { authWith } from '../../support/auth.js'
import {
  ACCOUNTS,
  decodePayload,
  fastPasswords,
  forge,
  goodParts,
  makeIssuer,
  PASSWORD,
  SECRET,
} from '../../support/fixtures.js'
import { bearer, client, listen, login, TOKEN_PATH } from '../../support/http.js'
import { polluted } from '../../support/pollution.js'

// Another package of the process has a hole by which an attacker sets members of Object.prototype.
describe('what every object inherits grants nothing', () => {
  const tokens = makeIssuer()
  const { id, email, passwordHash } = ACCOUNTS.bob
  const { header, payload } = goodParts()
  const token = forge(header, payload)

  async function start(account: object = { id, passwordHash }) {
    const app = express()
    app.use(tokenRouter({ tokens, accounts: () => account as never, passwords: fastPasswords(), limits: false }))
    for (const options of [{}, { scope: 'admin' }, { optional: true }]) {
      const guard = requireBearer({ tokens, ...options })
      app.get(`/${Object.keys(options)}`, guard, (req, res) => void res.send(req.auth ? 'in' : 'anonymous'))
    }
    return client((await listen(app)).port)
  }

  it('a scope opens no route', async () => {
    const send = await start()
    const fresh = await polluted({ scope: 'admin', scopes: ['admin'] }, () => send(bearer(token, '/scope')))
    expect([fresh.status, (await send(bearer(token, '/scope'))).status]).toEqual([403, 403])
    expect((await send(bearer(token, '/'))).status).toBe(200)
  })

  it('a request without a token is refused, although every object inherits one', async () => {
    const send = await start()
    const authorization = `Bearer ${token}`
    expect((await polluted({ authorization }, () => send({ method: 'GET', path: '/' }))).status).toBe(401)
  })

  it('a guard whose options inherit "optional" is not optional', async () => {
    const app = express().use(await polluted({ optional: true }, () => [requireBearer({ tokens })]))
    expect((await client((await listen(app)).port)({ method: 'GET', path: '/' })).status).toBe(401)
  })

  it('a forged token is not anonymous on an optional guard, although Node omits a header that every object inherits', async () => {
    const send = await start()
    for (const [sent, expected] of [
      [bearer(`${token}x`, '/optional'), [401, expect.stringContaining('invalid_token')]],
      [bearer(token, '/optional'), [200, 'in']],
      [{ method: 'GET', path: '/optional' }, [200, 'anonymous']],
    ] as const) {
      const { status, body } = await polluted({ authorization: 'x' }, () => send(sent))
      expect([status, body]).toEqual(expected)
    }
  })

  it('a password hash and an account id that the store did not return are no account', async () => {
    const send = await start({})
    expect((await polluted({ id, passwordHash }, () => send(login(email, PASSWORD)))).status).toBe(503)
  })

  it('terms that a step after the password did not return change no token, at the sign-in and at its refresh', async () => {
    const accounts = memoryAccounts([{ ...ACCOUNTS.bob, claims: { team: 'north' } }])
    const { router } = authWith({
      accounts,
      store: memoryStore(),
      secret: SECRET,
      refresh: 'body',
      beforeSignIn: () => ({}),
    })
    const app = express().use(router)
    const send = client((await listen(app)).port)
    const inherited = {
      claims: { role: 'admin' },
      lifetime: '1s',
      without: ['team'],
      terms: { scopes: ['x'] },
      session: {},
    }
    const signedIn = JSON.parse((await polluted(inherited, () => send(login(email, PASSWORD)))).body)
    const { headers } = login(email, PASSWORD)
    const body = JSON.stringify({ refreshToken: signedIn.refreshToken })
    const refresh = () => send({ method: 'POST', path: `${TOKEN_PATH}/refresh`, headers, body })
    for (const issued of [signedIn, JSON.parse((await polluted(inherited, refresh)).body)]) {
      const { role, team, iat, exp } = decodePayload(issued.authenticationToken)
      expect({ role, team, lifetime: Number(exp) - Number(iat) }).toEqual({
        role: undefined,
        team: 'north',
        lifetime: 3600,
      })
    }
  })

  it('an actor, options and scopes that the app did not pass to createAuth change no sign-in', async () => {
    const accounts = memoryAccounts([{ id, email, passwordHash }])
    const parts = { issuer: 'https://api.example.com', keys: { alg: 'HS256', secret: SECRET }, accounts } as const
    const inherited = {
      actor: { accountId: 'x' },
      refresh: 'cookie',
      sessions: {},
      codes: {},
      store: {},
      secret: 'x',
      passwords: {},
      limits: {},
      onEvent: 1,
    }
    const auth = await polluted(inherited, () => createAuth({ ...parts }))
    const req = { headers: {}, socket: {} } as express.Request
    const signIn = () => auth.signIn(id, req)
    const { authenticationToken } = await polluted({ ...inherited, mountPath: 'x', scopes: ['admin'], act: {} }, signIn)
    expect(decodePayload(authenticationToken)).toMatchObject({ sub: id })
    expect(decodePayload(authenticationToken)).not.toHaveProperty('act')
    expect(decodePayload(authenticationToken)).not.toHaveProperty('scope')
  })

  it.each<[string, unknown]>([
    ['kind', 'unnamed'],
    ['kind', 'provider'],
    ['sessionId', 'another session'],
    ['timeOfIssue', () => 9e15],
    ['of', 'cookie'],
  ])(
    'a token has only its own facts, and a body is read, whatever %s every object inherits: %s',
    async (name, value) => {
      const accounts = memoryAccounts([ACCOUNTS.bob])
      const { router, guard, sessions } = authWith({ accounts, store: memoryStore() })
      const app = express().use(router)
      app.get('/facts', guard(), (req, res) => void res.json([req.auth?.sessionId ?? null, Number(req.auth?.issuedAt)]))
      const send = client((await listen(app)).port)
      const { status, body } = await polluted({ [name]: value }, () => send(login(email, PASSWORD)))
      expect(status).toBe(200)
      const { authenticationToken } = JSON.parse(body)
      const facts = () => polluted({ [name]: value }, () => send(bearer(authenticationToken, '/facts')))
      const first = await facts()
      expect(first.status).toBe(200)
      const [sessionId, issuedAt] = JSON.parse(first.body)
      expect(sessionId).toBeNull()
      expect(Math.floor(issuedAt / 1000)).toBe(decodePayload(authenticationToken)['iat'])
      await sessions?.endAll(id)
      const second = JSON.parse((await send(login(email, PASSWORD))).body).authenticationToken
      await sessions?.endAll(id)
      const signedOut = await polluted({ [name]: value }, () => send(bearer(second, '/facts')))
      expect([signedOut.status, (await facts()).status]).toEqual([401, 401])
    },
  )

  it.each<[string, unknown]>([
    ['ttl', 0.001],
    ['start', -1e12],
    ['size', 1],
    ['status', 'x'],
  ])('failed logins are counted, whatever %s every object inherits', async (name, value) => {
    const limits = createLimits({ limits: { pair: { points: 2, duration: '1m' } } })
    const app = express()
    app.use(tokenRouter({ tokens, accounts: memoryAccounts([ACCOUNTS.bob]), passwords: fastPasswords(), limits }))
    const send = client((await listen(app)).port)
    const statuses: number[] = []
    for (let i = 0; i < 3; i++) {
      statuses.push((await polluted({ [name]: value }, () => send(login(email, 'wrong password')))).status)
    }
    expect(statuses).toEqual([403, 403, 429])
  })
})

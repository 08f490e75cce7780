import type { RequestHandler } from 'express'
import request from 'supertest'
import { describe, expect, it } from 'vitest'
import {
  asJson,
  expectBadRequest,
  expectForbidden,
  expectToken,
  GOOD,
  GOOD_JSON,
  JSON_TYPE,
  packageOn,
  send,
} from '../support/host.js'
import { EXPRESS, listen, TOKEN_PATH } from '../support/http.js'

const STATEMENTS = '/api/v2013/statements'

describe.each(EXPRESS)('the specification, on %s', async (_, express) => {
  const { authOf, requireBearer, tokenRouter, ...fixtures } = await packageOn(express)
  const { ACCOUNTS, decodePayload, fastPasswords, frozenClock, makeIssuer, makeStore } = fixtures

  const statements: RequestHandler = (req, res) => {
    res.json({ accountId: authOf(req).accountId })
  }

  /** A clearing house: the token call, and a protected endpoint. */
  function clearingHouse({ tokens = makeIssuer(), accounts = makeStore() } = {}) {
    const house = express.Router()
    house.use(tokenRouter({ tokens, accounts, passwords: fastPasswords() }))
    house.get(STATEMENTS, requireBearer({ tokens }), statements)
    return house
  }

  const service = (options?: Parameters<typeof clearingHouse>[0]) => express().use(clearingHouse(options))
  const start = async (options?: Parameters<typeof clearingHouse>[0]) => (await listen(service(options))).port

  describe('section 2: token result', () => {
    it('expiration is ISO 8601 in UTC, with fractional seconds and a trailing Z', async () => {
      const { expiration } = expectToken(await send(await start(), asJson(GOOD)))
      expect(expiration).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z$/)
    })

    it("expiration is the token's own exp", async () => {
      const tokens = makeIssuer({ lifetime: '25m', clock: frozenClock('2026-03-01T12:00:00.789Z') })
      const { authenticationToken, expiration } = expectToken(await send(await start({ tokens }), asJson(GOOD)))
      expect(expiration).toBe('2026-03-01T12:25:00.000Z')
      expect(Date.parse(expiration)).toBe(Number(decodePayload(authenticationToken)['exp']) * 1000)
    })
  })

  describe('section 4: POST {base_url}/api/v2013/authentication/token', () => {
    it('Method: POST, and no other', async () => {
      await request(service()).get(TOKEN_PATH).query(GOOD).expect(405).expect('Allow', 'POST')
    })

    it.each([
      ['another version', '/api/v2014/authentication/token'],
      ['other letters', '/API/v2013/authentication/token'],
      ['a slash behind', `${TOKEN_PATH}/`],
      ['a path parameter', `${TOKEN_PATH}/alice`],
    ])('Path: this one alone, not %s', async (_difference, path) => {
      await request(service()).post(path).send(GOOD).expect(404)
    })

    it('Query parameters: none, so that what stands in the query makes no difference', async () => {
      const port = await start()
      expectToken(await send(port, { ...asJson(GOOD), path: `${TOKEN_PATH}?email=x&password=y&realm=z` }))
      expectBadRequest(await send(port, { ...asJson({}), path: `${TOKEN_PATH}?${new URLSearchParams(GOOD)}` }))
    })

    it.each([undefined, 'Bearer expired', 'Basic Zm9vOmJhcg==', 'nonsense'])(
      'Authorization header: not required, and not looked at (%s)',
      async (authorization) => {
        const headers = { ...JSON_TYPE, ...(authorization && { Authorization: authorization }) }
        expectToken(await send(await start(), { headers, body: GOOD_JSON }))
      },
    )

    it('Request body: an object', async () => {
      const port = await start()
      for (const body of [[GOOD], GOOD_JSON, null, 1, true]) expectBadRequest(await send(port, asJson(body)))
    })

    it('Rule 1: e-mail and password match a registered account', async () => {
      const tokens = makeIssuer()
      const port = await start({ tokens })
      for (const { id, email } of [ACCOUNTS.alice, ACCOUNTS.bob]) {
        const { authenticationToken } = expectToken(await send(port, asJson({ ...GOOD, email })))
        expect((await tokens.verify(authenticationToken)).accountId).toBe(id)
      }
    })

    it.each([
      ['an e-mail address that is not registered', { ...GOOD, email: 'nobody@example.com' }],
      ['a wrong password', { ...GOOD, password: 'correct horse battery stapler' }],
      ['another account’s password', { email: 'passwordless@example.com', password: GOOD.password }],
      ['an empty e-mail address', { ...GOOD, email: '' }],
      ['an empty password', { ...GOOD, password: '' }],
    ])('Rule 2: %s is 403 with an empty body', async (_what, credentials) => {
      expectForbidden(await send(await start(), asJson(credentials)))
    })

    it('Rule 3: no realm parameter; one that is sent changes nothing', async () => {
      const port = await start()
      expectToken(await send(port, asJson({ ...GOOD, realm: 'north' })))
      expectForbidden(await send(port, asJson({ ...GOOD, password: 'wrong', realm: 'north' })))
    })
  })

  describe('section 5: authentication', () => {
    const login = async (app: ReturnType<typeof service>, path = TOKEN_PATH): Promise<string> =>
      (await request(app).post(path).send(GOOD).expect(200)).body.authenticationToken

    it('1, 2. a protected endpoint takes the token that the token endpoint gave, behind "Bearer"', async () => {
      const app = service()
      const token = await login(app)
      const answer = await request(app).get(STATEMENTS).set('Authorization', `Bearer ${token}`)
      expect(answer).toMatchObject({ status: 200, body: { accountId: ACCOUNTS.alice.id } })
      await request(app).get(STATEMENTS).expect(401)
    })

    it('3. a token of another environment is not valid, though both share a key', async () => {
      const other = service({ tokens: makeIssuer({ issuer: 'https://sandbox.example.com' }) })
      const token = await login(other)
      await request(other).get(STATEMENTS).auth(token, { type: 'bearer' }).expect(200)
      const refused = await request(service()).get(STATEMENTS).auth(token, { type: 'bearer' }).expect(401)
      expect(refused.headers['www-authenticate']).toContain('error="invalid_token"')
    })

    it('4. the same credentials work across the clearing houses, and so does a token of any of them', async () => {
      const accounts = makeStore()
      const app = express().use('/north', clearingHouse({ accounts })).use('/south', clearingHouse({ accounts }))
      for (const from of ['/north', '/south']) {
        const token = await login(app, from + TOKEN_PATH)
        for (const to of ['/north', '/south']) {
          const path = to + STATEMENTS
          await request(app).get(path).auth(token, { type: 'bearer' }).expect(200)
        }
      }
    })
  })

  it('section 7: the reason phrase of invalid credentials is Forbidden', async () => {
    const answer = await request(service()).post(TOKEN_PATH).send({ email: 'nobody', password: 'wrong' })
    expect(answer).toMatchObject({ status: 403, res: { statusMessage: 'Forbidden' } })
  })

  it('section 9: the path carries the version segment v2013, unless the host says otherwise', async () => {
    const options = { tokens: makeIssuer(), accounts: makeStore(), passwords: fastPasswords() }
    const app = express().use(tokenRouter({ ...options, path: '/api/v2014/authentication/token' }))
    await request(app).post('/api/v2014/authentication/token').send(GOOD).expect(200)
    await request(app).post('/api/v2013/authentication/token').send(GOOD).expect(404)
    await request(service()).post('/api/v2013/authentication/token').send(GOOD).expect(200)
  })
})

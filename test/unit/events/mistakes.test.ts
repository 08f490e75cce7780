// Tests events/warnings.ts accounts/mistakes.ts sessions/mistakes.ts tokens/jwt/issue-token.ts

import express, { type Request } from 'express'
import type { AuthOptions, Sessions } from 'express-token-endpoint'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { expectMisuse, rejectionOf } from '../../support/failures.js'
import { asJson, GOOD, packageOn, send } from '../../support/host.js'
import { listen, TOKEN_PATH } from '../../support/http.js'

const warned = vi.fn()
beforeEach(() => {
  warned.mockClear()
  vi.spyOn(process, 'emitWarning').mockImplementation(warned)
})
afterEach(() => vi.restoreAllMocks())

/** Loads a new copy of the package, because a process warns once. */
async function load() {
  const kit = await packageOn(express)
  const passwords = kit.fastPasswords()
  const keys = { alg: 'HS256', secret: kit.SECRET } as const
  const authWith = (options: Pick<AuthOptions, 'accounts'> & Partial<AuthOptions>) =>
    kit.createAuth({ issuer: kit.ISSUER, keys, passwords, limits: false, ...options })
  return { ...kit, tokens: kit.makeIssuer({ lifetime: '1h' }), passwords, authWith }
}
type Kit = Awaited<ReturnType<typeof load>>

const { alice } = (await packageOn(express)).ACCOUNTS

/** Expects one warning for a mistake that is made twice. It names a page, and none of the secrets. */
async function expectWarning(mistake: (kit: Kit) => unknown, says: RegExp, secrets: readonly string[] = []) {
  const kit = await load()
  for (const _ of 'ab') await mistake(kit)
  expect(warned.mock.calls).toEqual([[expect.stringMatching(says), 'ExpressTokenEndpointWarning']])
  expect(warned.mock.calls[0]?.[0]).toMatch(/ See express-token-endpoint\/docs\/\S+\.md$/)
  for (const secret of secrets) expect(String(warned.mock.calls)).not.toContain(secret)
}

async function expectSilence(use: (kit: Kit) => unknown) {
  await use(await load())
  expect(warned.mock.calls).toEqual([])
}

const logInWith = async ({ authWith }: Kit, account: object | null, times = 1) => {
  const { logIn } = authWith({ accounts: () => account as never })
  let result: { account: object } | undefined
  for (let i = 0; i < times; i++) result = await logIn(GOOD).catch(() => undefined)
  return result?.account
}

describe('a subject of issue() with a mistake', () => {
  it.each([
    ['expiresIn', '5m', 'Did you mean "lifetime"?'],
    ['scope', 'reports:read', 'Did you mean "scopes"?'],
    ['id', 'acc-1', 'Did you mean "accountId"?'],
    ['sub', 'acc-1', 'Did you mean "accountId"?'],
    ['role', 'admin', 'Put private claims into "claims"'],
    [
      'colour',
      'red',
      'Put private claims into "claims". Known members: accountId, scopes, claims, lifetime, issuedAt, sessionId, signedInAt',
    ],
  ])('%s is a TypeError with the fix', async (name, value, fix) => {
    const { tokens } = await load()
    const error = await rejectionOf(tokens.issue({ accountId: 'acc-1', [name]: value } as never))
    expectMisuse(() => {
      throw error
    }, `issue: unknown member "${name}". ${fix}`)
  })

  it.each([undefined, null, 'acc-1', 7, ['acc-1']])(
    '%j in place of a subject is a TypeError with the fix',
    async (subject) => {
      const { tokens } = await load()
      const error = await rejectionOf(tokens.issue(subject as never))
      expectMisuse(() => {
        throw error
      }, 'issue: pass an object like { accountId, scopes }')
    },
  )

  it('a longer lifetime than the issuer’s is a warning, once', () =>
    expectWarning(({ tokens }) => tokens.issue({ accountId: 'acc-1', lifetime: '2h' }), /lifetime.*createTokenIssuer/))

  it('the same lifetime is no warning', () =>
    expectSilence(({ tokens }) => tokens.issue({ accountId: 'acc-1', lifetime: '1h' })))

  it.each(['exp', 'sub', 'sid', 'scope'])('the reserved claim %s is a warning, once', (name) =>
    expectWarning(
      ({ tokens }) => tokens.issue({ accountId: 'acc-1', claims: { role: 'admin', [name]: 'private' } }),
      new RegExp(`claim "${name}" .*Rename`),
      ['private'],
    ),
  )

  it('a comma in a scope is a warning, once', () =>
    expectWarning(({ tokens }) => tokens.issue({ accountId: 'acc-1', scopes: ['a,b'] }), /scope.*comma.*\['a', 'b'\]/))

  it('other scopes and claims are no warning', () =>
    expectSilence(({ tokens }) => tokens.issue({ accountId: 'acc-1', scopes: ['a', 'b'], claims: { role: 'x' } })))
})

describe('scopes of a guard with a comma', () => {
  it.each(['scope', 'anyScope'])('text in %s is a TypeError', async (option) => {
    const { requireBearer, tokens } = await load()
    expectMisuse(() => requireBearer({ tokens, [option]: 'a,b' }), /option "\w+" must be .*Separate scopes with spaces/)
  })
  it('in a list is a warning, once', () =>
    expectWarning(({ requireBearer, tokens }) => requireBearer({ tokens, scope: ['a,b'] }), /scope.*comma/))
  it('other scopes are no warning', () =>
    expectSilence(({ requireBearer, tokens }) => {
      requireBearer({ tokens, scope: ['a', 'b'] })
      requireBearer({ tokens, anyScope: ['c'] })
    }))
})

describe('sessions in one place only', () => {
  const appOf = (kit: Kit) => {
    const store = kit.memoryStore()
    const { tokens, sessions } = kit.authWith({ accounts: () => null, store })
    return { store, tokens, sessions: sessions as Sessions }
  }
  const routerOf = ({ tokenRouter, tokens }: Kit) => tokenRouter({ tokens, accounts: () => null, limits: false })
  const guardOf = (kit: Kit) => kit.requireBearer({ tokens: kit.tokens, store: kit.memoryStore() })

  it('an app with sessions and a guard without', () =>
    expectWarning((kit) => kit.requireBearer({ tokens: appOf(kit).tokens }), /guard has no "store".*accepts.*ended/))

  it.each<[string, (kit: Kit) => unknown]>([
    ['a router, then a guard', (kit) => [routerOf(kit), guardOf(kit)]],
    ['a guard, then a router', (kit) => [guardOf(kit), routerOf(kit)]],
  ])('a guard with sessions and a router without: %s', (_, mistake) =>
    expectWarning(mistake, /same tokens without sessions.*refuses/),
  )

  it.each<[string, (kit: Kit) => unknown]>([
    [
      'a guard with the sessions of the app',
      (kit) => {
        const { tokens, store } = appOf(kit)
        kit.requireBearer({ tokens, store })
      },
    ],
    ['a guard of other tokens', (kit) => [appOf(kit), kit.requireBearer({ tokens: kit.makeIssuer() })]],
    ['no sessions', (kit) => [routerOf(kit), kit.requireBearer({ tokens: kit.tokens })]],
    [
      'a guard that looks them up itself',
      (kit) => {
        const { tokens, sessions } = appOf(kit)
        kit.requireBearer({ tokens, isRevoked: (auth) => sessions.isEnded(auth) })
      },
    ],
  ])('%s is no warning', (_, use) => expectSilence(use))

  /** Sends a token without a session to a guard. The guard is created `age` milliseconds after the token. */
  async function refuseToken({ memoryStore, requireBearer, makeIssuer }: Kit, age = 0) {
    const now = 1_800_000_000_000
    const time = vi.spyOn(Date, 'now').mockReturnValue(now - age)
    const tokens = makeIssuer({ clock: Date.now })
    const { token } = await tokens.issue({ accountId: 'acc-1' })
    time.mockReturnValue(now)
    const guard = requireBearer({ tokens, store: memoryStore(), onEvent: () => {} })
    const { port } = await listen(express().use(guard))
    const sent = { method: 'GET', headers: { Authorization: `Bearer ${token}` } }
    expect((await send(port, sent)).status).toBe(401)
  }

  it('a guard that refuses a token while no session was ever started is a warning, once', () =>
    expectWarning((kit) => refuseToken(kit), /no session was ever started.*createAuth.*auth\.signIn/i))

  it('a guard that refuses a token of the time before the guard was created is no warning', () =>
    expectSilence((kit) => refuseToken(kit, 1000)))

  it('a session that was started and has ended is no warning', () =>
    expectSilence(async (kit) => {
      const { tokens, store, sessions } = appOf(kit)
      const { port } = await listen(express().use(kit.requireBearer({ tokens, store, onEvent: () => {} })))
      const { token, id, expiresAt } = await tokens.issue({ accountId: 'acc-1' })
      await sessions.start({ id, accountId: 'acc-1', expiresAt })
      await sessions.endAll('acc-1')
      expect((await send(port, { method: 'GET', headers: { Authorization: `Bearer ${token}` } })).status).toBe(401)
    }))
})

describe('a second object of default limits', () => {
  it.each<[string, (kit: Kit) => unknown]>([
    [
      'one store',
      (kit) => {
        const accounts = kit.makeStore()
        for (const path of ['/a', '/b']) kit.tokenRouter({ tokens: kit.makeIssuer(), accounts, path })
      },
    ],
    [
      'one function',
      (kit) => {
        const accounts = () => null
        kit.authWith({ accounts, limits: undefined })
        kit.tokenRouter({ tokens: kit.tokens, accounts })
      },
    ],
    [
      'one issuer',
      ({ tokenRouter, tokens }) => {
        for (const path of ['/a', '/b']) tokenRouter({ tokens, accounts: () => null, path })
      },
    ],
  ])('for %s is a warning, once', (_, mistake) => expectWarning(mistake, /limits.*createLimits\(\)/))

  it.each<[string, (kit: Kit) => unknown]>([
    [
      'one limits',
      (kit) => {
        const [limits, accounts] = [kit.createLimits(), () => null]
        for (const path of ['/a', '/b']) kit.tokenRouter({ tokens: kit.tokens, accounts, limits, path })
      },
    ],
    [
      'other accounts',
      (kit) => {
        for (const _ of 'ab') kit.authWith({ accounts: () => null, limits: undefined })
      },
    ],
  ])('%s is no warning', (_, use) => expectSilence(use))
})

describe('an account', () => {
  const { scopes: _, ...plain } = alice
  it.each([
    ['role', 'admin', 'scopes'],
    ['roles', ['admin'], 'scopes'],
    ['isAdmin', true, 'scopes'],
    ['permissions', [], 'scopes'],
    ['active', false, 'disabled'],
    ['isActive', true, 'disabled'],
    ['is_active', 1, 'disabled'],
    ['enabled', false, 'disabled'],
    ['blocked', true, 'disabled'],
  ])('with %s and without the member that is read is a warning, once', (name, value, read) =>
    expectWarning((kit) => logInWith(kit, { ...plain, [name]: value }), new RegExp(`"${name}".*"${read}"`)),
  )

  it('with null in such a member is no warning', () => expectSilence((kit) => logInWith(kit, { ...plain, role: null })))

  it('with the members that are read too is no warning', () =>
    expectSilence((kit) => logInWith(kit, { ...alice, role: 'admin', active: true, disabled: false })))

  const HIDDEN = { toJSON: () => ({ id: alice.id }), password: alice.passwordHash }
  it.each<[string, object, boolean]>([
    ['in another member', { ...alice, password_hash: alice.passwordHash }, true],
    ['in a row of its row', { ...alice, local: [{ password: alice.passwordHash }] }, true],
    ['in the user beside it', { account: plain, user: { name: 'Alice', password: alice.passwordHash } }, true],
    ['in no member', alice, false],
    ['in a part of another text', { ...alice, note: `x${alice.passwordHash}` }, true],
    ['in a member that its JSON omits', { account: plain, user: HIDDEN }, false],
    ['in a circle, which has no JSON', { account: plain, user: Object.assign({}, { self: {} }, HIDDEN) }, false],
  ])('with its hash %s: a warning without the hash, if JSON would show it', async (_, account, shows) => {
    const look = (kit: Kit) => logInWith(kit, account)
    if (shows) await expectWarning(look, /JSON of req.user contains the password hash/, [alice.passwordHash])
    else await expectSilence(look)
  })

  it.each([
    ['production', 0],
    ['development', 1],
  ])('whose JSON has its hash, in %s: %i warnings', async (environment, count) => {
    const kit = await load()
    const { token } = await kit.tokens.issue({ accountId: alice.id })
    const accounts = { findByEmail: () => null, findById: () => ({ ...plain, old: alice.passwordHash }) }
    const { port } = await listen(express().use(kit.requireBearer({ tokens: kit.tokens, accounts })))
    vi.stubEnv('NODE_ENV', environment)
    onTestFinished(() => void vi.unstubAllEnvs())
    await send(port, { method: 'GET', headers: { Authorization: `Bearer ${token}` } })
    expect(warned).toHaveBeenCalledTimes(count)
  })

  it('without a password is no warning', () =>
    expectSilence((kit) => logInWith(kit, { ...plain, passwordHash: null, note: 'null' })))

  it('that a guard looks up is noticed too', async () => {
    const kit = await load()
    const row = { ...plain, role: 'admin', password_hash: alice.passwordHash }
    const accounts = { findByEmail: () => row, findById: () => row }
    let user: object | undefined
    const app = express().use(kit.requireBearer({ tokens: kit.tokens, accounts }), (req: Request, res) => {
      user = (req as { user?: object }).user
      res.end()
    })
    const { token } = await kit.tokens.issue({ accountId: alice.id })
    const { port } = await listen(app)
    await send(port, { method: 'GET', headers: { Authorization: `Bearer ${token}` } })
    expect(warned.mock.calls.map(([message]) => message)).toEqual([
      expect.stringMatching(/"role"/),
      expect.stringMatching(/JSON of req.user contains the password hash/),
    ])
    expect(user).toMatchObject({ id: alice.id, role: 'admin' })
  })

  it('that a guard looks up after another one is no warning, because each request looks one up', () =>
    expectSilence(async (kit) => {
      const rows = [plain, { ...plain, role: 'admin' }]
      const accounts = { findByEmail: () => null, findById: () => rows.shift() }
      const { port } = await listen(express().use(kit.requireBearer({ tokens: kit.tokens, accounts })))
      const { token } = await kit.tokens.issue({ accountId: alice.id })
      for (const _ of 'ab') await send(port, { method: 'GET', headers: { Authorization: `Bearer ${token}` } })
      expect(rows).toEqual([])
    }))

  it('ten look-ups without one account are a warning, once', () =>
    expectWarning((kit) => logInWith(kit, null, 10), /10 look-ups.*return.*case/, [GOOD.email]))

  it('nine are no warning, and none after a hit', () =>
    expectSilence(async (kit) => {
      await logInWith(kit, null, 9)
      const { logIn } = kit.authWith({ accounts: kit.makeStore() })
      await logIn(GOOD)
      for (let i = 0; i < 20; i++) await logIn({ ...GOOD, email: 'nobody@example.com' }).catch(() => {})
    }))

  it('in place of disabled a number is an error that says how to convert it', async () => {
    const kit = await load()
    const onEvent = vi.fn()
    const { logIn } = kit.authWith({ accounts: () => ({ ...alice, disabled: 0 }) as never, onEvent })
    await rejectionOf(logIn(GOOD))
    expect(onEvent.mock.calls[0]?.[0].error.message).toMatch(
      /"disabled" must be a boolean, but is a number\. Return Boolean\(/,
    )
  })
})

it.each([
  [0, 'Return Boolean('],
  [undefined, 'Is a "return" missing?'],
])('isRevoked that returns %s is an error with the fix: %s', async (value, fix) => {
  const kit = await load()
  const onEvent = vi.fn()
  const guard = kit.requireBearer({ tokens: kit.tokens, isRevoked: () => value as never, onEvent })
  const { port } = await listen(express().use(guard))
  const { token } = await kit.tokens.issue({ accountId: 'acc-1' })
  expect((await send(port, { method: 'GET', headers: { Authorization: `Bearer ${token}` } })).status).toBe(503)
  expect(onEvent.mock.calls[0]?.[0].error.message).toContain('isRevoked: must return true or false')
  expect(onEvent.mock.calls[0]?.[0].error.message).toContain(fix)
})

it('a function "refuse" that fails is a warning, once', () =>
  expectWarning(async ({ requireBearer, tokens }) => {
    const { port } = await listen(express().use(requireBearer({ tokens, refuse: () => expect.fail('bug') })))
    expect(await send(port, { method: 'GET' })).toMatchObject({ status: 401 })
  }, /^The "refuse" function threw/))

it('an app that calls only auth.logIn gets the warning about its proxy', () =>
  expectWarning(async ({ authWith, makeStore }) => {
    const { logIn } = authWith({ accounts: makeStore() })
    const app = express().post(
      TOKEN_PATH,
      express.json(),
      async (req, res) => void res.json(await logIn(req.body, req)),
    )
    const sent = asJson(GOOD)
    const { port } = await listen(app)
    await send(port, { ...sent, headers: { ...sent.headers, 'X-Forwarded-For': '203.0.113.99' } })
  }, /"trust proxy" is not set/))

import type { AccountStore, AuthOptions, Mail } from 'express-token-endpoint'
import { describe, expect, it } from 'vitest'
import { ACCOUNT, accountPackage, STRONG } from '../../support/account-app.js'
import { deferred } from '../../support/concurrency.js'
import { asForm, expectBadRequest, expectProblem, expectUnavailable } from '../../support/host.js'
import { EXPRESS, TOKEN_PATH } from '../../support/http.js'

const FORGOTTEN = `${ACCOUNT}/password/forgotten`
const RESET = `${ACCOUNT}/password/reset`
const OTHER = 'a second harbour at dusk'

describe.each(EXPRESS)('a reset of the password, on %s', async (_name, express) => {
  const { start, expectNoOvertaking, ACCOUNTS, memoryStore, PASSWORD } = await accountPackage(express)
  const { alice, bob, disabled, passwordless } = ACCOUNTS

  type App = Awaited<ReturnType<typeof start>>

  /** Asks for a code for an account, and returns it. */
  async function mailed(app: App, { email, sent }: { email: string; sent?: object } = alice): Promise<string> {
    expect(await app.call(FORGOTTEN, { email }, sent)).toMatchObject({ status: 202, body: '' })
    return app.codeOf('password-reset')
  }
  const reset = (app: App, code: string, password = STRONG, sent = {}) => app.call(RESET, { code, password }, sent)
  const expectInvalid = (answer: Awaited<ReturnType<typeof reset>>) =>
    expectProblem(answer, 403, 'invalid_code', 'Forbidden')
  const hashOf = async ({ accounts }: App, { id } = alice) => (await accounts.findById(id))?.passwordHash

  it('sets the password of the owner of the mailbox', async () => {
    const app = await start()
    const code = await mailed(app)
    const done = await reset(app, code)
    expect(done).toMatchObject({ status: 204, body: '' })
    expect(done.headers['cache-control']).toBe('no-store')
    expect(done.headers).not.toHaveProperty('set-cookie')
    await app.signIn(alice.email, STRONG)
    expect((await app.call(TOKEN_PATH, { email: alice.email, password: PASSWORD })).status).toBe(403)
    expect(app.of('password.changed')).toMatchObject([{ accountId: alice.id }])
    expect(await app.received('password-changed')).toEqual([
      { kind: 'password-changed', to: alice.email, details: {}, tenant: undefined },
    ])
    expectInvalid(await reset(app, code))
  })

  it('takes a form', async () => {
    const app = await start()
    const form = (path: string, body: object) =>
      app.call(path, undefined, asForm(String(new URLSearchParams({ ...body }))))
    expect((await form(FORGOTTEN, { email: alice.email })).status).toBe(202)
    const code = await app.codeOf('password-reset')
    expect((await form(RESET, { code, password: STRONG })).status).toBe(204)
  })

  it('refuses forms of other sites before it counts or mails', async () => {
    const app = await start()
    const headers = { 'Sec-Fetch-Site': 'cross-site' }
    for (let i = 0; i < 12; i++) {
      const form = asForm(`email=${alice.email}`)
      const answer = await app.call(FORGOTTEN, undefined, { ...form, headers: { ...form.headers, ...headers } })
      expectProblem(answer, 415, 'cross_site_form', 'Unsupported Media Type')
    }
    await app.settle()
    expect(app.mails).toEqual([])
    await mailed(app)
  })

  it('answers in the same way for unknown and disabled accounts, and mails them nothing', async () => {
    const app = await start()
    const answers = await Promise.all(
      [alice.email, 'nobody@example.com', disabled.email, 'no address', 'x\0y', 'x'.repeat(500)].map((email) =>
        app.call(FORGOTTEN, { email }),
      ),
    )
    const same = answers.map(({ status, body, headers: { date: _, ...headers } }) => ({ status, body, headers }))
    expect(new Set(same.map((one) => JSON.stringify(one))).size).toBe(1)
    await app.settle()
    expect(app.mails).toMatchObject([{ kind: 'password-reset', to: alice.email }])
    expect(app.events).toEqual([])
  })

  it.each([
    ['an address', FORGOTTEN, {}],
    ['one address', FORGOTTEN, { email: [alice.email] }],
    ['a code', RESET, { password: STRONG }],
    ['a password', RESET, { code: 'x' }],
    ['a well-formed password', RESET, { code: 'x', password: '\ud800'.repeat(20) }],
  ])('needs %s', async (_what, path, body) => {
    const app = await start()
    expectBadRequest(await app.call(path, body))
  })

  it('mails to the stored address, never to the text of the request', async () => {
    const { accounts } = await start()
    const findByEmail: AccountStore['findByEmail'] = (email) =>
      accounts.findByEmail(email.toLowerCase().split(',')[0] ?? '', {} as never)
    const app = await start({ accounts: { ...accounts, findByEmail } })
    await app.call(FORGOTTEN, { email: `${alice.email.toUpperCase()},mallory@example.com` })
    const code = await app.codeOf('password-reset', alice.email)
    expect((await reset(app, code)).status).toBe(204)
  })

  it('gives the mail nothing of the request', async () => {
    const app = await start({ tenant: () => 'north' })
    await app.call(FORGOTTEN, { email: alice.email, next: 'x' }, { headers: { Host: 'attacker.example.com' } })
    const [mail] = await app.received('password-reset')
    expect(Object.keys(mail as Mail).sort()).toEqual(['code', 'kind', 'tenant', 'to'])
    expect(mail).toMatchObject({ to: alice.email, tenant: 'north' })
  })

  it('ends sessions, refresh tokens and codes, also those of a thief', async () => {
    const app = await start()
    const stolen = await app.signIn(alice.email, PASSWORD)
    const ofBob = await app.signIn(bob.email, PASSWORD)
    await app.call(`${TOKEN_PATH}/mail`, { email: alice.email })
    const signInCode = await app.codeOf('sign-in')
    await app.call(`${ACCOUNT}/address`, { email: 'mallory@example.com' }, { token: stolen.token })
    const addressCode = await app.codeOf('new-address')
    const [first, second] = [await mailed(app), await mailed(app)]
    expect((await reset(app, first)).status).toBe(204)
    expect(await app.isIn(stolen.token)).toBe(401)
    expect((await app.refresh(stolen.refreshToken)).status).toBe(403)
    expect(await app.isIn(ofBob.token)).toBe(200)
    expectInvalid(await reset(app, second, OTHER))
    expect((await app.call(`${TOKEN_PATH}/mail/confirm`, { code: signInCode })).status).toBe(403)
    const { token } = await app.signIn(alice.email, STRONG)
    expectInvalid(await app.call(`${ACCOUNT}/address/confirm`, { code: addressCode }, { token }))
  })

  it('leaves no session of a sign-in in progress', async () => {
    await expectNoOvertaking(async (app) => {
      expect((await reset(app, await mailed(app))).status).toBe(204)
    }, false)
  })

  it('leaves no session of a refresh in progress', async () => {
    const { sessions, ...others } = memoryStore()
    const [reached, go] = [deferred<void>(), deferred<void>()]
    let isRefreshing = false
    const replace: typeof sessions.replace = async (...args) => {
      if (isRefreshing) {
        reached.resolve()
        await go.promise
      }
      return sessions.replace?.(...args) ?? false
    }
    const app = await start({ store: { ...others, sessions: { ...sessions, replace } } })
    const { refreshToken } = await app.signIn(alice.email, PASSWORD)
    const code = await mailed(app)
    isRefreshing = true
    const refreshing = app.refresh(refreshToken)
    await reached.promise
    expect((await reset(app, code)).status).toBe(204)
    go.resolve()
    expect((await refreshing).status).toBe(403)
    expect(await sessions.list(alice.id)).toEqual([])
  })

  it('gives a password to an account without one', async () => {
    const app = await start()
    expect((await reset(app, await mailed(app, passwordless))).status).toBe(204)
    await app.signIn(passwordless.email, STRONG)
  })

  it.each([
    ['too_short', 'short'],
    ['too_short', '\u{1F600}'.repeat(14)],
    ['too_long', 'x'.repeat(257)],
    ['common', 'passwordpassword'],
  ])('refuses a password that is %s, which uses nothing up', async (reason, password) => {
    const app = await start()
    const { token } = await app.signIn(alice.email, PASSWORD)
    const code = await mailed(app)
    const weak = await reset(app, code, password)
    expect(weak.status).toBe(422)
    expect(JSON.parse(weak.body)).toMatchObject({ code: 'weak_password', reason })
    expect(await app.isIn(token)).toBe(200)
    expect((await reset(app, code)).status).toBe(204)
  })

  it('refuses a very long password without hashing it', async () => {
    const app = await start({ bodyLimit: 1_000_000 })
    const code = await mailed(app)
    const weak = await reset(app, code, 'x'.repeat(100_000))
    expect(JSON.parse(weak.body)).toMatchObject({ code: 'weak_password', reason: 'too_long' })
    expect(await hashOf(app)).toBe(alice.passwordHash)
  })

  it('asks no rule of passwords for a code that is not valid', async () => {
    const app = await start()
    for (const code of ['x', 'x'.repeat(43), '']) expectInvalid(await reset(app, code, 'short'))
  })

  it('refuses a code of another purpose, which stays usable', async () => {
    const app = await start()
    await app.call(`${TOKEN_PATH}/mail`, { email: alice.email })
    const code = await app.codeOf('sign-in')
    expectInvalid(await reset(app, code))
    expect((await app.call(`${TOKEN_PATH}/mail/confirm`, { code })).status).toBe(200)
  })

  it('refuses a code of another tenant and of another issuer on the same store', async () => {
    const store = memoryStore()
    const tenant: AuthOptions['tenant'] = ({ req }) => String(req?.headers['x-tenant'])
    const app = await start({ store, tenant })
    const at = (name: string) => ({ headers: { 'X-Tenant': name } })
    const code = await mailed(app, { email: alice.email, sent: at('north') })
    expectInvalid(await reset(app, code, STRONG, at('south')))
    const elsewhere = await start({ store, tenant, issuer: 'https://elsewhere.example.com' })
    expectInvalid(await reset(elsewhere, code, STRONG, at('north')))
    expect((await reset(app, code, STRONG, at('north'))).status).toBe(204)
  })

  it('refuses a code after an hour', async () => {
    let now = Date.now()
    const app = await start({ clock: () => now })
    const [late, inTime] = [await mailed(app), await mailed(app, bob)]
    now += 3_599_999
    expect((await reset(app, inTime)).status).toBe(204)
    now += 1
    expectInvalid(await reset(app, late))
  })

  it('refuses a code whose address is not that of the account any more', async () => {
    const app = await start()
    const code = await mailed(app)
    await app.accounts.replaceEmail(alice.id, alice.email, 'alice@example.org')
    expectInvalid(await reset(app, code))
    expect(await hashOf(app)).toBe(alice.passwordHash)
  })

  it.each([
    ['been disabled', { ...alice, disabled: true }],
    ['been removed', undefined],
  ])('refuses the code of an account that has %s', async (_what, account) => {
    const { accounts } = await start()
    let isChanged = false
    const findById: typeof accounts.findById = (id) => (isChanged ? account : accounts.findById(id))
    const app = await start({ accounts: { ...accounts, findById } })
    const code = await mailed(app)
    isChanged = true
    expectInvalid(await reset(app, code))
  })

  it('refuses the code when another password was set meanwhile, and uses it up', async () => {
    const app = await start()
    const code = await mailed(app)
    await app.accounts.replacePasswordHash(alice.id, alice.passwordHash, `plain:${OTHER}`)
    expectInvalid(await reset(app, code))
    expect(await hashOf(app)).toBe(`plain:${OTHER}`)
    expectInvalid(await reset(app, code, OTHER))
  })

  it('of several resets at once with one code, one sets its password', async () => {
    const app = await start()
    const code = await mailed(app)
    const sent = [STRONG, OTHER, `${OTHER}!`]
    const answers = await Promise.all(sent.map((password) => reset(app, code, password)))
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 403, 403])
    const winner = sent[answers.findIndex(({ status }) => status === 204)]
    expect(await hashOf(app)).toBe(`plain:${winner}`)
  })

  /** Starts an app whose store fails to end the sessions of an account once, after a number of calls. */
  async function startFailing(after: number) {
    const { sessions, ...others } = memoryStore()
    let calls = 0
    const removeAll: typeof sessions.removeAll = async (...args) => {
      if (calls++ === after) throw new Error('down')
      return sessions.removeAll(...args)
    }
    return start({ store: { ...others, sessions: { ...sessions, removeAll } } })
  }

  it('that is cut off before the password is stored can be repeated with any password', async () => {
    const app = await startFailing(0)
    const code = await mailed(app)
    expectUnavailable(await reset(app, code))
    expect([await hashOf(app), app.of('password.changed')]).toEqual([alice.passwordHash, []])
    expect((await reset(app, code, OTHER)).status).toBe(204)
    await app.signIn(alice.email, OTHER)
  })

  it('that is cut off afterwards has ended the sessions, sends the notice, and can be repeated', async () => {
    const app = await startFailing(1)
    const { token } = await app.signIn(alice.email, PASSWORD)
    const code = await mailed(app)
    expectUnavailable(await reset(app, code))
    expect(await app.isIn(token)).toBe(401)
    expect(await app.received('password-changed')).toHaveLength(1)
    expect(app.of('password.changed')).toHaveLength(1)
    await app.signIn(alice.email, STRONG)
    expect((await reset(app, code)).status).toBe(204)
    expectInvalid(await reset(app, code))
  })

  it('that is cut off afterwards checks one other password, and no more', async () => {
    const app = await startFailing(1)
    const code = await mailed(app)
    expectUnavailable(await reset(app, code))
    expectInvalid(await reset(app, code, OTHER))
    expectInvalid(await reset(app, code))
    expect(await hashOf(app)).toBe(`plain:${STRONG}`)
  })

  it('stores nothing when the account changed while the password was hashed', async () => {
    const { accounts } = await start()
    const replacePasswordHash = async () => false
    const app = await start({ accounts: { ...accounts, replacePasswordHash } })
    expectInvalid(await reset(app, await mailed(app)))
    await app.settle()
    expect(app.mails).toEqual([])
    expect(app.of('password.changed')).toEqual([])
  })

  it('is unavailable when the accounts fail, and the code stays', async () => {
    const { accounts } = await start()
    let isDown = true
    const replacePasswordHash: typeof accounts.replacePasswordHash = async (...args) => {
      if (isDown) throw new Error('down')
      return accounts.replacePasswordHash(...args)
    }
    const app = await start({ accounts: { ...accounts, replacePasswordHash } })
    const code = await mailed(app)
    expectUnavailable(await reset(app, code))
    isDown = false
    expect((await reset(app, code)).status).toBe(204)
  })

  it('reports a failure after the response, and nothing secret', async () => {
    const { accounts } = await start()
    const findByEmail = async () => {
      throw new Error('down')
    }
    const app = await start({ accounts: { ...accounts, findByEmail } })
    expect((await app.call(FORGOTTEN, { email: alice.email })).status).toBe(202)
    await app.settle()
    expect(app.events).toMatchObject([{ type: 'dependency.failed', dependency: 'accounts', refused: false }])
  })

  it('reports an account without an address', async () => {
    const { accounts } = await start()
    const app = await start({ accounts: { ...accounts, findByEmail: () => ({ ...alice, email: undefined }) } as never })
    expect((await app.call(FORGOTTEN, { email: alice.email })).status).toBe(202)
    await app.settle()
    expect(app.mails).toEqual([])
    expect(app.events).toMatchObject([
      {
        type: 'dependency.failed',
        dependency: 'accounts',
        accountId: alice.id,
        error: { message: expect.stringContaining('"email"') },
      },
    ])
  })

  it('is limited by the address, for known and unknown ones, and whoever is limited has codes that work', async () => {
    const app = await start()
    const ask = (email: string) => app.call(FORGOTTEN, { email })
    for (const email of [alice.email, 'nobody@example.com']) {
      for (let i = 0; i < 3; i++) expect((await ask(email)).status).toBe(202)
      const limited = await ask(email)
      expectProblem(limited, 429, 'too_many_attempts', 'Too Many Requests')
      expect(limited.headers['retry-after']).toBe('3600')
    }
    const codes = await app.received('password-reset')
    expect(codes).toHaveLength(3)
    expect((await reset(app, codes[0]?.code ?? '')).status).toBe(204)
  })

  it('lets nobody lock the owner out with other spellings', async () => {
    const { accounts } = await start()
    const findByEmail: AccountStore['findByEmail'] = (email) => accounts.findByEmail(email.toLowerCase(), {} as never)
    const app = await start({ accounts: { ...accounts, findByEmail } })
    const spellings = ['ALICE@example.com', 'Alice@example.com', 'aLice@example.com', 'alIce@example.com']
    for (const [i, email] of spellings.entries())
      await app.call(FORGOTTEN, { email }, { headers: { 'X-Forwarded-For': `192.0.2.${i}` } })
    expect((await app.call(FORGOTTEN, { email: alice.email })).status).toBe(202)
    const mails = await app.received('password-reset')
    expect(mails).toHaveLength(3)
    expect((await reset(app, mails[2]?.code ?? '')).status).toBe(204)
  })

  it('leaves other methods of its paths to the host', async () => {
    const app = await start()
    for (const path of [FORGOTTEN, RESET])
      for (const method of ['GET', 'PUT', 'DELETE', 'OPTIONS'])
        expect(await app.call(path, undefined, { method })).toMatchObject({ status: 404, body: 'the host’s own' })
  })

  it.each([
    ['mail', { mail: undefined }, '"mail"'],
    ['a store', { store: undefined, refresh: undefined }, 'store'],
    ['accounts with replacePasswordHash', { replacePasswordHash: undefined }, 'replacePasswordHash'],
    ['accounts with findById', { findById: undefined }, 'findById'],
  ])('needs %s', async (_what, change, says) => {
    const { accounts } = await start()
    const off = { signUp: false, changePassword: false, changeAddress: false, deletion: false, signInByMail: false }
    const options = 'mail' in change || 'store' in change ? change : { accounts: { ...accounts, ...change } }
    await expect(start({ ...off, refresh: undefined, ...options } as never)).rejects.toThrow(says)
  })

  it('is off by default', async () => {
    const app = await start({ passwordReset: undefined })
    for (const path of [FORGOTTEN, RESET]) expect((await app.call(path, {})).body).toBe('the host’s own')
  })
})

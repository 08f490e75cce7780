// Tests login/sign-in-with.ts
import type { AccountStore, AuthOptions, BeforeSignIn } from 'express-token-endpoint'
import { describe, expect, it } from 'vitest'
import { ACCOUNT, accountPackage, STRONG } from '../../support/account-app.js'
import { deferred } from '../../support/concurrency.js'
import { expectBadRequest, expectForbidden, expectProblem, expectUnavailable } from '../../support/host.js'
import { EXPRESS, TOKEN_PATH } from '../../support/http.js'
import { hang } from '../../support/values/invalid-results.js'

const PATH = `${TOKEN_PATH}/mail`
const CONFIRM = `${PATH}/confirm`

describe.each(EXPRESS)('a sign-in by mail, on %s', async (_name, express) => {
  const { start, expectNoOvertaking, ...library } = await accountPackage(express)
  const { ACCOUNTS, AuthError, createLimits, decodePayload, frozenClock, memoryStore, PASSWORD, SignInRefusal } =
    library
  const { alice, disabled, passwordless } = ACCOUNTS

  type App = Awaited<ReturnType<typeof start>>

  /** Asks for a code for an account, and returns it. */
  async function mailed(app: App, { email }: { email: string } = alice, sent = {}): Promise<string> {
    expect(await app.call(PATH, { email }, sent)).toMatchObject({ status: 202, body: '' })
    return app.codeOf('sign-in')
  }
  const confirm = (app: App, code: string, more = {}, sent = {}) => app.call(CONFIRM, { code, ...more }, sent)

  it('signs the owner of the mailbox in', async () => {
    const app = await start()
    const code = await mailed(app)
    const done = await confirm(app, code)
    expect(done.status).toBe(200)
    const { authenticationToken, refreshToken, ...others } = JSON.parse(done.body)
    expect(Object.keys(others)).toEqual(['expiration'])
    expect(done.headers['cache-control']).toBe('no-store')
    expect(decodePayload(authenticationToken)).toMatchObject({ sub: alice.id, amr: ['otp'] })
    expect(await app.isIn(authenticationToken)).toBe(200)
    expect((await app.refresh(refreshToken)).status).toBe(200)
    expect(app.of('token.issued')).toMatchObject([{ accountId: alice.id }])
    expectForbidden(await confirm(app, code))
  })

  it('signs an account in that has no password', async () => {
    const app = await start()
    expect((await confirm(app, await mailed(app, passwordless))).status).toBe(200)
  })

  it('answers in the same way for unknown and disabled accounts, mails them nothing, and creates none', async () => {
    const app = await start()
    const answers = await Promise.all(
      [alice.email, 'nobody@example.com', disabled.email, 'no address'].map((email) => app.call(PATH, { email })),
    )
    const same = answers.map(({ status, body, headers: { date: _, ...headers } }) => ({ status, body, headers }))
    expect(new Set(same.map((one) => JSON.stringify(one))).size).toBe(1)
    await app.settle()
    expect(app.mails).toMatchObject([{ kind: 'sign-in', to: alice.email }])
    expect(await app.accounts.findByEmail('nobody@example.com', {} as never)).toBeUndefined()
  })

  it('sets the cookie where the app has one, without a refresh token in the body', async () => {
    const app = await start({ refresh: 'cookie' })
    const code = await mailed(app)
    const foreign = { headers: { Origin: 'https://attacker.example.com' } }
    expectProblem(await confirm(app, code, {}, foreign), 403, 'cross_site_request', 'Forbidden')
    const done = await confirm(app, code, { remember: false })
    expect(done.status).toBe(200)
    expect(JSON.parse(done.body)).not.toHaveProperty('refreshToken')
    const [cookie] = done.headers['set-cookie'] ?? []
    expect(cookie).toContain(`; Path=${TOKEN_PATH}; HttpOnly`)
    expect(cookie).not.toContain('Max-Age')
  })

  it('has the response of the option respond', async () => {
    const app = await start({ respond: ({ token }) => ({ access: token }) })
    expect(JSON.parse((await confirm(app, await mailed(app))).body)).toEqual({
      access: expect.any(String),
      refreshToken: expect.any(String),
    })
  })

  it('is not refused by the limits of passwords', async () => {
    const app = await start({ limits: createLimits({ limits: { account: { points: 1, duration: '1h' } } }) })
    await app.call(TOKEN_PATH, { email: alice.email, password: 'wrong' })
    expect((await app.call(TOKEN_PATH, { email: alice.email, password: PASSWORD })).status).toBe(429)
    expect((await confirm(app, await mailed(app))).status).toBe(200)
  })

  it('works for ten minutes, also when the account has had all mails of that time', async () => {
    const clock = frozenClock()
    const app = await start({ clock })
    for (let i = 0; i < 3; i++) expect((await app.call(PATH, { email: alice.email })).status).toBe(202)
    const limited = await app.call(PATH, { email: alice.email })
    expectProblem(limited, 429, 'too_many_attempts', 'Too Many Requests')
    expect(limited.headers['retry-after']).toBe('600')
    const [first, second] = await app.received('sign-in')
    clock.advance(599_999)
    expect((await confirm(app, first?.code ?? '')).status).toBe(200)
    clock.advance(1)
    expectForbidden(await confirm(app, second?.code ?? ''))
  })

  it.each([
    ['an address', PATH, {}],
    ['one address', PATH, { email: [alice.email] }],
    ['a code', CONFIRM, {}],
    ['a code that is a text', CONFIRM, { code: 5 }],
  ])('needs %s', async (_what, path, body) => {
    const app = await start()
    expectBadRequest(await app.call(path, body))
  })

  it('refuses an unknown code, and one of another purpose, with an empty body', async () => {
    const app = await start()
    await app.call(`${ACCOUNT}/password/forgotten`, { email: alice.email })
    for (const code of ['x', 'x'.repeat(43), await app.codeOf('password-reset')])
      expectForbidden(await confirm(app, code))
  })

  it('refuses a code of another tenant and of another issuer on the same store', async () => {
    const store = memoryStore()
    const tenant: AuthOptions['tenant'] = ({ req }) => String(req?.headers['x-tenant'])
    const app = await start({ store, tenant })
    const at = (name: string) => ({ headers: { 'X-Tenant': name } })
    const code = await mailed(app, alice, at('north'))
    expectForbidden(await confirm(app, code, {}, at('south')))
    const elsewhere = await start({ store, tenant, issuer: 'https://elsewhere.example.com' })
    expectForbidden(await confirm(elsewhere, code, {}, at('north')))
    expect((await confirm(app, code, {}, at('north'))).status).toBe(200)
  })

  it.each<[string, (accounts: App['accounts']) => unknown]>([
    ['address', (accounts) => accounts.replaceEmail(alice.id, alice.email, 'alice@example.org')],
    ['password', (accounts) => accounts.replacePasswordHash(alice.id, alice.passwordHash, 'plain:x')],
  ])('refuses a code that was mailed before a change of the %s', async (_what, change) => {
    const app = await start()
    const code = await mailed(app)
    await change(app.accounts)
    expectForbidden(await confirm(app, code))
  })

  it.each<[string, object | undefined]>([
    ['been disabled', { ...alice, disabled: true }],
    ['been removed', undefined],
    ['ended its tokens', { ...alice, tokensValidAfter: new Date(9e12) }],
  ])('refuses the code of an account that has %s', async (_what, account) => {
    const { accounts } = await start()
    let isChanged = false
    const findById = ((id) => (isChanged ? account : accounts.findById(id))) as typeof accounts.findById
    const app = await start({ accounts: { ...accounts, findById } })
    const code = await mailed(app)
    isChanged = true
    expectForbidden(await confirm(app, code))
    expect(await app.store.sessions.list(alice.id)).toEqual([])
  })

  it('of several uses of a code at once, one signs in, and no other session stays', async () => {
    const app = await start()
    const code = await mailed(app)
    const answers = await Promise.all([1, 2, 3].map(() => confirm(app, code)))
    const [one, ...others] = answers.map(({ status }) => status).sort()
    expect(one).toBe(200)
    // While one is in progress, another one may be sent again.
    for (const status of others) expect([403, 503]).toContain(status)
    expect(await app.store.sessions.list(alice.id)).toHaveLength(1)
  })

  it('of another sign-in in progress leaves no session when the account changes', async () => {
    await expectNoOvertaking((app) => app.accounts.replaceEmail(alice.id, alice.email, 'alice@example.org'), true)
  })

  describe('with beforeSignIn', () => {
    /** Starts an app whose step refuses all codes of a second factor but `right`. */
    function startAsking(refusal: () => unknown, timeout?: string) {
      const asked: unknown[] = []
      const beforeSignIn: BeforeSignIn = async ({ account, method, amr, fields }) => {
        asked.push([(account as { id: string }).id, method, amr, { ...fields }])
        if (fields['otp'] === 'right') return
        const thrown = await refusal()
        if (thrown) throw thrown
      }
      const options = { beforeSignIn, extraFields: ['otp'], ...(timeout && { timeout }) } as Partial<AuthOptions>
      return start(options).then((app) => ({ ...app, asked }))
    }

    it('asks it with the method and the fields', async () => {
      const app = await startAsking(() => undefined)
      expect((await confirm(app, await mailed(app), { otp: '1', other: 'x' })).status).toBe(200)
      expect(app.asked).toEqual([[alice.id, 'mail', ['otp'], { otp: '1' }]])
    })

    it('gives its terms to the token', async () => {
      const app = await start({ beforeSignIn: () => ({ claims: { team: 'north' } }) })
      const { authenticationToken } = JSON.parse((await confirm(app, await mailed(app))).body)
      expect(decodePayload(authenticationToken)).toMatchObject({ team: 'north' })
    })

    it.each<[string, () => unknown, number]>([
      ['refuses', () => new SignInRefusal('code_required', { status: 422 }), 422],
      ['fails', () => new Error('down'), 503],
    ])('that %s uses no code up', async (_what, refusal, status) => {
      const app = await startAsking(refusal)
      const code = await mailed(app)
      expect((await confirm(app, code)).status).toBe(status)
      expect(await app.store.sessions.list(alice.id)).toEqual([])
      expect((await confirm(app, code, { otp: 'right' })).status).toBe(200)
    })

    it.each<[string, () => unknown, number]>([
      ['counts a failure', () => new SignInRefusal('wrong_code', { countAsFailure: true }), 403],
      ['says that the credentials are wrong', () => new AuthError('invalid_credentials'), 403],
    ])('that %s uses the code up, so that a mailed code checks one guess', async (_what, refusal, status) => {
      const app = await startAsking(refusal)
      const code = await mailed(app)
      expect((await confirm(app, code, { otp: 'wrong' })).status).toBe(status)
      expectForbidden(await confirm(app, code, { otp: 'right' }))
    })

    it('is asked about one of many guesses at once', async () => {
      const [reached, go] = [deferred<void>(), deferred<void>()]
      const app = await startAsking(async () => {
        reached.resolve()
        await go.promise
        return new SignInRefusal('wrong_code', { countAsFailure: true })
      })
      const code = await mailed(app)
      const first = confirm(app, code, { otp: '0' })
      await reached.promise
      expect((await confirm(app, code, { otp: 'right' })).status).toBe(503)
      go.resolve()
      expect((await first).status).toBe(403)
      expectForbidden(await confirm(app, code, { otp: 'right' }))
      expect(app.asked).toHaveLength(1)
    })

    it('that is late after it got a field uses the code up, and without one it does not', async () => {
      const app = await startAsking(hang, '50ms')
      const [first, second] = [await mailed(app), await mailed(app)]
      expectUnavailable(await confirm(app, first))
      expectUnavailable(await confirm(app, second, { otp: 'wrong' }))
      expectForbidden(await confirm(app, second, { otp: 'right' }))
      expect((await confirm(app, first, { otp: 'right' })).status).toBe(200)
    })
  })

  it('uses no code up when the session cannot start', async () => {
    const { sessions, ...others } = memoryStore()
    let isDown = true
    const add: typeof sessions.add = (session) => {
      if (isDown) throw new Error('down')
      return sessions.add(session)
    }
    const app = await start({ store: { ...others, sessions: { ...sessions, add } } })
    const code = await mailed(app)
    expectUnavailable(await confirm(app, code))
    isDown = false
    expect((await confirm(app, code)).status).toBe(200)
  })

  it('leaves no session when the code cannot be used up', async () => {
    const { codes, ...others } = memoryStore()
    const take = () => {
      throw new Error('down')
    }
    const app = await start({ store: { ...others, codes: { ...codes, take } } })
    expectUnavailable(await confirm(app, await mailed(app)))
    expect(await app.store.sessions.list(alice.id)).toEqual([])
  })

  it('works without sessions, and then a code works once too', async () => {
    const { codes } = memoryStore()
    const off = { changePassword: false, passwordReset: false, changeAddress: false, deletion: false, signUp: false }
    const app = await start({ ...off, refresh: undefined, store: { codes } })
    const code = await mailed(app)
    const answers = await Promise.all([confirm(app, code), confirm(app, code)])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 403])
  })

  it('mails to the stored address, never to the text of the request', async () => {
    const { accounts } = await start()
    const findByEmail: AccountStore['findByEmail'] = (email) =>
      accounts.findByEmail(email.toLowerCase().split(',')[0] ?? '', {} as never)
    const app = await start({ accounts: { ...accounts, findByEmail } })
    await app.call(PATH, { email: `${alice.email.toUpperCase()},mallory@example.com` })
    expect((await confirm(app, await app.codeOf('sign-in', alice.email))).status).toBe(200)
  })

  it('keeps the 405 of paths below the token endpoint', async () => {
    const app = await start()
    for (const path of [PATH, CONFIRM]) {
      const answer = await app.call(path, undefined, { method: 'PUT' })
      expectProblem(answer, 405, 'method_not_allowed', 'Method Not Allowed')
      expect(answer.headers['allow']).toBe('POST')
    }
  })

  it.each([
    ['mail', { mail: undefined }, '"mail"'],
    ['codes', { store: undefined }, 'store'],
    ['accounts with findById', { findById: undefined }, 'findById'],
  ])('needs %s', async (_what, without, says) => {
    const { accounts } = await start()
    const off = { signUp: false, passwordReset: false, changePassword: false, changeAddress: false, deletion: false }
    const options = 'findById' in without ? { accounts: { ...accounts, ...without } } : without
    await expect(start({ ...off, refresh: undefined, ...options } as never)).rejects.toThrow(says)
  })

  it('needs a name other than "code" for the code of a second factor', async () => {
    await expect(start({ extraFields: ['otp', 'code'] })).rejects.toThrow(
      'option "extraFields" must not include "code"',
    )
    await start({ extraFields: ['code'], signInByMail: false })
  })

  it('is off by default', async () => {
    const app = await start({ signInByMail: undefined })
    for (const path of [PATH, CONFIRM]) expect((await app.call(path, {})).body).toBe('the host’s own')
  })

  it('confirms a sign-up in no way', async () => {
    const app = await start()
    await app.call(ACCOUNT, { email: 'carol@example.com' })
    const code = await app.codeOf('sign-up')
    expectForbidden(await confirm(app, code))
    expect((await app.call(`${ACCOUNT}/confirm`, { code, password: STRONG })).status).toBe(200)
  })
})

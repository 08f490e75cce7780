import type { AuthOptions } from 'express-token-endpoint'
import { describe, expect, it } from 'vitest'
import { ACCOUNT, accountPackage, STRONG } from '../../support/account-app.js'
import { expectBadRequest, expectProblem, expectUnavailable } from '../../support/host.js'
import { EXPRESS, TOKEN_PATH } from '../../support/http.js'

const PATH = `${ACCOUNT}/password`

describe.each(EXPRESS)('a change of the password, on %s', async (_name, express) => {
  const { start, expectOnlyUsers, expectNoOvertaking, ...library } = await accountPackage(express)
  const { ACCOUNTS, createLimits, frozenClock, ISSUER, memoryStore, PASSWORD } = library
  const { alice, bob, passwordless } = ACCOUNTS

  type App = Awaited<ReturnType<typeof start>>

  const GOOD = { password: PASSWORD, newPassword: STRONG }
  const change = (app: App, token: string, body: object = GOOD) => app.call(PATH, body, { token })
  const hashOf = async ({ accounts }: App) => (await accounts.findById(alice.id))?.passwordHash
  const expectWrong = (answer: Awaited<ReturnType<typeof change>>) =>
    expectProblem(answer, 403, 'invalid_credentials', 'Forbidden')

  it('sets the new password, keeps its own session with its refresh, and ends the others and all codes', async () => {
    const app = await start()
    const [mine, other] = [await app.signIn(alice.email, PASSWORD), await app.signIn(alice.email, PASSWORD)]
    const ofBob = await app.signIn(bob.email, PASSWORD)
    await app.call(`${ACCOUNT}/password/forgotten`, { email: alice.email })
    const code = await app.codeOf('password-reset')
    const done = await change(app, mine.token)
    expect(done).toMatchObject({ status: 204, body: '' })
    expect(done.headers['cache-control']).toBe('no-store')
    for (const [token, status] of [
      [mine.token, 200],
      [other.token, 401],
      [ofBob.token, 200],
    ] as const)
      expect(await app.isIn(token)).toBe(status)
    expect((await app.refresh(mine.refreshToken)).status).toBe(200)
    expect((await app.refresh(other.refreshToken)).status).toBe(403)
    expect((await app.call(`${ACCOUNT}/password/reset`, { code, password: STRONG })).status).toBe(403)
    await app.signIn(alice.email, STRONG)
    expect((await app.call(TOKEN_PATH, { email: alice.email, password: PASSWORD })).status).toBe(403)
    expect(app.of('password.changed')).toMatchObject([{ accountId: alice.id }])
    expect(await app.received('password-changed')).toEqual([
      { kind: 'password-changed', to: alice.email, details: {}, tenant: undefined },
    ])
  })

  it('admits only users in person', () => expectOnlyUsers(PATH, GOOD))

  it('needs no recent sign-in, because it needs the old password', async () => {
    const clock = frozenClock()
    const app = await start({ clock })
    const { token } = await app.signIn(alice.email, PASSWORD)
    clock.advance(1_800_000)
    expect((await change(app, token)).status).toBe(204)
  })

  it('works without mails and codes, and then sends no notice', async () => {
    const { sessions } = memoryStore()
    const off = { signUp: false, passwordReset: false, changeAddress: false, signInByMail: false, mail: undefined }
    const app = await start({ ...off, store: { sessions } })
    const { token } = await app.signIn(alice.email, PASSWORD)
    expect((await change(app, token)).status).toBe(204)
    await app.settle()
    expect(app.mails).toEqual([])
  })

  it('leaves no session of a sign-in in progress', async () => {
    await expectNoOvertaking(async (app, token) => {
      expect((await change(app, token)).status).toBe(204)
    }, true)
  })

  it.each([
    ['no new password', { password: PASSWORD }],
    ['a new password that is no text', { password: PASSWORD, newPassword: 5 }],
    ['an old password that is no text', { password: 5, newPassword: STRONG }],
  ])('refuses a body with %s', async (_what, body) => {
    const app = await start()
    const { token } = await app.signIn(alice.email, PASSWORD)
    expectBadRequest(await change(app, token, body))
  })

  it.each([{ password: 'wrong' }, { password: '' }, {}, { password: null }])(
    'refuses a wrong old password, and changes nothing: %j',
    async (old) => {
      const app = await start()
      const { token } = await app.signIn(alice.email, PASSWORD)
      const other = await app.signIn(alice.email, PASSWORD)
      expectWrong(await change(app, token, { ...old, newPassword: STRONG }))
      await app.settle()
      expect([await hashOf(app), app.mails, await app.isIn(other.token)]).toEqual([alice.passwordHash, [], 200])
      expect(app.of('token.refused')).toMatchObject([{ accountId: alice.id, reason: 'wrong_password' }])
    },
  )

  it('counts a wrong old password as a failed login, in the same limits', async () => {
    const limits = createLimits({ limits: { account: { points: 2, duration: '1h' } } })
    const app = await start({ limits })
    const { token } = await app.signIn(alice.email, PASSWORD)
    expectWrong(await change(app, token, { ...GOOD, password: 'wrong' }))
    expect((await app.call(TOKEN_PATH, { email: alice.email, password: 'wrong' })).status).toBe(403)
    const limited = await change(app, token)
    expectProblem(limited, 429, 'too_many_attempts', 'Too Many Requests')
    expect(limited.headers['retry-after']).toMatch(/^\d+$/)
    expect((await app.call(TOKEN_PATH, { email: alice.email, password: PASSWORD })).status).toBe(429)
    expect(await hashOf(app)).toBe(alice.passwordHash)
  })

  it.each([
    ['here', PATH],
    ['at the step-up', `${TOKEN_PATH}/confirm`],
  ])('gives no more guesses to a client that names other tenants, %s', async (_what, path) => {
    const limits = createLimits({ limits: { account: { points: 2, duration: '1h' } } })
    const tenant: AuthOptions['tenant'] = ({ fields }) => String(fields['tenant'] ?? 'north')
    const app = await start({ limits, tenant, extraFields: ['tenant'] })
    const { token } = await app.signIn(alice.email, PASSWORD)
    const guess = (password: string, of: string) =>
      app.call(path, { password, newPassword: STRONG, tenant: of }, { token })
    for (const of of ['a', 'b']) expect((await guess('wrong', of)).status).toBe(403)
    expect((await guess(PASSWORD, 'c')).status).toBe(403)
    expect(await app.accounts.findById(alice.id)).toEqual(alice)
    await limits.reset({ id: alice.id, email: alice.email, tenant: 'north' })
    expect((await guess(PASSWORD, 'north')).status).toBe(path === PATH ? 204 : 200)
  })

  it('does not ask beforeSignIn, because it is no sign-in', async () => {
    const asked: string[] = []
    const app = await start({ beforeSignIn: ({ method }) => void asked.push(method) })
    const { token } = await app.signIn(alice.email, PASSWORD)
    expect((await change(app, token)).status).toBe(204)
    expect(asked).toEqual(['password'])
  })

  it.each([
    ['too_short', 'short'],
    ['too_long', 'x'.repeat(257)],
    ['common', 'passwordpassword'],
  ])('refuses a password that is %s', async (reason, newPassword) => {
    const app = await start()
    const { token } = await app.signIn(alice.email, PASSWORD)
    const weak = await change(app, token, { ...GOOD, newPassword })
    expect(weak.status).toBe(422)
    expect(JSON.parse(weak.body)).toMatchObject({ code: 'weak_password', reason })
    expect(await hashOf(app)).toBe(alice.passwordHash)
    expect((await change(app, token)).status).toBe(204)
  })

  it.each([{}, { password: null }, { password: '' }])(
    'needs a recent sign-in of an account without a password: %j',
    async (old) => {
      const clock = frozenClock()
      const app = await start({ clock })
      const { authenticationToken: token } = JSON.parse((await app.call(`/host/${passwordless.id}`, {})).body)
      clock.advance(600_001)
      const late = await change(app, token, { ...old, newPassword: STRONG })
      expect(late.status).toBe(401)
      expect(JSON.parse(late.body)).toMatchObject({ code: 'insufficient_user_authentication' })
      expect(late.headers['www-authenticate']).toContain('max_age="600"')
      expect(late.headers['www-authenticate']).toContain(`realm="${ISSUER}"`)
      clock.advance(-1)
      expect((await change(app, token, { ...old, newPassword: STRONG })).status).toBe(204)
      await app.signIn(passwordless.email, STRONG)
    },
  )

  it('of two changes at once, one sets its password', async () => {
    const app = await start()
    const { token } = await app.signIn(alice.email, PASSWORD)
    const sent = [STRONG, `${STRONG}!`]
    const answers = await Promise.all(sent.map((newPassword) => change(app, token, { ...GOOD, newPassword })))
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 403])
    const winner = sent[answers.findIndex(({ status }) => status === 204)]
    expect(await hashOf(app)).toBe(`plain:${winner}`)
  })

  /** Starts an app whose store fails to end the sessions of an account at one of the calls. */
  async function startFailing(at: number) {
    const { sessions, ...others } = memoryStore()
    let calls = 0
    const removeAll: typeof sessions.removeAll = async (...args) => {
      if (calls++ === at) throw new Error('down')
      return sessions.removeAll(...args)
    }
    return start({ store: { ...others, sessions: { ...sessions, removeAll } } })
  }

  it('that is cut off before the password is stored can be repeated', async () => {
    const app = await startFailing(0)
    const { token } = await app.signIn(alice.email, PASSWORD)
    expectUnavailable(await change(app, token))
    expect([await hashOf(app), app.of('password.changed')]).toEqual([alice.passwordHash, []])
    expect((await change(app, token)).status).toBe(204)
  })

  it('that is cut off afterwards has ended the other sessions, and has sent the notice', async () => {
    const app = await startFailing(1)
    const { token } = await app.signIn(alice.email, PASSWORD)
    const other = await app.signIn(alice.email, PASSWORD)
    expectUnavailable(await change(app, token))
    expect([await hashOf(app), await app.isIn(other.token)]).toEqual([`plain:${STRONG}`, 401])
    expect((await app.refresh(other.refreshToken)).status).toBe(403)
    expect(app.of('password.changed')).toHaveLength(1)
    expect(await app.received('password-changed')).toHaveLength(1)
    await app.signIn(alice.email, STRONG)
  })

  it('sends the notice also when its own session cannot be checked after the password was stored', async () => {
    const { sessions, ...others } = memoryStore()
    const { accounts } = await start()
    let isDown = false
    const find: typeof sessions.find = (id) => {
      if (isDown) throw new Error('down')
      return sessions.find(id)
    }
    const replacePasswordHash: typeof accounts.replacePasswordHash = async (...args) => {
      isDown = true
      return accounts.replacePasswordHash(...args)
    }
    const store = { ...others, sessions: { ...sessions, find } }
    const app = await start({ accounts: { ...accounts, replacePasswordHash }, store })
    const { token } = await app.signIn(alice.email, PASSWORD)
    expectUnavailable(await change(app, token))
    expect(app.of('password.changed')).toHaveLength(1)
    expect(await app.received('password-changed')).toHaveLength(1)
  })

  it('is unavailable when the accounts fail', async () => {
    const { accounts } = await start()
    const replacePasswordHash = async () => {
      throw new Error('down')
    }
    const app = await start({ accounts: { ...accounts, replacePasswordHash } })
    const { token } = await app.signIn(alice.email, PASSWORD)
    expectUnavailable(await change(app, token))
  })

  it('refuses an account that was disabled meanwhile', async () => {
    const { accounts } = await start()
    let lookUps = 0
    const findById: typeof accounts.findById = async (id) => {
      const found = await accounts.findById(id)
      // The guard looks the account up first.
      return found && { ...found, disabled: lookUps++ > 0 }
    }
    const app = await start({ refresh: undefined, accounts: { ...accounts, findById } })
    const { token } = await app.signIn(alice.email, PASSWORD)
    lookUps = 0
    expectProblem(await change(app, token), 401, 'invalid_token', 'Unauthorized')
    expect(await hashOf(app)).toBe(alice.passwordHash)
  })

  it('leaves other methods of its path to the host', async () => {
    const app = await start()
    for (const method of ['GET', 'PUT', 'DELETE', 'OPTIONS'])
      expect(await app.call(PATH, undefined, { method })).toMatchObject({ status: 404, body: 'the host’s own' })
  })

  it.each([
    ['a store', { store: undefined, refresh: undefined }, 'store'],
    ['accounts with replacePasswordHash', { replacePasswordHash: undefined }, 'replacePasswordHash'],
  ])('needs %s', async (_what, without, says) => {
    const { accounts } = await start()
    const off = { signUp: false, passwordReset: false, changeAddress: false, deletion: false, signInByMail: false }
    const options = 'store' in without ? without : { accounts: { ...accounts, ...without } }
    await expect(start({ ...off, refresh: undefined, ...options } as never)).rejects.toThrow(says)
  })

  it('is off by default', async () => {
    const app = await start({ changePassword: undefined })
    expect((await app.call(PATH, {})).body).toBe('the host’s own')
  })
})

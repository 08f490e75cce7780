import { describe, expect, it } from 'vitest'
import { ACCOUNT, accountPackage, STRONG } from '../../support/account-app.js'
import { expectProblem, expectUnavailable } from '../../support/host.js'
import { EXPRESS, TOKEN_PATH } from '../../support/http.js'

describe.each(EXPRESS)('a deletion, on %s', async (_name, express) => {
  const { start, expectOnlyUsers, expectRecent, expectNoOvertaking, ...library } = await accountPackage(express)
  const { ACCOUNTS, memoryStore, PASSWORD } = library
  const { alice, bob } = ACCOUNTS

  type App = Awaited<ReturnType<typeof start>>

  const remove = (app: App, token: string, sent = {}) =>
    app.call(ACCOUNT, undefined, { method: 'DELETE', token, ...sent })

  it('removes the account with its sessions and codes, and no others', async () => {
    const app = await start()
    const [mine, other] = [await app.signIn(alice.email, PASSWORD), await app.signIn(alice.email, PASSWORD)]
    const ofBob = await app.signIn(bob.email, PASSWORD)
    await app.call(`${ACCOUNT}/password/forgotten`, { email: alice.email })
    await app.call(`${TOKEN_PATH}/mail`, { email: alice.email })
    const [reset, signIn] = [await app.codeOf('password-reset'), await app.codeOf('sign-in')]
    const done = await remove(app, mine.token)
    expect(done).toMatchObject({ status: 204, body: '' })
    expect(done.headers['cache-control']).toBe('no-store')
    expect(done.headers).not.toHaveProperty('set-cookie')
    expect(await app.accounts.findById(alice.id)).toBeUndefined()
    expect(await app.store.sessions.list(alice.id)).toEqual([])
    for (const { token, refreshToken } of [mine, other]) {
      expect(await app.isIn(token)).toBe(401)
      expect((await app.refresh(refreshToken)).status).toBe(403)
    }
    expect(await app.isIn(ofBob.token)).toBe(200)
    expect((await app.call(`${ACCOUNT}/password/reset`, { code: reset, password: STRONG })).status).toBe(403)
    expect((await app.call(`${TOKEN_PATH}/mail/confirm`, { code: signIn })).status).toBe(403)
    expect((await app.call(TOKEN_PATH, { email: alice.email, password: PASSWORD })).status).toBe(403)
    expect(app.of('account.removed')).toMatchObject([{ accountId: alice.id }])
    expect((await remove(app, mine.token)).status).toBe(401)
  })

  it('works at the path with a slash', async () => {
    const app = await start()
    const { token } = await app.signIn(alice.email, PASSWORD)
    expect((await remove(app, token, { path: `${ACCOUNT}/` })).status).toBe(204)
  })

  it('admits only users in person', () => expectOnlyUsers(ACCOUNT, undefined, 'DELETE'))

  it('needs a recent sign-in', () => expectRecent(ACCOUNT, undefined, 'DELETE', 204))

  it('leaves no session of a sign-in in progress', async () => {
    await expectNoOvertaking(async (app, token) => {
      expect((await remove(app, token)).status).toBe(204)
    }, false)
  })

  it('deletes the cookie at the path of the token endpoint, and refuses pages of other origins', async () => {
    const app = await start({ refresh: 'cookie' })
    const { authenticationToken: token } = JSON.parse(
      (await app.call(TOKEN_PATH, { email: alice.email, password: PASSWORD })).body,
    )
    const foreign = { headers: { Origin: 'https://attacker.example.com' } }
    expectProblem(await remove(app, token, foreign), 403, 'cross_site_request', 'Forbidden')
    const done = await remove(app, token)
    expect(done.status).toBe(204)
    expect(done.headers['set-cookie']).toEqual([
      `__Secure-refresh=; Path=${TOKEN_PATH}; Max-Age=0; HttpOnly; Secure; SameSite=Strict`,
    ])
  })

  it('ends the sessions before it removes the account, and again afterwards', async () => {
    const { accounts } = await start()
    const steps: string[] = []
    const { sessions, codes } = memoryStore()
    const app = await start({
      accounts: {
        ...accounts,
        async remove(id) {
          steps.push('account')
          await accounts.remove(id)
        },
      },
      store: {
        sessions: {
          ...sessions,
          async removeAll(...args) {
            steps.push('sessions')
            return sessions.removeAll(...args)
          },
        },
        codes: {
          ...codes,
          async removeAll(...args) {
            steps.push('codes')
            return codes.removeAll(...args)
          },
        },
      },
    })
    const { token } = await app.signIn(alice.email, PASSWORD)
    expect((await remove(app, token)).status).toBe(204)
    expect(steps).toEqual(['sessions', 'codes', 'account', 'sessions', 'codes'])
  })

  it('has the tenant in its event where the request alone tells it, and works where only a body tells it', async () => {
    const byRequest = await start({ tenant: ({ req }) => String(req?.headers['x-tenant']) })
    const { token } = await byRequest.signIn(alice.email, PASSWORD)
    expect((await remove(byRequest, token, { headers: { 'X-Tenant': 'north' } })).status).toBe(204)
    expect(byRequest.of('account.removed')).toMatchObject([{ tenant: 'north' }])
    const byBody = await start({ extraFields: ['team'], tenant: ({ fields }) => fields['team'] as string })
    const sent = { email: alice.email, password: PASSWORD, team: 'north' }
    const answer = await byBody.call(TOKEN_PATH, sent)
    expect((await remove(byBody, JSON.parse(answer.body).authenticationToken)).status).toBe(204)
    expect(byBody.of('account.removed')[0]).not.toHaveProperty('tenant')
  })

  it('works with a store of sessions only, and without mails', async () => {
    const { sessions } = memoryStore()
    const off = { signUp: false, passwordReset: false, changeAddress: false, signInByMail: false, mail: undefined }
    const app = await start({ ...off, store: { sessions } })
    const { token } = await app.signIn(alice.email, PASSWORD)
    expect((await remove(app, token)).status).toBe(204)
    expect(await app.accounts.findById(alice.id)).toBeUndefined()
  })

  it('is unavailable when the accounts fail, and can be done again after a new sign-in', async () => {
    const { accounts } = await start()
    let isDown = true
    const app = await start({
      accounts: {
        ...accounts,
        async remove(id) {
          if (isDown) throw new Error('down')
          await accounts.remove(id)
        },
      },
    })
    const { token } = await app.signIn(alice.email, PASSWORD)
    expectUnavailable(await remove(app, token))
    expect([app.of('account.removed'), await app.isIn(token)]).toEqual([[], 401])
    isDown = false
    expect((await remove(app, (await app.signIn(alice.email, PASSWORD)).token)).status).toBe(204)
  })

  it('of two requests at once, both see the account gone, and one event says so at least', async () => {
    const app = await start()
    const { token } = await app.signIn(alice.email, PASSWORD)
    const answers = await Promise.all([remove(app, token), remove(app, token)])
    for (const { status } of answers) expect([204, 401]).toContain(status)
    expect(await app.accounts.findById(alice.id)).toBeUndefined()
    expect(app.of('account.removed').length).toBeGreaterThan(0)
  })

  it('leaves other methods of its path to the host', async () => {
    const app = await start({ signUp: false })
    for (const method of ['GET', 'POST', 'PUT', 'OPTIONS'])
      expect(await app.call(ACCOUNT, undefined, { method })).toMatchObject({ status: 404, body: 'the host’s own' })
  })

  it('shares its path with the sign-up', async () => {
    const app = await start()
    for (const method of ['GET', 'PUT', 'OPTIONS'])
      expect((await app.call(ACCOUNT, undefined, { method })).body).toBe('the host’s own')
    expect((await app.call(ACCOUNT, { email: 'carol@example.com' })).status).toBe(202)
    expect((await app.call(ACCOUNT, undefined, { method: 'DELETE' })).status).toBe(401)
  })

  it.each([
    ['a store', { store: undefined, refresh: undefined }, 'store'],
    ['accounts with remove', { remove: undefined }, 'remove'],
  ])('needs %s', async (_what, without, says) => {
    const { accounts } = await start()
    const off = {
      signUp: false,
      passwordReset: false,
      changePassword: false,
      changeAddress: false,
      signInByMail: false,
    }
    const options = 'store' in without ? without : { accounts: { ...accounts, ...without } }
    await expect(start({ ...off, ...options } as never)).rejects.toThrow(says)
  })

  it('is off by default', async () => {
    const app = await start({ deletion: undefined })
    expect((await app.call(ACCOUNT, undefined, { method: 'DELETE' })).body).toBe('the host’s own')
  })
})

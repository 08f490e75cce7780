import type { AccountStore, AuthOptions } from 'express-token-endpoint'
import { describe, expect, it } from 'vitest'
import { accountPackage } from '../../support/account-app.js'
import { EXPRESS, TOKEN_PATH } from '../../support/http.js'

describe.each(EXPRESS)('the notice of a used up limit, on %s', async (_name, express) => {
  const { start, ACCOUNTS, createLimits, PASSWORD } = await accountPackage(express)
  const { alice, bob, disabled, passwordless } = ACCOUNTS

  type App = Awaited<ReturnType<typeof start>>

  /** Starts an app whose limit of an account is one failure, which ignores dots in addresses. */
  async function startLimited(change: Partial<AuthOptions> = {}, limits: object = {}) {
    const { accounts } = await start()
    const findByEmail: AccountStore['findByEmail'] = (email) =>
      accounts.findByEmail(email.replace(/\.(?=.*@)/g, ''), {} as never)
    const account = { points: 1, duration: '1h' } as const
    return start({
      accounts: { ...accounts, findByEmail },
      limits: createLimits({ limits: { account, pair: false, address: false, ...limits } }),
      ...change,
    })
  }
  const guess = (app: App, email: string = alice.email, sent = {}) =>
    app.call(TOKEN_PATH, { email, password: 'wrong' }, sent)
  const blocked = (to: string, tenant?: string) => ({ kind: 'sign-in-blocked', to, details: {}, tenant })

  it('goes to the owner after a refusal, not after a failure', async () => {
    const app = await startLimited()
    expect((await guess(app)).status).toBe(403)
    await app.settle()
    expect(app.mails).toEqual([])
    expect((await app.call(TOKEN_PATH, { email: alice.email, password: PASSWORD })).status).toBe(429)
    expect(await app.received('sign-in-blocked')).toEqual([blocked(alice.email)])
  })

  it('is sent once for auth.router and auth.logIn together', async () => {
    const app = await startLimited()
    const logIn = () => app.auth.logIn({ email: alice.email, password: 'wrong' }, { address: '192.0.2.9' })
    await guess(app)
    await expect(logIn()).rejects.toMatchObject({ code: 'too_many_attempts' })
    await app.settle()
    await guess(app)
    await expect(logIn()).rejects.toMatchObject({ code: 'too_many_attempts' })
    expect(await app.received('sign-in-blocked')).toEqual([blocked(alice.email)])
  })

  it('is sent for auth.logIn', async () => {
    const app = await startLimited()
    for (let i = 0; i < 2; i++)
      await expect(app.auth.logIn({ email: alice.email, password: 'wrong' })).rejects.toBeDefined()
    expect(await app.received('sign-in-blocked')).toHaveLength(1)
  })

  it('is sent once for all spellings of the address', async () => {
    const app = await startLimited()
    // By the limit of the id: nobody has guessed twice with one spelling.
    for (const email of ['a.lice@example.com', 'al.ice@example.com', 'ali.ce@example.com', alice.email])
      expect((await guess(app, email)).status).toBe(403)
    expect(await app.received('sign-in-blocked')).toEqual([blocked(alice.email)])
    expect((await guess(app)).status).toBe(429)
    expect(await app.received('sign-in-blocked')).toEqual([])
  })

  it('is sent for each account and tenant', async () => {
    const app = await startLimited({ tenant: ({ req }) => String(req?.headers['x-tenant']) })
    for (const name of ['north', 'south'])
      for (const email of [alice.email, bob.email])
        for (let i = 0; i < 3; i++) await guess(app, email, { headers: { 'X-Tenant': name } })
    await app.settle()
    const sent = ['north', 'south'].flatMap((name) => [alice.email, bob.email].map((to) => blocked(to, name)))
    expect(app.mails).toHaveLength(4)
    expect(app.mails).toEqual(expect.arrayContaining(sent))
  })

  it.each([
    ['a disabled account', disabled.email],
    ['an unknown address', 'nobody@example.com'],
    ['an address that no account can have', `x@${'x'.repeat(400)}`],
  ])('is not sent for %s', async (_what, email) => {
    const app = await startLimited()
    for (let i = 0; i < 4; i++) await guess(app, email)
    await app.settle()
    expect([app.mails, app.of('dependency.failed')]).toEqual([[], []])
  })

  it('is sent for an account without a password, which can sign in by mail', async () => {
    const app = await startLimited()
    for (let i = 0; i < 2; i++) await guess(app, passwordless.email)
    expect(await app.received('sign-in-blocked')).toEqual([blocked(passwordless.email)])
  })

  it.each([
    ['the limit of a network', { account: false, address: { points: 1, duration: '1h' } }],
    ['the limit of an account and a network', { account: false, pair: { points: 1, duration: '1h' } }],
  ])('is not sent when %s is used up', async (_what, limits) => {
    const app = await startLimited({}, limits)
    for (let i = 0; i < 3; i++) await guess(app)
    expect((await guess(app)).status).toBe(429)
    await app.settle()
    expect(app.mails).toEqual([])
  })

  it('that fails changes no response, and is an event without the address', async () => {
    const fails = () => Promise.reject(new Error('down'))
    const app = await startLimited({ mail: fails })
    await guess(app)
    expect((await guess(app)).status).toBe(429)
    await app.settle()
    const [failed] = app.of('dependency.failed')
    expect(failed).toMatchObject({ dependency: 'hook', option: 'mail', refused: false })
    expect(JSON.stringify(failed)).not.toContain('@')
  })

  it('is not sent without the option mail', async () => {
    const off = { signUp: false, passwordReset: false, changeAddress: false, signInByMail: false, mail: undefined }
    const app = await startLimited(off)
    await guess(app)
    expect((await guess(app)).status).toBe(429)
    await app.settle()
    expect([app.mails, app.of('dependency.failed')]).toEqual([[], []])
  })
})

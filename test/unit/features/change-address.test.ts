import type { AuthOptions } from 'express-token-endpoint'
import { describe, expect, it } from 'vitest'
import { ACCOUNT, accountPackage, STRONG } from '../../support/account-app.js'
import { asForm, expectBadRequest, expectProblem, expectUnavailable } from '../../support/host.js'
import { EXPRESS, TOKEN_PATH } from '../../support/http.js'

const PATH = `${ACCOUNT}/address`
const CONFIRM = `${PATH}/confirm`
const NEW = 'alice@example.org'

describe.each(EXPRESS)('a change of the address, on %s', async (_name, express) => {
  const { start, expectOnlyUsers, expectRecent, expectNoOvertaking, ...library } = await accountPackage(express)
  const { ACCOUNTS, memoryStore, PASSWORD } = library
  const { alice, bob } = ACCOUNTS

  type App = Awaited<ReturnType<typeof start>>

  const ask = (app: App, token: string, email = NEW, sent = {}) => app.call(PATH, { email }, { token, ...sent })
  const confirm = (app: App, token: string, code: string, sent = {}) => app.call(CONFIRM, { code }, { token, ...sent })
  const expectInvalid = (answer: Awaited<ReturnType<typeof ask>>) =>
    expectProblem(answer, 403, 'invalid_code', 'Forbidden')
  const emailOf = async ({ accounts }: App, { id }: { id: string } = alice) => (await accounts.findById(id))?.email

  /** Signs Alice in, and returns her token and the code for a new address. */
  async function asked(app: App, email = NEW) {
    const { token } = await app.signIn(alice.email, PASSWORD)
    expect(await ask(app, token, email)).toMatchObject({ status: 202, body: '' })
    return { token, code: await app.codeOf('new-address', email) }
  }

  it('replaces the address after its mailbox was proved, and tells the old one', async () => {
    const app = await start()
    const other = await app.signIn(alice.email, PASSWORD)
    const { token, code } = await asked(app)
    expect(await emailOf(app)).toBe(alice.email)
    const done = await confirm(app, token, code)
    expect(done).toMatchObject({ status: 204, body: '' })
    expect(done.headers['cache-control']).toBe('no-store')
    expect(await emailOf(app)).toBe(NEW)
    expect([await app.isIn(token), await app.isIn(other.token)]).toEqual([200, 401])
    expect((await app.refresh(other.refreshToken)).status).toBe(403)
    expect(app.of('address.changed')).toMatchObject([{ accountId: alice.id }])
    expect(await app.received('address-changed')).toEqual([
      { kind: 'address-changed', to: alice.email, details: { email: NEW }, tenant: undefined },
    ])
    await app.signIn(NEW, PASSWORD)
    expectInvalid(await confirm(app, token, code))
  })

  it('ends the codes that were mailed to the old address', async () => {
    const app = await start()
    await app.call(`${ACCOUNT}/password/forgotten`, { email: alice.email })
    await app.call(`${TOKEN_PATH}/mail`, { email: alice.email })
    const [reset, signIn] = [await app.codeOf('password-reset'), await app.codeOf('sign-in')]
    const { token, code } = await asked(app)
    expect((await confirm(app, token, code)).status).toBe(204)
    expectInvalid(await app.call(`${ACCOUNT}/password/reset`, { code: reset, password: STRONG }))
    expect((await app.call(`${TOKEN_PATH}/mail/confirm`, { code: signIn })).status).toBe(403)
  })

  it('admits only users in person', async () => {
    await expectOnlyUsers(PATH, { email: NEW })
    await expectOnlyUsers(CONFIRM, { code: 'x'.repeat(43) })
  })

  it('needs a recent sign-in', () => expectRecent(PATH, { email: NEW }, 'POST', 202))

  it('keeps no refresh token over a change of the password: a thief could confirm an address to stay in', async () => {
    const app = await start()
    const { token, refreshToken } = await app.signIn(alice.email, PASSWORD)
    await ask(app, token)
    const code = await app.codeOf('new-address')
    await app.accounts.replacePasswordHash(alice.id, alice.passwordHash, `plain:${STRONG}`)
    expect((await confirm(app, token, code)).status).toBe(204)
    expect((await app.refresh(refreshToken)).status).toBe(403)
  })

  it('leaves no session of a sign-in in progress', async () => {
    await expectNoOvertaking(async (app, token) => {
      expect((await ask(app, token)).status).toBe(202)
      expect((await confirm(app, token, await app.codeOf('new-address'))).status).toBe(204)
    }, true)
  })

  it.each([
    ['no @', 'alice.example.org'],
    ['two addresses', 'alice@example.org,mallory@example.com'],
    ['a colon', 'list:alice@example.org'],
    ['255 characters', `${'c'.repeat(243)}@example.com`],
  ])('refuses an address with %s', async (_what, email) => {
    const app = await start()
    const { token } = await app.signIn(alice.email, PASSWORD)
    expectProblem(await ask(app, token, email), 422, 'invalid_email', 'Unprocessable Content')
    await app.settle()
    expect(app.mails).toEqual([])
  })

  it.each<[string, (text: string) => string]>([
    ['turns into an invalid one', (text) => `${text},x@example.com`],
    ['would change again', (text) => text.replace('e', '')],
  ])('refuses an address that the store %s', async (_what, normalizeEmail) => {
    const { accounts } = await start()
    const app = await start({ accounts: { ...accounts, normalizeEmail } })
    const { token } = await app.signIn(alice.email, PASSWORD)
    expectProblem(await ask(app, token), 422, 'invalid_email', 'Unprocessable Content')
    await app.settle()
    expect(app.mails).toEqual([])
  })

  it('keeps the form of the address that the store keeps', async () => {
    const { accounts } = await start()
    const app = await start({ accounts: { ...accounts, normalizeEmail: (text) => text.toLowerCase() } })
    const { token } = await app.signIn(alice.email, PASSWORD)
    await ask(app, token, NEW.toUpperCase())
    expect((await confirm(app, token, await app.codeOf('new-address', NEW))).status).toBe(204)
    expect(await accounts.findById(alice.id)).toMatchObject({ email: NEW })
  })

  it('tells the owner of a taken address, and the response is the same', async () => {
    const app = await start()
    const { token } = await app.signIn(alice.email, PASSWORD)
    const [free, taken] = [await ask(app, token), await ask(app, token, bob.email)]
    const { date: _, ...headers } = free.headers
    const { date: __, ...others } = taken.headers
    expect([taken.status, taken.body, others]).toEqual([free.status, free.body, headers])
    expect(await app.received('address-taken')).toEqual([
      { kind: 'address-taken', to: bob.email, details: {}, tenant: undefined },
    ])
    expect(await app.received('new-address')).toMatchObject([{ to: NEW }])
  })

  it('lets nobody use up the mails for the own change of another account', async () => {
    const app = await start()
    const thief = await app.signIn(bob.email, PASSWORD)
    for (let i = 0; i < 3; i++) expect((await ask(app, thief.token, alice.email)).status).toBe(202)
    expect((await ask(app, thief.token, alice.email)).status).toBe(429)
    const { token, code } = await asked(app)
    expect((await confirm(app, token, code)).status).toBe(204)
  })

  it('refuses the form of a page of another origin of the same site, where the token is in a cookie', async () => {
    const tokenFrom: AuthOptions['tokenFrom'] = (req, inHeader) => String(req.headers['cookie'] ?? inHeader())
    const app = await start({ tokenFrom })
    const { token } = await app.signIn(alice.email, PASSWORD)
    const { headers, ...form } = asForm(`email=${NEW}`)
    const send = (given: object) => app.call(PATH, undefined, { ...form, headers: { ...headers, ...given } })
    const other = { Origin: 'https://blog.example.com', 'Sec-Fetch-Site': 'same-site' }
    for (const added of [{}, { Authorization: 'Basic eDp5' }])
      expectProblem(await send({ ...other, ...added, Cookie: token }), 415, 'cross_site_form', 'Unsupported Media Type')
    expect((await send({ ...other, 'Sec-Fetch-Site': 'same-origin', Cookie: token })).status).toBe(202)
    expect((await send({ ...other, Authorization: `Bearer ${token}` })).status).toBe(202)
  })

  it('refuses the session of another account, which uses nothing up', async () => {
    const app = await start()
    const { token, code } = await asked(app)
    const ofBob = await app.signIn(bob.email, PASSWORD)
    expectInvalid(await confirm(app, ofBob.token, code))
    expect(await emailOf(app, bob)).toBe(bob.email)
    expect((await confirm(app, token, code)).status).toBe(204)
  })

  it('refuses the account that has got the old address, because the code is for another account', async () => {
    const app = await start()
    const { code } = await asked(app)
    await app.accounts.replaceEmail(alice.id, alice.email, 'alice@example.net')
    await app.accounts.replaceEmail(bob.id, bob.email, alice.email)
    const { token } = await app.signIn(alice.email, PASSWORD)
    expectInvalid(await confirm(app, token, code))
    expect(await emailOf(app, bob)).toBe(alice.email)
  })

  it('refuses an unknown code, and one of another purpose', async () => {
    const app = await start()
    const { token } = await app.signIn(alice.email, PASSWORD)
    await app.call(`${TOKEN_PATH}/mail`, { email: alice.email })
    for (const code of ['x', 'x'.repeat(43), await app.codeOf('sign-in')])
      expectInvalid(await confirm(app, token, code))
    expectBadRequest(await app.call(CONFIRM, {}, { token }))
    expectBadRequest(await app.call(PATH, {}, { token }))
  })

  it('refuses a code of another tenant', async () => {
    const tenant: AuthOptions['tenant'] = ({ req }) => String(req?.headers['x-tenant'])
    const app = await start({ tenant })
    const at = (name: string) => ({ headers: { 'X-Tenant': name } })
    const { token } = await app.signIn(alice.email, PASSWORD)
    await ask(app, token, NEW, at('north'))
    const [mail] = await app.received('new-address')
    expect(mail?.tenant).toBe('north')
    expectInvalid(await confirm(app, token, mail?.code ?? '', at('south')))
    expect((await confirm(app, token, mail?.code ?? '', at('north'))).status).toBe(204)
  })

  it('refuses an address that another account has got meanwhile', async () => {
    const app = await start()
    const { token, code } = await asked(app)
    await app.accounts.create({ email: NEW, passwordHash: 'plain:x' }, {} as never)
    expectProblem(await confirm(app, token, code), 409, 'address_taken', 'Conflict')
    expect(await emailOf(app)).toBe(alice.email)
    expect(app.of('address.changed')).toEqual([])
  })

  it('refuses a code when the address has changed since, and one whose change the store refuses', async () => {
    const { accounts } = await start()
    const app = await start({ accounts: { ...accounts, replaceEmail: async () => false } })
    const { token, code } = await asked(app)
    expectInvalid(await confirm(app, token, code))
    await accounts.replaceEmail(alice.id, alice.email, 'alice@example.net')
    expectInvalid(await confirm(app, token, code))
    await app.settle()
    expect(app.mails).toEqual([])
  })

  it('of two codes, the first one that is used wins', async () => {
    const app = await start()
    const first = await asked(app)
    await ask(app, first.token, 'alice@example.net')
    const second = await app.codeOf('new-address')
    const answers = await Promise.all([first.code, second].map((code) => confirm(app, first.token, code)))
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 403])
  })

  it('that is cut off after the address was replaced has sent the notice, and can be repeated', async () => {
    const { sessions, ...others } = memoryStore()
    let isDown = true
    const removeAll: typeof sessions.removeAll = async (...args) => {
      if (isDown) throw new Error('down')
      return sessions.removeAll(...args)
    }
    const app = await start({ store: { ...others, sessions: { ...sessions, removeAll } } })
    const other = await app.signIn(alice.email, PASSWORD)
    const { token, code } = await asked(app)
    expectUnavailable(await confirm(app, token, code))
    expect(await emailOf(app)).toBe(NEW)
    expect(await app.received('address-changed')).toMatchObject([{ to: alice.email }])
    isDown = false
    expect((await confirm(app, token, code)).status).toBe(204)
    expect(await app.isIn(other.token)).toBe(401)
    expectInvalid(await confirm(app, token, code))
  })

  it('is unavailable for an account without an address, and when the accounts fail', async () => {
    const { accounts } = await start()
    const withoutEmail = await start({
      accounts: { ...accounts, findById: (id: string) => ({ ...alice, id, email: undefined }) } as never,
    })
    const { token } = await withoutEmail.signIn(alice.email, PASSWORD)
    expectUnavailable(await ask(withoutEmail, token))
    expect(withoutEmail.of('dependency.failed')).toMatchObject([{ dependency: 'accounts', refused: true }])
    const replaceEmail = async () => {
      throw new Error('down')
    }
    const app = await start({ accounts: { ...accounts, replaceEmail } })
    const { token: other, code } = await asked(app)
    expectUnavailable(await confirm(app, other, code))
    expect(await emailOf(app)).toBe(alice.email)
  })

  it('leaves other methods of its paths to the host', async () => {
    const app = await start()
    for (const path of [PATH, CONFIRM])
      for (const method of ['GET', 'PUT', 'DELETE', 'OPTIONS'])
        expect(await app.call(path, undefined, { method })).toMatchObject({ status: 404, body: 'the host’s own' })
  })

  it.each([
    ['mail', { mail: undefined }, '"mail"'],
    ['accounts with replaceEmail', { replaceEmail: undefined }, 'replaceEmail'],
  ])('needs %s', async (_what, without, says) => {
    const { accounts } = await start()
    const off = { signUp: false, passwordReset: false, changePassword: false, deletion: false, signInByMail: false }
    const options = 'mail' in without ? without : { accounts: { ...accounts, ...without } }
    await expect(start({ ...off, ...options } as never)).rejects.toThrow(says)
  })

  it('is off by default', async () => {
    const app = await start({ changeAddress: undefined })
    for (const path of [PATH, CONFIRM]) expect((await app.call(path, {})).body).toBe('the host’s own')
  })
})

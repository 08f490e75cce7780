import { describe, expect, it } from 'vitest'
import { ACCOUNT, accountPackage, STRONG } from '../../support/account-app.js'
import { asForm, expectProblem, expectUnavailable } from '../../support/host.js'
import { EXPRESS, TOKEN_PATH } from '../../support/http.js'

const EMAIL = 'carol@example.com'

describe.each(EXPRESS)('sign-up, on %s', async (_name, express) => {
  const { start, ACCOUNTS, frozenClock, memoryStore, SignInRefusal } = await accountPackage(express)

  it('creates the account of a proved mailbox, and signs in', async () => {
    const app = await start()
    const asked = await app.call(`${ACCOUNT}/`, { email: EMAIL })
    expect(asked).toMatchObject({ status: 202, body: '' })
    expect(asked.headers['cache-control']).toBe('no-store')
    const code = await app.codeOf('sign-up', EMAIL)
    expect(await app.accounts.findByEmail(EMAIL)).toBeUndefined()

    const done = await app.call(`${ACCOUNT}/confirm`, { code, password: STRONG, name: 'Carol', role: 'admin' })
    expect(done.status).toBe(200)
    const { authenticationToken, expiration, refreshToken } = JSON.parse(done.body)
    expect(Object.keys(JSON.parse(done.body))).toEqual(['authenticationToken', 'expiration', 'refreshToken'])
    expect(Date.parse(expiration)).toBeGreaterThan(Date.now())
    expect(await app.isIn(authenticationToken)).toBe(200)
    expect((await app.refresh(refreshToken)).status).toBe(200)
    const created = await app.accounts.findByEmail(EMAIL)
    expect(created).toMatchObject({ email: EMAIL, name: 'Carol', passwordHash: `plain:${STRONG}` })
    expect(created).not.toHaveProperty('role')
    expect(app.of('account.created')).toMatchObject([{ accountId: created?.id }])
    await app.signIn(EMAIL, STRONG)
  })

  it('works at the path without the slash, and again for another mail', async () => {
    const app = await start()
    expect((await app.call(ACCOUNT, { email: EMAIL })).status).toBe(202)
    expect((await app.call(ACCOUNT, { email: EMAIL })).status).toBe(202)
    expect(await app.received('sign-up')).toHaveLength(2)
  })

  it('uses all codes of the address up', async () => {
    const app = await start()
    await app.call(ACCOUNT, { email: EMAIL })
    await app.call(ACCOUNT, { email: EMAIL })
    const [first, second] = await app.received('sign-up')
    expect((await app.call(`${ACCOUNT}/confirm`, { code: first?.code, password: STRONG })).status).toBe(200)
    for (const { code } of [first, second] as { code: string }[])
      expectProblem(await app.call(`${ACCOUNT}/confirm`, { code, password: STRONG }), 403, 'invalid_code', 'Forbidden')
  })

  it('tells the owner of an address that has an account, and nobody else', async () => {
    const app = await start()
    const [known, unknown] = await Promise.all(
      [ACCOUNTS.alice.email, EMAIL].map((email) => app.call(ACCOUNT, { email })),
    )
    const { date: _, ...headers } = known?.headers ?? {}
    const { date: __, ...others } = unknown?.headers ?? {}
    expect([known?.status, known?.body, headers]).toEqual([unknown?.status, unknown?.body, others])
    expect(await app.received('address-taken')).toEqual([
      { kind: 'address-taken', to: ACCOUNTS.alice.email, details: {}, tenant: undefined },
    ])
    expect(await app.received('sign-up')).toMatchObject([{ to: EMAIL }])
  })

  it.each([
    ['no @', 'carol.example.com'],
    ['two addresses', 'victim@example.com,attacker@example.com'],
    ['two @', 'carol@example.com@example.org'],
    ['a name', 'Carol <carol@example.com>'],
    ['a blank', 'carol @example.com'],
    ['a header line', 'carol@example.com\nBcc: mallory@example.com'],
    ['an invisible character', 'carol\u200b@example.com'],
    ['a group', 'list:carol@example.com'],
    ['an encoded word', '=?x?q?victim=40example.com=2c?=@example.com'],
    ['255 characters', `${'c'.repeat(243)}@example.com`],
    ['only a domain', '@example.com'],
  ])('refuses an address with %s', async (_name, email) => {
    const app = await start()
    expectProblem(await app.call(ACCOUNT, { email }), 422, 'invalid_email', 'Unprocessable Content')
    await app.settle()
    expect(app.mails).toEqual([])
  })

  it('mails to the form of the address that the store keeps', async () => {
    const { accounts } = await start()
    const app = await start({ accounts: { ...accounts, normalizeEmail: (text) => text.toLowerCase() } })
    await app.call(ACCOUNT, { email: 'CAROL@example.com' })
    const code = await app.codeOf('sign-up', EMAIL)
    await app.call(`${ACCOUNT}/confirm`, { code, password: STRONG })
    expect(await accounts.findByEmail(EMAIL)).toMatchObject({ email: EMAIL })
  })

  it('signs an account in whose store refuses all tokens from before it', async () => {
    const clock = frozenClock()
    const { accounts } = await start()
    const create: typeof accounts.create = (account, context) => {
      clock.advance(10)
      return accounts.create({ ...account, tokensValidAfter: new Date(clock()) }, context)
    }
    const app = await start({ clock, accounts: { ...accounts, create } })
    await app.call(ACCOUNT, { email: EMAIL })
    const code = await app.codeOf('sign-up')
    expect((await app.call(`${ACCOUNT}/confirm`, { code, password: STRONG })).status).toBe(200)
  })

  it('a weak password uses no code up', async () => {
    const app = await start()
    await app.call(ACCOUNT, { email: EMAIL })
    const code = await app.codeOf('sign-up')
    const weak = await app.call(`${ACCOUNT}/confirm`, { code, password: 'short' })
    expect(weak.status).toBe(422)
    expect(JSON.parse(weak.body)).toMatchObject({ code: 'weak_password', reason: 'too_short' })
    expect((await app.call(`${ACCOUNT}/confirm`, { code, password: STRONG })).status).toBe(200)
  })

  it('asks no rule of passwords for a code that is not valid', async () => {
    const app = await start()
    const answer = await app.call(`${ACCOUNT}/confirm`, { code: 'x'.repeat(43), password: 'short' })
    expectProblem(answer, 403, 'invalid_code', 'Forbidden')
  })

  it('refuses the code when another account has got the address', async () => {
    const app = await start()
    await app.call(ACCOUNT, { email: EMAIL })
    const code = await app.codeOf('sign-up')
    await app.accounts.create({ email: EMAIL, passwordHash: 'plain:other' }, {} as never)
    const answer = await app.call(`${ACCOUNT}/confirm`, { code, password: STRONG })
    expectProblem(answer, 409, 'address_taken', 'Conflict')
    expect((await app.call(TOKEN_PATH, { email: EMAIL, password: STRONG })).status).toBe(403)
  })

  it('lets the host refuse a field, and the code stays', async () => {
    const { accounts } = await start()
    const create: typeof accounts.create = async (account, context) => {
      if (account['name'] === undefined) throw new SignInRefusal('name_required', { status: 422 })
      return accounts.create(account, context)
    }
    const app = await start({ accounts: { ...accounts, create } })
    await app.call(ACCOUNT, { email: EMAIL })
    const code = await app.codeOf('sign-up')
    const refused = await app.call(`${ACCOUNT}/confirm`, { code, password: STRONG })
    expectProblem(refused, 422, 'name_required', 'Unprocessable Content')
    expect((await app.call(`${ACCOUNT}/confirm`, { code, password: STRONG, name: 'C' })).status).toBe(200)
  })

  it('takes an account that the store returns without its address', async () => {
    const { accounts } = await start()
    const create: typeof accounts.create = async (...args) => {
      const created = await accounts.create(...args)
      return created && { id: created.id, passwordHash: created.passwordHash, email: undefined as never }
    }
    const app = await start({ accounts: { ...accounts, create } })
    await app.call(ACCOUNT, { email: EMAIL })
    const sent = { code: await app.codeOf('sign-up'), password: STRONG }
    expect((await app.call(`${ACCOUNT}/confirm`, sent)).status).toBe(200)
  })

  it('can be done again after a failure of the account store', async () => {
    const { accounts } = await start()
    let isDown = true
    const create: typeof accounts.create = async (...args) => {
      if (isDown) throw new Error('down')
      return accounts.create(...args)
    }
    const app = await start({ accounts: { ...accounts, create } })
    await app.call(ACCOUNT, { email: EMAIL })
    const code = await app.codeOf('sign-up')
    expectUnavailable(await app.call(`${ACCOUNT}/confirm`, { code, password: STRONG }))
    isDown = false
    expect((await app.call(`${ACCOUNT}/confirm`, { code, password: STRONG })).status).toBe(200)
  })

  it('has its routes below another path', async () => {
    const app = await start({ paths: { account: '/me' } })
    expect((await app.call('/me', { email: EMAIL })).status).toBe(202)
    const sent = { code: await app.codeOf('sign-up'), password: STRONG }
    expect((await app.call('/me/confirm', sent)).status).toBe(200)
    expect((await app.call(ACCOUNT, { email: EMAIL })).body).toBe('the host’s own')
  })

  it('reads the tenant of the body', async () => {
    const app = await start({ extraFields: ['team'], tenant: ({ fields }) => fields['team'] as string })
    await app.call(ACCOUNT, { email: EMAIL, team: 'north' })
    const [mail] = await app.received('sign-up')
    expect(mail?.tenant).toBe('north')
    const sent = { code: mail?.code, password: STRONG }
    expect((await app.call(`${ACCOUNT}/confirm`, { ...sent, team: 'south' })).status).toBe(403)
    expectUnavailable(await app.call(`${ACCOUNT}/confirm`, sent))
    expect((await app.call(`${ACCOUNT}/confirm`, { ...sent, team: 'north' })).status).toBe(200)
    expect(app.of('account.created')).toMatchObject([{ tenant: 'north' }])
  })

  it('gives the host the tenant and the request, and tenants do not share codes', async () => {
    const { accounts } = await start()
    const seen: unknown[] = []
    const create: typeof accounts.create = async (account, context) => {
      seen.push(context.tenant, context.req.headers['x-tenant'])
      return accounts.create(account, context)
    }
    const tenant: ({ req }: { req: { headers: Record<string, string> } }) => string = ({ req }) =>
      req.headers['x-tenant'] ?? 'none'
    const app = await start({ accounts: { ...accounts, create }, tenant })
    const at = (name: string) => ({ headers: { 'X-Tenant': name } })
    await app.call(ACCOUNT, { email: EMAIL }, at('north'))
    const [mail] = await app.received('sign-up')
    expect(mail?.tenant).toBe('north')
    const sent = { code: mail?.code, password: STRONG }
    expect((await app.call(`${ACCOUNT}/confirm`, sent, at('south'))).status).toBe(403)
    expect((await app.call(`${ACCOUNT}/confirm`, sent, at('north'))).status).toBe(200)
    expect(seen).toEqual(['north', 'north'])
  })

  it('of two confirmations at once, one creates the account', async () => {
    const app = await start()
    await app.call(ACCOUNT, { email: EMAIL })
    const code = await app.codeOf('sign-up')
    const sent = () => app.call(`${ACCOUNT}/confirm`, { code, password: STRONG })
    const answers = await Promise.all([sent(), sent(), sent()])
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(app.of('account.created')).toHaveLength(1)
  })

  it('refuses a code of another issuer and of another purpose on the same store', async () => {
    const store = memoryStore()
    const app = await start({ store })
    const elsewhere = await start({ store, issuer: 'https://elsewhere.example.com' })
    await app.call(ACCOUNT, { email: EMAIL })
    const code = await app.codeOf('sign-up')
    const sent = { code, password: STRONG }
    expectProblem(await elsewhere.call(`${ACCOUNT}/confirm`, sent), 403, 'invalid_code', 'Forbidden')
    await app.call(`${ACCOUNT}/password/forgotten`, { email: ACCOUNTS.alice.email })
    const other = { code: await app.codeOf('password-reset'), password: STRONG }
    expectProblem(await app.call(`${ACCOUNT}/confirm`, other), 403, 'invalid_code', 'Forbidden')
    expect((await app.call(`${ACCOUNT}/confirm`, sent)).status).toBe(200)
  })

  it('refuses a very long password before anything is hashed', async () => {
    const app = await start({ bodyLimit: 1_000_000 })
    await app.call(ACCOUNT, { email: EMAIL })
    const sent = { code: await app.codeOf('sign-up'), password: 'x'.repeat(100_000) }
    const weak = await app.call(`${ACCOUNT}/confirm`, sent)
    expect([weak.status, JSON.parse(weak.body)]).toMatchObject([422, { code: 'weak_password', reason: 'too_long' }])
  })

  it('sets the cookie where the app has one, not for pages of other origins, and takes forms', async () => {
    const app = await start({ refresh: 'cookie' })
    const form = (path: string, body: Record<string, string>) =>
      app.call(path, undefined, asForm(String(new URLSearchParams(body))))
    expect((await form(ACCOUNT, { email: EMAIL })).status).toBe(202)
    const code = await app.codeOf('sign-up')
    const headers = { Origin: 'https://attacker.example.com' }
    const foreign = await app.call(`${ACCOUNT}/confirm`, { code, password: STRONG }, { headers })
    expectProblem(foreign, 403, 'cross_site_request', 'Forbidden')
    const done = await form(`${ACCOUNT}/confirm`, { code, password: STRONG, remember: 'false' })
    expect(done.status).toBe(200)
    const [cookie] = done.headers['set-cookie'] ?? []
    expect(cookie).toContain(`; Path=${TOKEN_PATH}; HttpOnly`)
    expect(cookie).not.toContain('Max-Age')
  })

  it('asks beforeSignIn, whose refusal leaves the account', async () => {
    const asked: unknown[] = []
    const app = await start({
      signInByMail: false,
      extraFields: ['code', 'device'],
      beforeSignIn({ method, amr, fields }) {
        asked.push([method, amr, { ...fields }])
        throw new SignInRefusal('terms_required', { status: 422 })
      },
    })
    await app.call(ACCOUNT, { email: EMAIL })
    const sent = { code: await app.codeOf('sign-up'), password: STRONG, device: 'phone' }
    const refused = await app.call(`${ACCOUNT}/confirm`, sent)
    expectProblem(refused, 422, 'terms_required', 'Unprocessable Content')
    expect(asked).toEqual([['password', ['pwd'], { device: 'phone' }]])
    expect(await app.accounts.findByEmail(EMAIL)).toMatchObject({ email: EMAIL })
    expect((await app.call(`${ACCOUNT}/confirm`, sent)).status).toBe(403)
  })

  it('sends the notice to the stored address, at most three times in an hour whatever the spelling', async () => {
    const { accounts } = await start()
    const findByEmail: typeof accounts.findByEmail = (email) => accounts.findByEmail(email.toLowerCase())
    const app = await start({ accounts: { ...accounts, findByEmail } })
    const spellings = ['ALICE', 'Alice', 'aLice', 'alIce', 'aliCe'].map((name) => `${name}@example.com`)
    for (const email of spellings) expect((await app.call(ACCOUNT, { email })).status).toBe(202)
    const taken = await app.received('address-taken')
    expect(taken.map(({ to }) => to)).toEqual(Array(3).fill(ACCOUNTS.alice.email))
  })

  it('is limited by the address, and whoever is limited has codes that work', async () => {
    const app = await start()
    for (let i = 0; i < 3; i++) expect((await app.call(ACCOUNT, { email: EMAIL })).status).toBe(202)
    const limited = await app.call(ACCOUNT, { email: EMAIL })
    expectProblem(limited, 429, 'too_many_attempts', 'Too Many Requests')
    expect(limited.headers['retry-after']).toBe('3600')
    const [first] = await app.received('sign-up')
    expect((await app.call(`${ACCOUNT}/confirm`, { code: first?.code, password: STRONG })).status).toBe(200)
  })

  it('reports a mailer that fails after the response, without the code', async () => {
    const app = await start({ mail: () => Promise.reject(new Error('down')) })
    expect((await app.call(ACCOUNT, { email: EMAIL })).status).toBe(202)
    await app.settle()
    const [mail] = app.mails
    expect(app.events).toMatchObject([
      { type: 'dependency.failed', dependency: 'hook', option: 'mail', refused: false },
    ])
    expect(JSON.stringify(app.events)).not.toContain(String(mail?.code))
  })

  it('leaves other methods of its paths to the host', async () => {
    const app = await start({ deletion: false })
    for (const path of [ACCOUNT, `${ACCOUNT}/`, `${ACCOUNT}/confirm`])
      for (const method of ['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS'])
        expect((await app.call(path, undefined, { method })).status).toBe(404)
  })

  it.each([
    ['mail', { mail: undefined }, '"mail"'],
    ['a store of codes', { store: undefined, refresh: undefined }, 'store'],
    ['accounts with create', { accounts: () => undefined, refresh: undefined }, 'create'],
  ])('needs %s', async (_name, change, says) => {
    await expect(start(change as object)).rejects.toThrow(says)
  })

  it.each([
    ['a member that the router sets', { fields: ['email'] }],
    ['a member that decides about the account', { fields: ['scopes'] }],
    ['something else', 'yes'],
  ])('rejects the option with %s', async (_name, signUp) => {
    await expect(start({ signUp } as object)).rejects.toThrow('option "signUp')
  })

  it('is off by default', async () => {
    const app = await start({ signUp: false })
    expect((await app.call(ACCOUNT, { email: EMAIL })).body).not.toBe('')
  })
})

import { openApiDocument } from 'express-token-endpoint/openapi'
import { passkeys } from 'express-token-endpoint/passkeys'
import { describe, expect, it } from 'vitest'
import { REFUSALS } from '../../../src/errors/codes.js'
import { stepAt, totpAt } from '../../../src/factors/totp.js'
import { endpointsAt } from '../../../src/features/features.js'
import { codesOf, successesOf } from '../../../src/http/declaration.js'
import { pathsBelow } from '../../../src/http/endpoint.js'
import { TOKEN_CALLS } from '../../../src/http/request-limits.js'
import { ACCOUNT, ACCOUNT_FEATURES, accountPackage, FACTOR_FEATURES, STRONG } from '../../support/account-app.js'
import { createAuthenticator } from '../../support/authenticator.js'
import { fromBase32 } from '../../support/base32.js'
import { deferred, until } from '../../support/concurrency.js'
import { documented as documentedBy, invalidBodyIn } from '../../support/documents/documented.js'
import { type Answer, asForm, asJson, FORM_TYPE, type Sent, send } from '../../support/host.js'
import { EXPRESS, flood, TOKEN_PATH } from '../../support/http.js'

const MOUNTED = endpointsAt(
  { token: TOKEN_PATH, sessions: '', keys: '', account: ACCOUNT },
  { ...ACCOUNT_FEATURES, ...FACTOR_FEATURES, passkeys: true, passkeySignIn: true },
)

/** The refusals of the guard that each guarded endpoint can have. */
const OF_GUARD = ['invalid_request', 'missing_token', 'invalid_token', 'unavailable']

const declared = () =>
  MOUNTED.flatMap(({ endpoint }) => {
    const codes = [...codesOf(endpoint)].filter((code) => !REFUSALS[code].unseen)
    const ofGuard = endpoint.guard ? OF_GUARD : []
    const recent = endpoint.guard?.name === 'recent' ? ['insufficient_user_authentication'] : []
    const statuses = successesOf(endpoint).map(([status]) => String(status))
    return [...statuses, ...codes, ...ofGuard, ...recent].map((one) => `${endpoint.id} ${one}`)
  })

describe.each(EXPRESS)('each declared response of each account route, on %s', async (_name, express) => {
  const { start, ACCOUNTS, PASSWORD, frozenClock, createLimits, memoryStore } = await accountPackage(express)
  const { alice, bob } = ACCOUNTS

  it('is seen, and no other', async () => {
    const clock = frozenClock()
    const held = deferred<void>()
    const state = { isDown: false, isHolding: false, isRefused: false }
    let waiting = 0
    const { codes, sessions, factors } = memoryStore()
    const find: typeof codes.find = async (digest) => {
      if (state.isHolding) {
        waiting++
        await held.promise
      }
      return codes.find(digest)
    }
    const app = await start({
      clock,
      refresh: 'cookie',
      store: { sessions, codes: { ...codes, find }, factors },
      ...FACTOR_FEATURES,
      passkeys: passkeys({ rpId: 'example.com' }),
      limits: createLimits({ limits: { pair: { points: 2, duration: '15m' } } }),
      timeout: '1m',
      tenant() {
        if (state.isDown) throw new Error('down')
        return 'one'
      },
    })
    const document = openApiDocument(app.auth.openApi)
    const { check } = documentedBy(document, { moreHeaders: true })
    const seen = new Set<string>()
    const mounted = (id: string) => MOUNTED.find(({ endpoint }) => endpoint.id === id) as (typeof MOUNTED)[number]
    let clients = 0

    async function ask(id: string, sent: Sent = {}, params: Record<string, string> = {}): Promise<Answer> {
      const { at, endpoint } = mounted(id)
      const [documented] = pathsBelow(at, endpoint.path)
      const path = documented.replace(/\{(\w+)\}/g, (_, name) => params[name] ?? 'none')
      // Each request has its own network, because the mails of one network are limited.
      const headers = { 'X-Forwarded-For': `192.0.2.${++clients % 250}`, ...sent.headers }
      const answer = await send(app.port, { method: endpoint.method, path, ...sent, headers })
      const code = answer.body.startsWith('{') ? JSON.parse(answer.body).code : undefined
      const ofNone = answer.status >= 400 ? 'invalid_credentials' : String(answer.status)
      // OpenAPI has no optional body, so a document names none for a status that may have one.
      const mayBeEmpty = [...codesOf(endpoint)].some(
        (one) => !endpoint.isProblem && REFUSALS[one].empty && REFUSALS[one].status === answer.status,
      )
      if (!mayBeEmpty) check(documented, endpoint.method.toLowerCase(), answer)
      seen.add(`${id} ${code ?? ofNone}`)
      return answer
    }

    const as = (token: string, sent: Sent = {}): Sent => ({
      ...sent,
      headers: { ...sent.headers, Authorization: `Bearer ${token}` },
    })
    const tokenOf = async ({ email }: { email: string }) => {
      const { body } = await app.call(TOKEN_PATH, { email, password: PASSWORD })
      return JSON.parse(body).authenticationToken as string
    }

    // Each endpoint may respond with these.
    const guarded = MOUNTED.filter(({ endpoint }) => endpoint.guard)
    const token = await tokenOf(alice)
    const junk = { id: 'x', rawId: 'x', type: 'public-key', response: {} }
    const bodies: Record<string, object> = {
      signUp: { email: 'none' },
      confirmSignUp: { code: 'x', password: STRONG },
      forgotPassword: { email: 'none' },
      resetPassword: { code: 'x', password: STRONG },
      changePassword: { password: 'x', newPassword: STRONG },
      changeAddress: { email: 'none' },
      confirmAddress: { code: 'x' },
      mailSignIn: { email: 'none' },
      confirmMailSignIn: { code: 'x' },
      confirmTotp: { otp: '000000' },
      createApiKey: { name: 'ci' },
      addPasskey: { passkey: junk },
      passkeySignIn: { passkey: junk },
    }
    const good = (id: string) => as(token, bodies[id] ? asJson(bodies[id]) : {})
    for (const { endpoint } of MOUNTED) {
      const { id } = endpoint
      if (codesOf(endpoint).has('method_not_allowed')) await ask(id, { method: 'PATCH' })
      if (endpoint.origin)
        await ask(
          id,
          as(token, { ...asJson(bodies[id] ?? {}), headers: { ...asJson({}).headers, 'Sec-Fetch-Site': 'same-site' } }),
        )
      if (!endpoint.body) continue
      await ask(id, as(token, { headers: { 'Content-Type': 'text/plain' }, body: 'x' }))
      await ask(id, as(token, { headers: { ...FORM_TYPE, 'Sec-Fetch-Site': 'cross-site' }, body: 'a=b' }))
      await ask(id, as(token, asJson({ more: 'x'.repeat(20_000) })))
      const { status, body } = await ask(id, as(token, asForm('a=b')))
      expect([id, status]).toEqual([id, 400])
      expect([id, JSON.parse(body).detail]).toEqual([id, invalidBodyIn(document, mounted(id))])
    }
    state.isDown = true
    const { findById } = app.accounts
    // The deletion continues without a tenant.
    app.accounts.findById = () => Promise.reject(new Error('down'))
    for (const { endpoint } of MOUNTED) await ask(endpoint.id, good(endpoint.id))
    app.accounts.findById = findById
    state.isDown = false
    for (const { endpoint } of guarded) {
      await ask(endpoint.id)
      await ask(endpoint.id, { headers: { Authorization: 'Bearer a b' } })
      await ask(endpoint.id, { headers: { Authorization: 'Bearer x' } })
    }
    state.isHolding = true
    const network = { 'X-Forwarded-For': '198.51.100.1' }
    const sent = { ...asJson({ code: 'x'.repeat(43), password: STRONG }), method: 'POST', path: `${ACCOUNT}/confirm` }
    const most = TOKEN_CALLS.perNetwork
    const flooding = flood(app.port, most, () => ({ ...sent, headers: { ...sent.headers, ...network } }))
    await until(() => expect(waiting).toBe(most))
    for (const { endpoint } of MOUNTED) {
      const { headers, ...rest } = good(endpoint.id)
      await ask(endpoint.id, { ...rest, headers: { ...headers, ...network } })
    }
    state.isHolding = false
    held.resolve()
    await flooding

    // Each route in turn.
    const carol = 'carol@example.com'
    await ask('signUp', asJson({ email: 'no address' }))
    for (let i = 0; i < 4; i++) await ask('signUp', asJson({ email: carol }))
    const [first, second] = await app.received('sign-up')
    const confirm = (code: string | undefined, password = STRONG) => asJson({ code, password })
    await ask('confirmSignUp', confirm('x'))
    await ask('confirmSignUp', confirm(first?.code, 'short'))
    await ask('confirmSignUp', confirm(first?.code))
    await ask('signUp', asJson({ email: 'dave@example.com' }))
    const late = await app.codeOf('sign-up')
    await app.accounts.create({ email: 'dave@example.com', passwordHash: 'plain:x' }, {} as never)
    await ask('confirmSignUp', confirm(late))
    // A host may create accounts that have to wait.
    const { create } = app.accounts
    app.accounts.create = (account, context) => create({ ...account, disabled: true }, context)
    await ask('signUp', asJson({ email: 'frank@example.com' }))
    await ask('confirmSignUp', confirm(await app.codeOf('sign-up')))
    app.accounts.create = create
    expect(second?.code).toBeDefined()

    for (let i = 0; i < 4; i++) await ask('forgotPassword', asJson({ email: bob.email }))
    const [reset] = await app.received('password-reset')
    await ask('resetPassword', confirm('x'))
    await ask('resetPassword', confirm(reset?.code, 'short'))
    await ask('resetPassword', confirm(reset?.code))

    for (let i = 0; i < 4; i++) await ask('mailSignIn', asJson({ email: alice.email }))
    const [signIn] = await app.received('sign-in')
    await ask('confirmMailSignIn', asJson({ code: 'x' }))
    await ask('confirmMailSignIn', asJson({ code: signIn?.code }))

    await ask('changeAddress', as(token, asJson({ email: 'no address' })))
    await ask('changeAddress', as(token, asJson({ email: 'erin@example.com' })))
    const taken = await app.codeOf('new-address')
    await app.accounts.create({ email: 'erin@example.com', passwordHash: 'plain:x' }, {} as never)
    await ask('confirmAddress', as(token, asJson({ code: taken })))
    await ask('confirmAddress', as(token, asJson({ code: 'x' })))
    for (let i = 0; i < 4; i++) await ask('changeAddress', as(token, asJson({ email: 'alice@example.org' })))
    const [address] = await app.received('new-address')
    await ask('confirmAddress', as(token, asJson({ code: address?.code })))

    await ask('renewRecoveryCodes', as(token))
    const begun = await ask('beginTotp', as(token))
    const secret = fromBase32(JSON.parse(begun.body).secret)
    await ask('confirmTotp', as(token, asJson({ otp: totpAt(secret, stepAt(clock())) })))
    await ask('renewRecoveryCodes', as(token))
    await ask('removeTotp', as(token))
    await ask('createApiKey', as(token, asJson({ name: 'ci', scopes: ['admin'] })))
    for (let i = 0; i < 21; i++) await ask('createApiKey', as(token, asJson({ name: 'ci' })))
    const [key] = JSON.parse((await ask('listApiKeys', as(token))).body).keys
    for (let i = 0; i < 2; i++) await ask('removeApiKey', as(token), { id: key.id })

    const origin = new URL(app.auth.tokens.issuer).origin
    async function addPasskey() {
      const authenticator = createAuthenticator({ origin })
      const passkey = authenticator.register(JSON.parse((await ask('beginPasskey', as(token))).body))
      await ask('addPasskey', as(token, asJson({ passkey })))
      return authenticator
    }
    const authenticator = await addPasskey()
    const passkey = authenticator.assert(JSON.parse((await ask('beginPasskeySignIn')).body))
    for (let i = 0; i < 2; i++) await ask('passkeySignIn', asJson({ passkey }))
    await ask('addPasskey', as(token, asJson({ passkey: junk })))
    const [{ id }] = JSON.parse((await ask('listPasskeys', as(token))).body).passkeys
    const onlyPasskeys = { ...(await findById(alice.id)), id: alice.id, email: null, passwordHash: null }
    app.accounts.findById = async () => onlyPasskeys
    await ask('removePasskey', as(token), { id })
    app.accounts.findById = findById
    for (let i = 0; i < 2; i++) await ask('removePasskey', as(token), { id })
    for (let i = 0; i < 21; i++) await addPasskey()

    const change = (password: string, newPassword: string) => as(token, asJson({ password, newPassword }))
    await ask('changePassword', change(PASSWORD, 'short'))
    await ask('changePassword', change('wrong', STRONG))
    await ask('changePassword', change(PASSWORD, STRONG))
    const same = { headers: { 'X-Forwarded-For': '203.0.113.1' } }
    for (let i = 0; i < 3; i++) {
      const sent = change('wrong', STRONG)
      await ask('changePassword', { ...sent, headers: { ...sent.headers, ...same.headers } })
    }

    const passwordless = await app.auth.signIn(
      ACCOUNTS.passwordless.id,
      { headers: {}, socket: {} } as never,
      { set() {}, append() {}, getHeader() {}, setHeader() {} } as never,
    )
    clock.advance(660_000)
    const old = passwordless.authenticationToken
    await ask('changePassword', as(old, asJson({ newPassword: STRONG })))
    for (const { endpoint } of guarded.filter(({ endpoint }) => endpoint.guard?.name === 'recent'))
      await ask(endpoint.id, as(old, asJson({ email: carol })))
    const { authenticationToken } = JSON.parse((await app.call(TOKEN_PATH, { email: carol, password: STRONG })).body)
    await ask('deleteAccount', as(authenticationToken))

    const all = [...new Set(declared())]
    expect(all.filter((one) => !seen.has(one))).toEqual([])
    expect([...seen].filter((one) => !all.includes(one))).toEqual([])
  })
})

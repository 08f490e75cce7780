// Tests factors/factors.ts login/second-factor.ts
import { describe, expect, it } from 'vitest'
import { stepAt, totpAt } from '../../../src/factors/totp.js'
import { ACCOUNT, accountPackage } from '../../support/account-app.js'
import { fromBase32 } from '../../support/base32.js'
import { decodePayload } from '../../support/fixtures.js'
import { send } from '../../support/host.js'
import { EXPRESS, listen, TOKEN_PATH } from '../../support/http.js'

const STEP = 30_000

describe.each(EXPRESS)('a second factor, on %s', async (_name, express) => {
  const { start, ACCOUNTS, PASSWORD, frozenClock, createLimits } = await accountPackage(express)
  const { alice } = ACCOUNTS

  /** Starts an app with a clock that is the time of each code. */
  async function startWith(change: Parameters<typeof start>[0] = {}) {
    const clock = frozenClock()
    const app = await start({ clock, secondFactor: true, ...change })
    const otpOf = (secret: Buffer, drift = 0) => totpAt(secret, stepAt(clock()) + drift)
    const signIn = (otp?: unknown, password = PASSWORD) =>
      app.call(TOKEN_PATH, { email: alice.email, password, ...(otp !== undefined && { otp }) })

    /** Switches the authenticator app of Alice on. */
    async function setUp() {
      const { token, refreshToken } = await app.signIn(alice.email, PASSWORD)
      const begun = await app.call(`${ACCOUNT}/totp`, undefined, { token })
      expect(begun.status).toBe(200)
      const { secret: text, uri } = JSON.parse(begun.body)
      expect(uri).toContain(`secret=${text}`)
      const secret = fromBase32(text)
      const confirmed = await app.call(`${ACCOUNT}/totp/confirm`, { otp: otpOf(secret) }, { token })
      expect(confirmed.status).toBe(200)
      clock.advance(STEP)
      const { recoveryCodes } = JSON.parse(confirmed.body) as { recoveryCodes: string[] }
      return { token, refreshToken, secret, recoveryCodes }
    }
    return { ...app, clock, otpOf, signInWith: signIn, setUp }
  }

  const codeIn = ({ body }: { body: string }) => (body ? JSON.parse(body).code : undefined)

  it('is asked for after the password, and each code works once', async () => {
    const app = await startWith()
    const { secret, recoveryCodes } = await app.setUp()
    expect(recoveryCodes).toHaveLength(10)
    const required = await app.signInWith()
    expect([required.status, codeIn(required)]).toEqual([403, 'code_required'])
    const wrong = await app.signInWith('000000')
    expect([wrong.status, codeIn(wrong)]).toEqual([403, 'wrong_code'])
    const otp = app.otpOf(secret)
    const right = await app.signInWith(otp)
    expect(right.status).toBe(200)
    expect(decodePayload(JSON.parse(right.body).authenticationToken)).toMatchObject({ amr: ['pwd', 'otp', 'mfa'] })
    expect(codeIn(await app.signInWith(otp))).toBe('wrong_code')
    expect((await app.signInWith(otp, 'wrong')).body).toBe('')
  })

  it('says nothing to somebody without the password', async () => {
    const app = await startWith()
    await app.setUp()
    for (const otp of [undefined, '000000', 'abcd-efgh-ijkl-mnop'])
      expect(await app.signInWith(otp, 'wrong')).toMatchObject({ status: 403, body: '' })
  })

  it.each([123_456, true, ['000000'], { code: '000000' }])('refuses a code that is not a text: %j', async (otp) => {
    const app = await startWith()
    expect((await app.signInWith(otp)).status).toBe(400)
    await app.setUp()
    for (const password of [PASSWORD, 'wrong']) {
      const answer = await app.signInWith(otp, password)
      expect([answer.status, codeIn(answer)]).toEqual([400, 'invalid_body'])
    }
    expect(codeIn(await app.signInWith(null))).toBe('code_required')
  })

  it('takes each recovery code once, in any spelling', async () => {
    const app = await startWith()
    const { recoveryCodes } = await app.setUp()
    const [first = '', second = ''] = recoveryCodes
    expect((await app.signInWith(first)).status).toBe(200)
    expect(codeIn(await app.signInWith(first))).toBe('wrong_code')
    expect((await app.signInWith(second.toUpperCase().replaceAll('-', ' '))).status).toBe(200)
  })

  it('of the same code at the same time, one works', async () => {
    const app = await startWith()
    const { secret, recoveryCodes } = await app.setUp()
    for (const code of [app.otpOf(secret), recoveryCodes[0]]) {
      const answers = await Promise.all(Array.from({ length: 5 }, () => app.signInWith(code)))
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    }
  })

  it('refuses every code of the app after 20 wrong ones in a row, until a recovery code', async () => {
    const app = await startWith({ limits: false })
    const { secret, recoveryCodes } = await app.setUp()
    for (let i = 0; i < 19; i++) await app.signInWith('000000')
    expect((await app.signInWith(app.otpOf(secret))).status).toBe(200)
    app.clock.advance(STEP)
    for (let i = 0; i < 20; i++) await app.signInWith('000000')
    expect(codeIn(await app.signInWith(app.otpOf(secret)))).toBe('wrong_code')
    expect((await app.signInWith(recoveryCodes[0])).status).toBe(200)
    app.clock.advance(STEP)
    expect((await app.signInWith(app.otpOf(secret))).status).toBe(200)
  })

  it('counts a wrong code as a failed login, and a missing one not', async () => {
    const limits = createLimits({ limits: { pair: { points: 2, duration: '15m' } } })
    const app = await startWith({ limits })
    const { secret } = await app.setUp()
    for (let i = 0; i < 5; i++) expect((await app.signInWith()).status).toBe(403)
    for (let i = 0; i < 2; i++) expect((await app.signInWith('000000')).status).toBe(403)
    expect((await app.signInWith(app.otpOf(secret))).status).toBe(429)
  })

  it('ends the other sessions, tells the owner, and has an event', async () => {
    const app = await startWith()
    const other = await app.signIn(alice.email, PASSWORD)
    const { token } = await app.setUp()
    expect([await app.isIn(other.token), await app.isIn(token)]).toEqual([401, 200])
    expect(await app.received('factors-changed')).toMatchObject([{ to: alice.email, details: { added: 'totp' } }])
    expect(app.of('factor.added')).toMatchObject([{ accountId: alice.id, factor: 'totp' }])
  })

  it('is set up only with its first code, within ten minutes', async () => {
    const app = await startWith()
    const { token } = await app.signIn(alice.email, PASSWORD)
    expect(codeIn(await app.call(`${ACCOUNT}/totp/confirm`, { otp: '000000' }, { token }))).toBe('wrong_code')
    const begun = await app.call(`${ACCOUNT}/totp`, undefined, { token })
    const secret = fromBase32(JSON.parse(begun.body).secret)
    expect((await app.signInWith()).status).toBe(200)
    app.clock.advance(599_000)
    const late = await app.signIn(alice.email, PASSWORD)
    app.clock.advance(1000)
    const refused = await app.call(`${ACCOUNT}/totp/confirm`, { otp: app.otpOf(secret) }, { token: late.token })
    expect(codeIn(refused)).toBe('wrong_code')
    expect((await app.signInWith()).status).toBe(200)
  })

  it('keeps the old app on until a new one is confirmed', async () => {
    const app = await startWith()
    const { token, secret } = await app.setUp()
    const begun = await app.call(`${ACCOUNT}/totp`, undefined, { token })
    const next = fromBase32(JSON.parse(begun.body).secret)
    expect((await app.signInWith(app.otpOf(secret))).status).toBe(200)
    app.clock.advance(STEP)
    expect((await app.call(`${ACCOUNT}/totp/confirm`, { otp: app.otpOf(next) }, { token })).status).toBe(200)
    app.clock.advance(STEP)
    expect(codeIn(await app.signInWith(app.otpOf(secret)))).toBe('wrong_code')
    expect((await app.signInWith(app.otpOf(next))).status).toBe(200)
  })

  it('is removed by its user, and by the host', async () => {
    const app = await startWith()
    const { token } = await app.setUp()
    const sent = { method: 'DELETE', token }
    expect((await app.call(`${ACCOUNT}/totp`, undefined, sent)).status).toBe(204)
    expect((await app.call(`${ACCOUNT}/totp`, undefined, sent)).status).toBe(204)
    expect((await app.signInWith()).status).toBe(200)
    expect(app.of('factor.removed')).toHaveLength(1)
    await app.setUp()
    expect(await app.auth.factors?.remove(alice.id)).toBe(true)
    expect(await app.auth.factors?.remove(alice.id)).toBe(false)
    expect((await app.signInWith()).status).toBe(200)
  })

  it('gives new recovery codes, and the old ones stop', async () => {
    const app = await startWith()
    const { token: none } = await app.signIn(alice.email, PASSWORD)
    expect(codeIn(await app.call(`${ACCOUNT}/recovery-codes`, undefined, { token: none }))).toBe('no_second_factor')
    const { token, recoveryCodes } = await app.setUp()
    const renewed = await app.call(`${ACCOUNT}/recovery-codes`, undefined, { token })
    const [next] = JSON.parse(renewed.body).recoveryCodes
    expect(codeIn(await app.signInWith(recoveryCodes[0]))).toBe('wrong_code')
    expect((await app.signInWith(next)).status).toBe(200)
  })

  it('needs a recent sign-in', async () => {
    const app = await startWith()
    const { token } = await app.setUp()
    app.clock.advance(660_000)
    for (const [path, method] of [
      ['totp', 'POST'],
      ['totp/confirm', 'POST'],
      ['totp', 'DELETE'],
      ['recovery-codes', 'POST'],
    ] as const)
      expect((await app.call(`${ACCOUNT}/${path}`, { otp: '1' }, { method, token })).status).toBe(401)
  })

  it('is asked for at a sign-in by mail, whose code a missing one does not use up', async () => {
    const app = await startWith()
    const { secret } = await app.setUp()
    await app.call(`${TOKEN_PATH}/mail`, { email: alice.email })
    const code = await app.codeOf('sign-in')
    const confirm = (otp?: string) => app.call(`${TOKEN_PATH}/mail/confirm`, { code, ...(otp && { otp }) })
    expect(codeIn(await confirm())).toBe('code_required')
    expect((await confirm(app.otpOf(secret))).status).toBe(200)
  })

  it('is asked for at a step-up', async () => {
    const app = await startWith()
    const { secret, token } = await app.setUp()
    const confirm = (otp?: string) =>
      app.call(`${TOKEN_PATH}/confirm`, { password: PASSWORD, ...(otp && { otp }) }, { token })
    expect(codeIn(await confirm())).toBe('code_required')
    expect((await confirm(app.otpOf(secret))).status).toBe(200)
  })

  it('does not show its code to the host', async () => {
    const seen: unknown[] = []
    const app = await startWith({ beforeSignIn: ({ fields, amr }) => void seen.push([{ ...fields }, amr]) })
    const { secret } = await app.setUp()
    seen.length = 0
    await app.signInWith(app.otpOf(secret))
    expect(seen).toEqual([[{}, ['pwd', 'otp', 'mfa']]])
  })

  it('leaves all that "credentials" returns to the host', async () => {
    const seen: unknown[] = []
    const app = await startWith({
      credentials: ({ user, pass, ...others }) => ({
        email: user ?? others['email'],
        password: pass ?? PASSWORD,
        ...others,
      }),
      beforeSignIn: ({ fields }) => void seen.push({ ...fields }),
    })
    const { secret } = await app.setUp()
    seen.length = 0
    const sent = { user: alice.email, pass: PASSWORD, device: 'd-1' }
    expect(codeIn(await app.call(TOKEN_PATH, sent))).toBe('code_required')
    expect((await app.call(TOKEN_PATH, { ...sent, otp: app.otpOf(secret) })).status).toBe(200)
    expect(seen).toEqual([{ device: 'd-1' }])
  })

  it('whose secret is gone is a failure, and never no factor', async () => {
    const app = await startWith({ secret: ['first secret of 32 bytes at least', 'second secret of 32 bytes at least'] })
    const { secret } = await app.setUp()
    const other = await start({
      clock: app.clock,
      secondFactor: true,
      store: app.store,
      secret: 'second secret of 32 bytes at least',
      onEvent: (event) => void app.events.push(event),
    })
    const refused = await other.call(TOKEN_PATH, { email: alice.email, password: PASSWORD, otp: app.otpOf(secret) })
    expect(refused.status).toBe(503)
    expect(app.of('dependency.failed')).toMatchObject([{ dependency: 'factors' }])
  })

  it('is encrypted again under the first secret at each use', async () => {
    const [one, two] = ['first secret of 32 bytes at least', 'second secret of 32 bytes at least']
    const app = await startWith({ secret: one })
    const { secret } = await app.setUp()
    const given = { clock: app.clock, secondFactor: true, store: app.store }
    const signIn = async (secrets: string | string[]) => {
      app.clock.advance(STEP)
      const next = await start({ ...given, secret: secrets })
      return (await next.call(TOKEN_PATH, { email: alice.email, password: PASSWORD, otp: app.otpOf(secret) })).status
    }
    expect(await signIn([two as string, one as string])).toBe(200)
    expect(await signIn(two as string)).toBe(200)
  })

  it('outlives a secret that only decrypts, whose tokens are refused', async () => {
    const [one, two] = ['first secret of 32 bytes at least', 'second secret of 32 bytes at least'] as const
    const app = await startWith({ secret: one })
    const { secret, token, refreshToken } = await app.setUp()
    const given = { clock: app.clock, secondFactor: true, store: app.store }
    const ticket = JSON.parse((await app.call('/ticket?path=/in&method=GET', {}, { token })).body)
    const rotated = await start({ ...given, secret: [two, { secret: one, only: 'decrypt' }] })
    expect((await rotated.refresh(refreshToken)).status).toBe(403)
    expect(await rotated.isIn(token)).toBe(401)
    const statusOf = async ({ auth }: typeof app | typeof rotated) => {
      const links = express().get('/in', auth.guard({ ticket: true }), (_req, res) => void res.end())
      return (await send((await listen(links)).port, { method: 'GET', path: `/in?ticket=${ticket}` })).status
    }
    expect([await statusOf(app), await statusOf(rotated)]).toEqual([200, 401])
    const signIn = async (to: typeof app | typeof rotated) => {
      app.clock.advance(STEP)
      const answer = await to.call(TOKEN_PATH, { email: alice.email, password: PASSWORD, otp: app.otpOf(secret) })
      return answer.status
    }
    expect(await signIn(rotated as typeof app)).toBe(200)
    expect(await signIn((await start({ ...given, secret: two })) as typeof app)).toBe(200)
  })

  it('whose secret only decrypts needs another one that signs', async () => {
    const one = 'first secret of 32 bytes at least'
    const decrypting = { secret: one, only: 'decrypt' } as const
    const wrong: [unknown, string][] = [
      [decrypting, 'This only decrypts'],
      [[decrypting, one], 'Secret 1 of the list only decrypts'],
      [[one, { secret: one }], 'Secret 2 of the list is not a string or bytes'],
      [[one, { ...decrypting, only: 'verify' }], 'Secret 2 of the list is not a string or bytes'],
      [[one, { ...decrypting, issuer: 'x' }], 'Secret 2 of the list is not a string or bytes'],
      [[one, { secret: 'short', only: 'decrypt' }], 'Secret 2 of the list is too short'],
    ]
    for (const [secret, message] of wrong)
      await expect(start({ secret } as { secret: string })).rejects.toThrow(message)
  })
})

import express from 'express'
import type { FactorStore, Session, StoredFactor } from 'express-token-endpoint'
import { describe, expect, it } from 'vitest'
import { stepAt, totpAt } from '../../../src/factors/totp.js'
import { ACCOUNT, accountPackage, STRONG } from '../../support/account-app.js'
import { fromBase32 } from '../../support/base32.js'
import { all, deferred, statuses } from '../../support/concurrency.js'
import { type Answer, asForm, send } from '../../support/host.js'
import { listen, TOKEN_PATH } from '../../support/http.js'

const { start, frozenClock, memoryStore, ACCOUNTS, PASSWORD } = await accountPackage(express)
const { alice } = ACCOUNTS
const STEP = 30_000
const TOTP = `${ACCOUNT}/totp`

/** A store whose calls a test may change. */
function changeableStore() {
  const { sessions, factors, codes } = memoryStore()
  const store = { codes, sessions: { ...sessions }, factors: { ...factors } as FactorStore }
  return { store, plain: { sessions, factors } }
}

/** Starts an app with a clock that is the time of each code. */
async function startWith(change: Parameters<typeof start>[0] = {}) {
  const clock = frozenClock()
  const { store, plain } = changeableStore()
  const app = await start({ clock, store, secondFactor: true, apiKeys: true, limits: false, ...change })
  const otpOf = (secret: Buffer, drift = 0) => totpAt(secret, stepAt(clock()) + drift)
  const signInWith = (otp?: unknown) =>
    app.call(TOKEN_PATH, { email: alice.email, password: PASSWORD, ...(otp !== undefined && { otp }) })

  async function begin(token: string): Promise<Buffer> {
    const begun = await app.call(TOTP, undefined, { token })
    expect(begun.status).toBe(200)
    return fromBase32(JSON.parse(begun.body).secret)
  }
  const confirm = (token: string, otp: unknown) => app.call(`${TOTP}/confirm`, { otp }, { token })

  /** Switches the authenticator app of Alice on. */
  async function setUp(token?: string) {
    const own = token ?? (await app.signIn(alice.email, PASSWORD)).token
    const secret = await begin(own)
    const confirmed = await confirm(own, otpOf(secret))
    expect(confirmed.status).toBe(200)
    clock.advance(STEP)
    return { token: own, secret, recoveryCodes: JSON.parse(confirmed.body).recoveryCodes as string[] }
  }
  return { ...app, store, plain, clock, otpOf, signInWith, begin, confirm, setUp }
}

const codeIn = ({ body }: Answer) => (body ? JSON.parse(body).code : undefined)

describe('somebody who has the password of an account with an authenticator app', () => {
  it.each(['password', 'mail', 'logIn'] as const)(
    'and whose sign-in by %s overtakes the set-up gets no session',
    async (way) => {
      for (const place of ['before', 'after'] as const) {
        const app = await startWith()
        const [reached, go] = [deferred<void>(), deferred<void>()]
        const { token } = await app.signIn(alice.email, PASSWORD)
        const [mine] = await app.plain.sessions.list(alice.id)
        const secret = await app.begin(token)
        await app.call(`${TOKEN_PATH}/mail`, { email: alice.email })
        const code = await app.codeOf('sign-in')
        async function wait() {
          reached.resolve()
          await go.promise
        }
        app.store.sessions.add = async (session: Session) => {
          if (place === 'before') await wait()
          await app.plain.sessions.add(session)
          if (place === 'after') await wait()
        }
        const own = express().post('/log-in', async (req, res) => {
          const { subject } = await app.auth.logIn({ email: alice.email, password: PASSWORD }, req)
          await app.auth.signIn(subject, req, res).then(
            (body) => res.json(body),
            (error) => res.status(error.status).end(),
          )
        })
        const signingIn = {
          password: () => app.signInWith(),
          mail: () => app.call(`${TOKEN_PATH}/mail/confirm`, { code }),
          logIn: async () => send((await listen(own)).port, { method: 'POST', path: '/log-in' }),
        }[way]()
        await reached.promise
        expect((await app.confirm(token, app.otpOf(secret))).status).toBe(200)
        go.resolve()
        expect([place, (await signingIn).status]).toEqual([place, 403])
        expect((await app.plain.sessions.list(alice.id)).map(({ id }) => id)).toEqual([mine?.id])
      }
    },
  )

  it('gets in by no way without the code', async () => {
    const app = await startWith({ passwordReset: true })
    const { token } = await app.setUp()
    await app.call(`${TOKEN_PATH}/mail`, { email: alice.email })
    const code = await app.codeOf('sign-in')
    const ways: (() => Promise<Answer>)[] = [
      () => app.signInWith(),
      () => app.call(TOKEN_PATH, undefined, asForm(`email=${alice.email}&password=${PASSWORD}&otp=`)),
      () => app.call(`${TOKEN_PATH}/mail/confirm`, { code }),
      () => app.call(`${TOKEN_PATH}/confirm`, { password: PASSWORD }, { token }),
    ]
    for (const way of ways) expect(codeIn(await way())).toBe('code_required')
    const { auth } = app
    await expect(auth.logIn({ email: alice.email, password: PASSWORD })).rejects.toMatchObject({
      code: 'code_required',
    })
    await app.call(`${ACCOUNT}/password/forgotten`, { email: alice.email })
    const reset = { code: await app.codeOf('password-reset'), password: STRONG }
    expect((await app.call(`${ACCOUNT}/password/reset`, reset)).status).toBe(204)
    const again = await app.call(TOKEN_PATH, { email: alice.email, password: STRONG })
    expect(codeIn(again)).toBe('code_required')
  })

  it('sends codes of odd shapes and gets a refusal', async () => {
    const app = await startWith()
    const { secret } = await app.setUp()
    const right = app.otpOf(secret)
    const odd: unknown[] = [
      [right],
      { 0: right, length: 1 },
      Number(right),
      true,
      false,
      0,
      `${right}0`,
      `0${right}`,
      `${right}\n`,
      `\u0000${right}`,
      '١٢٣٤٥٦',
      '𝟙𝟚𝟛𝟜𝟝𝟞',
      ' '.repeat(9000),
      '-'.repeat(9000),
      'a'.repeat(9000),
      '__proto__',
    ]
    for (const otp of odd) {
      const code = typeof otp === 'string' ? 'wrong_code' : 'invalid_body'
      expect([otp, codeIn(await app.signInWith(otp))]).toEqual([otp, code])
    }
    const twice = await app.call(
      TOKEN_PATH,
      undefined,
      asForm(`email=${alice.email}&password=${PASSWORD}&otp=000000&otp=${right}`),
    )
    expect(twice.status).not.toBe(200)
    expect((await app.signInWith(` ${right.slice(0, 3)} ${right.slice(3)} `)).status).toBe(200)
  })

  it('guesses two hundred times at once: at most twenty codes are checked', async () => {
    const app = await startWith()
    const { secret } = await app.setUp()
    let checked = 0
    app.store.factors.replace = async (...change) => {
      const isReplaced = await app.plain.factors.replace(...change)
      if (isReplaced) checked++
      return isReplaced
    }
    for (let round = 0; round < 4; round++)
      expect(statuses(await all(50, (i) => app.signInWith(String(100_000 + i))))).toEqual({ 403: 50 })
    expect(checked).toBeLessThanOrEqual(20)
    for (let i = checked; i < 20; i++) await app.signInWith('000000')
    expect([checked, codeIn(await app.signInWith(app.otpOf(secret)))]).toEqual([20, 'wrong_code'])
  })

  it('sends a code again after the clock of the server went back', async () => {
    const app = await startWith()
    const { secret } = await app.setUp()
    const otp = app.otpOf(secret)
    expect((await app.signInWith(otp)).status).toBe(200)
    for (const change of [-STEP, -3_600_000, 3_600_000 + STEP, STEP]) {
      app.clock.advance(change)
      expect([change, codeIn(await app.signInWith(otp))]).toEqual([change, 'wrong_code'])
    }
    app.clock.advance(STEP)
    expect((await app.signInWith(app.otpOf(secret))).status).toBe(200)
  })

  it('finds no code, secret or key in any event', async () => {
    const app = await startWith()
    const { token, secret, recoveryCodes } = await app.setUp()
    const otp = app.otpOf(secret)
    const { key } = JSON.parse((await app.call(`${ACCOUNT}/api-keys`, { name: 'ci' }, { token })).body)
    await app.signInWith('123456')
    app.store.factors.replace = () => Promise.reject(new Error('down'))
    expect((await app.signInWith(otp)).status).toBe(503)
    expect((await app.signInWith(recoveryCodes[0])).status).toBe(503)
    const withErrors = (_name: string, value: unknown) => (value instanceof Error ? `${value.stack}` : value)
    const told = JSON.stringify(app.events, withErrors)
    expect(told).toContain('down')
    for (const hidden of [otp, '123456', secret.toString('hex'), ...recoveryCodes, key])
      expect(told).not.toContain(hidden)
  })
})

describe('a store of factors that is wrong', () => {
  it.each<[string, (factor: StoredFactor) => unknown]>([
    ['of another account', (factor) => ({ ...factor, accountId: `${factor.accountId} ` })],
    ['of another kind', (factor) => ({ ...factor, kind: 'TOTP' })],
    ['with another id', (factor) => ({ ...factor, id: factor.id.toLowerCase() })],
    [
      'that has expired in 1970, as `new Date(null)` says',
      (factor) => ({ ...factor, expiresAt: new Date(null as never) }),
    ],
    ['with the data of nobody', (factor) => ({ ...factor, data: '{}' })],
    ['with no JSON', (factor) => ({ ...factor, data: 'x' })],
    ['that is no factor', () => 'factor'],
  ])('and returns one %s opens no account', async (_what, change) => {
    const app = await startWith()
    const { secret } = await app.setUp()
    app.store.factors.find = async (id) => {
      const found = await app.plain.factors.find(id)
      return found && (change(found) as StoredFactor)
    }
    expect((await app.signInWith(app.otpOf(secret))).status).toBe(503)
    expect([503, 403]).toContain((await app.signInWith()).status)
    expect(app.of('dependency.failed')).toContainEqual(expect.objectContaining({ dependency: 'factors' }))
  })

  it('and swaps the data of two accounts opens neither', async () => {
    const app = await startWith()
    const { secret } = await app.setUp()
    const other = await startWith()
    const mine = await other.setUp()
    const [of, theirs] = [await app.plain.factors.list(alice.id), await other.plain.factors.list(alice.id)]
    const totp = (list: readonly StoredFactor[]) => list.find(({ kind }) => kind === 'totp') as StoredFactor
    app.store.factors.find = async (id) => {
      const found = await app.plain.factors.find(id)
      return found?.kind === 'totp'
        ? { ...found, data: totp(theirs).data.replace(/"sealed":"[^"]{20}/, '"sealed":"x') }
        : found
    }
    for (const one of [secret, mine.secret]) expect((await app.signInWith(app.otpOf(one))).status).toBe(503)
    expect(totp(of).data).not.toBe(totp(theirs).data)
  })

  it.each(['find', 'replace', 'remove', 'add'] as const)(
    'and fails at each call of %s in turn leaves nothing half done',
    async (method) => {
      for (let failing = 0; failing < 8; failing++) {
        const app = await startWith()
        const first = await app.setUp()
        let calls = 0
        const original = app.plain.factors[method] as (...given: unknown[]) => unknown
        const fail = (...given: unknown[]) =>
          calls++ === failing ? Promise.reject(new Error('down')) : original(...given)
        Object.assign(app.store.factors, { [method]: fail })
        const begun = await app.call(TOTP, undefined, { token: first.token })
        const next = begun.status === 200 ? fromBase32(JSON.parse(begun.body).secret) : undefined
        const confirmed = next && (await app.confirm(first.token, app.otpOf(next)))
        Object.assign(app.store.factors, { [method]: original })
        // The account stays closed, and one of the two apps opens it.
        expect(codeIn(await app.signInWith())).toBe('code_required')
        app.clock.advance(STEP)
        const answers = [await app.signInWith(app.otpOf(first.secret)), next && (await app.signInWith(app.otpOf(next)))]
        expect(answers.filter((answer) => answer?.status === 200)).toHaveLength(1)
        if (confirmed?.status === 200) expect(answers[1]?.status).toBe(200)
        // The set-up can be repeated.
        const again = await app.setUp(first.token)
        expect((await app.signInWith(app.otpOf(again.secret))).status).toBe(200)
        if (calls <= failing) return
      }
    },
  )

  it('and fails at each step of a removal: the repetition tells the owner and ends the other sessions', async () => {
    for (let failing = 0; failing < 12; failing++) {
      const app = await startWith()
      const { token, secret } = await app.setUp()
      const other = JSON.parse((await app.signInWith(app.otpOf(secret))).body)
      await app.received('factors-changed')
      let calls = 0
      const failAt = <T extends object>(store: T, plain: T, names: (keyof T)[]) => {
        for (const name of names) {
          const original = plain[name] as (...given: unknown[]) => unknown
          store[name] = ((...given: unknown[]) =>
            calls++ === failing ? Promise.reject(new Error('down')) : original(...given)) as T[keyof T]
        }
      }
      failAt(app.store.factors, app.plain.factors, ['remove'])
      failAt(app.store.sessions, app.plain.sessions, ['remove', 'removeAll'])
      const remove = () => app.call(TOTP, undefined, { method: 'DELETE', token })
      const one = await remove()
      const isOver = calls <= failing
      calls = Number.POSITIVE_INFINITY
      const two = await remove()
      expect([failing, one.status, two.status]).toEqual([failing, isOver ? 204 : 503, 204])
      expect([failing, await app.isIn(other.authenticationToken)]).toEqual([failing, 401])
      expect([failing, app.of('factor.removed').length]).toEqual([failing, 1])
      expect([failing, (await app.received('factors-changed')).length]).toEqual([failing, 1])
      if (isOver) return
    }
    throw new Error('Every call failed')
  })

  it('and fails after a recovery code was checked does not lose it', async () => {
    const app = await startWith()
    const { recoveryCodes } = await app.setUp()
    for (let i = 0; i < 20; i++) await app.signInWith('000000')
    app.store.factors.replace = () => Promise.reject(new Error('down'))
    expect((await app.signInWith(recoveryCodes[0])).status).toBe(503)
    let calls = 0
    app.store.factors.replace = (...change) => {
      if (++calls === 2) throw new Error('down')
      return app.plain.factors.replace(...change)
    }
    expect((await app.signInWith(recoveryCodes[0])).status).toBe(503)
    app.store.factors.replace = app.plain.factors.replace
    expect((await app.signInWith(recoveryCodes[0])).status).toBe(200)
  })
})

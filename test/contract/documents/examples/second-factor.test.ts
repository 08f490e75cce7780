import request from 'supertest'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { stepAt, totpAt } from '../../../../src/factors/totp.js'
import { fromBase32 } from '../../../support/base32.js'
import { until } from '../../../support/concurrency.js'
import { startExamples } from '../../../support/documents/examples.js'
import { TOKEN_PATH } from '../../../support/http.js'

const { run } = startExamples(import.meta.url)

const ALICE = { email: 'alice@example.com', password: 'secret' }
const ACCOUNT = '/auth/account'
const BEARER = { type: 'bearer' } as const

describe.each(['express', 'express4'])('the page on the second factor, on %s', (installed) => {
  async function start(part: string) {
    vi.resetModules()
    vi.doMock('express', () => import(/* @vite-ignore */ installed))
    onTestFinished(() => void vi.doUnmock('express'))
    const { app, auth, db, kinds } = await run<{ kinds: string[] }>('second-factor', `${installed} ${part}`)
    onTestFinished(() => db.destroy())
    if (installed === 'express4') expect(app).toHaveProperty('lazyrouter')
    const post = (path: string, body: object, token = '') => request(app).post(path).auth(token, BEARER).send(body)
    const signIn = (more: object = {}) => post(TOKEN_PATH, { ...ALICE, ...more })
    const codeOf = async (more?: object) => (await signIn(more).expect(403)).body.code

    /** Switches the authenticator app on. The code of a step works at the step before and after too, so no test waits. */
    async function setUp() {
      const { authenticationToken: token } = (await signIn().expect(200)).body
      const { secret, uri } = (await post(`${ACCOUNT}/totp`, {}, token).expect(200)).body
      const step = stepAt(Date.now())
      const otpOf = (later: number) => totpAt(fromBase32(secret), step + later)
      const confirm = (otp: string) => post(`${ACCOUNT}/totp/confirm`, { otp }, token)
      return { token, uri, otpOf, confirm }
    }
    return { app, auth, kinds, post, signIn, codeOf, setUp }
  }

  it('second-factor: an app is set up, asked for, and replaced by a recovery code or the support', async () => {
    const { auth, kinds, signIn, codeOf, setUp } = await start('app')
    const { uri, otpOf, confirm } = await setUp()
    expect(uri).toMatch(/^otpauth:\/\/totp\/Example:alice%40example.com\?/)
    expect((await confirm('12345').expect(403)).body.code).toBe('wrong_code')
    await signIn().expect(200)
    const { recoveryCodes } = (await confirm(otpOf(0)).expect(200)).body
    await until(() => expect(kinds).toEqual(['factors-changed']))

    expect(await codeOf()).toBe('code_required')
    expect(await codeOf({ otp: otpOf(0) })).toBe('wrong_code')
    const { authenticationToken } = (await signIn({ otp: otpOf(1) }).expect(200)).body
    expect((await auth.tokens.verify(authenticationToken)).amr).toEqual(['pwd', 'otp', 'mfa'])

    await signIn({ otp: recoveryCodes[0] }).expect(200)
    expect(await codeOf({ otp: recoveryCodes[0] })).toBe('wrong_code')
    const { accountId } = await auth.tokens.verify(authenticationToken)
    expect(await auth.factors?.remove(accountId)).toBe(true)
    await signIn().expect(200)
  })

  it('second-factor: a key enters the route that admits keys, and no other', async () => {
    const { app, post, signIn } = await start('key')
    const { authenticationToken: token } = (await signIn().expect(200)).body
    const wanted = { name: 'CI', scopes: ['reports:read'], lifetime: '30d' }
    await post(`${ACCOUNT}/api-keys`, { ...wanted, scopes: ['admin'] }, token).expect(403)
    const { key } = (await post(`${ACCOUNT}/api-keys`, wanted, token).expect(201)).body
    expect(key).toMatch(/^etk_/)
    const reports = () => request(app).get('/reports').auth(key, BEARER)
    await reports().expect(200, { of: '1' })
    await request(app).get(`${ACCOUNT}/api-keys`).auth(key, BEARER).expect(401)

    const { keys } = (await request(app).get(`${ACCOUNT}/api-keys`).auth(token, BEARER).expect(200)).body
    expect(keys).toMatchObject([{ name: 'CI', scopes: ['reports:read'], lastUsedAt: expect.any(String) }])
    await request(app).delete(`${ACCOUNT}/api-keys/${keys[0].id}`).auth(token, BEARER).expect(204)
    await reports().expect(401)
  })
})

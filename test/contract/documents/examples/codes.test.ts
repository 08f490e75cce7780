import type { Account, Auth } from 'express-token-endpoint'
import request from 'supertest'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { deferred, settled, until } from '../../../support/concurrency.js'
import { get, overtake, startExamples } from '../../../support/documents/examples.js'
import { TOKEN_PATH } from '../../../support/http.js'

const { run } = startExamples(import.meta.url)

const GOOD = { email: 'alice@example.com', password: 'secret' }

describe('the page on codes', () => {
  const PASSWORD = 'a new password of 15'

  async function startCodes(instance: string) {
    interface Recipe extends Record<'mailed' | 'verified', string[]> {
      account: object
      auth: Auth<Account>
      failing: Set<string>
      lookUp: { before(): Promise<void> }
    }
    const recipe = await run<Recipe>('codes', instance)
    const { app, mailed } = recipe
    const post = (path: string, body: object) => request(app).post(path).send(body)
    let mails = 0
    /** Asks for a mail, and returns the code in it. */
    async function codeFor(purpose: string): Promise<string> {
      await post(`/${purpose}/mail`, { email: GOOD.email }).expect(202)
      await until(() => expect(mailed).toHaveLength(mails + 1))
      return String(mailed[mails++]?.split('#')[1])
    }
    return { ...recipe, post, codeFor }
  }

  it('codes: verifies an address once, and takes no code for another purpose', async () => {
    const { verified, post, codeFor } = await startCodes('verify')
    const code = await codeFor('verify')
    await post('/sign-in', { code }).expect(403)
    for (const wrong of [undefined, { $ne: 1 }, 'x'.repeat(43)]) await post('/verify', { code: wrong }).expect(403)
    await post('/verify', { code }).expect(204)
    await post('/verify', { code }).expect(403)
    expect(verified).toEqual(['acc-1'])
  })

  it('codes: signs in once within 15 minutes, with a session, unless the account is disabled', async () => {
    const { auth, account, mailed, sessions, post, codeFor } = await startCodes('sign-in')
    const code = await codeFor('sign-in')
    const responses = await Promise.all([post('/sign-in', { code }), post('/sign-in', { code })])
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 403])
    const found = responses.find(({ status }) => status === 200)
    expect(found?.headers).toMatchObject({ 'cache-control': 'no-store' })
    const token = await auth.tokens.verify(found?.body.authenticationToken)
    expect(await sessions.isEnded(token)).toBe(false)
    const [late, later] = [await codeFor('sign-in'), await codeFor('sign-in')]
    Object.assign(account, { disabled: true })
    await post('/sign-in', { code: late }).expect(403)
    await post('/sign-in/mail', { email: GOOD.email }).expect(202)
    await settled()
    expect(mailed).toHaveLength(3)
    Object.assign(account, { disabled: false })
    vi.useFakeTimers({ now: Date.now() + 900_000, toFake: ['Date'] })
    onTestFinished(() => void vi.useRealTimers())
    await post('/sign-in', { code: later }).expect(403)
  })

  it('codes: responds before the look-up of the account, so that the time tells nothing', async () => {
    const { lookUp, mailed, post } = await startCodes('time')
    const { promise, resolve } = deferred<void>()
    lookUp.before = () => promise
    await post('/reset/mail', { email: GOOD.email }).expect(202)
    expect(mailed).toEqual([])
    resolve()
    await until(() => expect(mailed).toHaveLength(1))
  })

  it('codes: mails three codes in 15 minutes, so that requests of others fill no mailbox and lock nobody out', async () => {
    const { mailed, post, codeFor } = await startCodes('limit')
    for (const email of ['nobody@example.com', { $ne: 1 }, undefined])
      await post('/sign-in/mail', { email }).expect(202)
    const first = await codeFor('sign-in')
    for (let i = 0; i < 4; i++) await post('/sign-in/mail', { email: GOOD.email }).expect(202, 'Accepted')
    await until(() => expect(mailed).toHaveLength(3))
    await post('/sign-in', { code: first }).expect(200)
    vi.useFakeTimers({ now: Date.now() + 900_001, toFake: ['Date'] })
    onTestFinished(() => void vi.useRealTimers())
    await post('/sign-in/mail', { email: GOOD.email }).expect(202)
    await until(() => expect(mailed).toHaveLength(4))
  })

  it('codes: resets a password once, and ends the sessions, the other codes and the failed logins of the account', async () => {
    const { sessions, post, codeFor } = await startCodes('reset')
    const { body } = await post(TOKEN_PATH, GOOD).expect(200)
    expect(body).toHaveProperty('authenticationToken')
    const [code, other] = [await codeFor('reset'), await codeFor('sign-in')]
    for (let i = 0; i < 10; i++) await post(TOKEN_PATH, { ...GOOD, password: 'wrong' }).expect(403)
    await post(TOKEN_PATH, GOOD).expect(429)
    for (const password of [undefined, { $ne: 1 }, 'short', 'x'.repeat(1001)])
      await post('/reset', { code, password }).expect(422)
    const responses = await Promise.all([1, 2].map(() => post('/reset', { code, password: PASSWORD })))
    expect(responses.map(({ status }) => status).sort()).toEqual([204, 403])
    expect(await sessions.list('acc-1')).toEqual([])
    await post('/sign-in', { code: other }).expect(403)
    await post(TOKEN_PATH, GOOD).expect(403)
    await post(TOKEN_PATH, { ...GOOD, password: PASSWORD }).expect(200)
  })

  it('codes: a reset that fails leaves the old password, or no token of it', async () => {
    const { app, auth, failing, post, codeFor } = await startCodes('failure')
    app.get('/me', auth.guard(), (req, res) => void res.json(auth.userOf(req).id))
    vi.useFakeTimers({ now: Date.now() - 5000, toFake: ['Date'] })
    onTestFinished(() => void vi.useRealTimers())
    const { body } = await post(TOKEN_PATH, GOOD).expect(200)
    vi.useRealTimers()
    failing.add('changePassword')
    await post('/reset', { code: await codeFor('reset'), password: PASSWORD }).expect(500)
    await get(app, '/me', body.authenticationToken).expect(200)
    failing.add('endAll')
    await post('/reset', { code: await codeFor('reset'), password: PASSWORD }).expect(503)
    await get(app, '/me', body.authenticationToken).expect(401)
    await post('/reset', { code: await codeFor('reset'), password: PASSWORD }).expect(204)
  })

  it.each<[Parameters<typeof overtake>[1], number]>([
    ['before the session', 403],
    ['after the response', 200],
  ])('codes: leaves no session of the old password with a reset %s of a sign-in', async (when, status) => {
    const { auth, store, post, codeFor } = await startCodes(when)
    const code = await codeFor('reset')
    const reset = () => post('/reset', { code, password: PASSWORD }).expect(204)
    expect(await overtake({ auth, store }, when, reset)).toEqual({ status, live: [] })
  })
})

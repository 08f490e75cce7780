import { authOf } from 'express-token-endpoint'
import request from 'supertest'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { until } from '../../../support/concurrency.js'
import { startExamples } from '../../../support/documents/examples.js'
import { TOKEN_PATH } from '../../../support/http.js'

const { run } = startExamples(import.meta.url)

const [FIRST, SECOND, THIRD] = ['a quiet harbour at dawn', 'a loud harbour at noon', 'an empty harbour at night']
const ACCOUNT = '/auth/account'

describe.each(['express', 'express4'])('the page on account routes, on %s', (installed) => {
  async function start() {
    vi.resetModules()
    vi.doMock('express', () => import(/* @vite-ignore */ installed))
    vi.doMock('node:timers/promises', () => ({ setTimeout: async () => {} }))
    onTestFinished(() => {
      vi.doUnmock('express')
      vi.doUnmock('node:timers/promises')
    })
    const { app, auth, db, sent } = await run<{ sent: Record<'to' | 'text' | 'link', string>[] }>(
      'account-routes',
      installed,
    )
    onTestFinished(() => db.destroy())
    if (installed === 'express4') expect(app).toHaveProperty('lazyrouter')
    app.get('/in', auth.guard(), (req, res) => void res.json(authOf(req).accountId))
    const post = (path: string, body: object, token = '') =>
      request(app).post(path).auth(token, { type: 'bearer' }).send(body)
    const isIn = (token: string) => request(app).get('/in').auth(token, { type: 'bearer' })
    const logIn = (email: string, password: string) => post(TOKEN_PATH, { email, password })
    /** Returns the next mail of a kind. */
    async function mailOf(kind: string) {
      await until(() => expect(sent.some(({ text }) => text.startsWith(kind))).toBe(true))
      const [mail] = sent.splice(
        sent.findIndex(({ text }) => text.startsWith(kind)),
        1,
      )
      return { ...mail, code: mail?.link?.split(`/${kind}#`)[1] }
    }
    return { app, db, post, isIn, logIn, mailOf }
  }

  it('account-routes: one user does all of it', async () => {
    const { app, db, post, isIn, logIn, mailOf } = await start()
    const [email, other] = ['carol@example.com', 'caroline@example.com']

    await post(ACCOUNT, { email }).expect(202, '')
    const { code, to } = await mailOf('sign-up')
    expect(to).toBe(email)
    const { body: signedUp } = await post(`${ACCOUNT}/confirm`, { code, password: FIRST, name: 'Carol' }).expect(200)
    expect(await db.selectFrom('users').select(['email', 'name']).execute()).toEqual([{ email, name: 'Carol' }])
    const { text: id } = await isIn(signedUp.authenticationToken).expect(200)

    await post(`${ACCOUNT}/password/forgotten`, { email }).expect(202, '')
    const reset = { code: (await mailOf('password-reset')).code, password: SECOND }
    await post(`${ACCOUNT}/password/reset`, { ...reset, password: 'short' }).expect(422)
    await post(`${ACCOUNT}/password/reset`, reset).expect(204)
    await post(`${ACCOUNT}/password/reset`, reset).expect(403)
    expect((await mailOf('password-changed')).to).toBe(email)
    await isIn(signedUp.authenticationToken).expect(401)
    await logIn(email, FIRST).expect(403)

    const { body: here } = await logIn(email, SECOND).expect(200)
    const { body: there } = await logIn(email, SECOND).expect(200)
    const token = here.authenticationToken
    await post(`${ACCOUNT}/password`, { password: FIRST, newPassword: THIRD }, token).expect(403)
    await post(`${ACCOUNT}/password`, { password: SECOND, newPassword: THIRD }, token).expect(204)
    await isIn(there.authenticationToken).expect(401)
    await isIn(token).expect(200)

    await post(`${TOKEN_PATH}/confirm`, { password: SECOND }, token).expect(403, '')
    const { body: confirmed } = await post(`${TOKEN_PATH}/confirm`, { password: THIRD }, token).expect(200)
    await post(`${ACCOUNT}/address`, { email: other }, confirmed.authenticationToken).expect(202)
    const moved = await mailOf('new-address')
    await post(`${ACCOUNT}/address/confirm`, { code: moved.code }, token).expect(204)
    const notice = await mailOf('address-changed')
    expect([moved.to, notice.to, notice.text]).toEqual([
      other,
      email,
      `address-changed${JSON.stringify({ email: other })}`,
    ])

    await post(`${TOKEN_PATH}/mail`, { email: other }).expect(202, '')
    const mailed = await mailOf('sign-in')
    const { body: byMail } = await post(`${TOKEN_PATH}/mail/confirm`, { code: mailed.code }).expect(200)
    expect((await isIn(byMail.authenticationToken).expect(200)).text).toBe(id)

    const remove = request(app).delete(ACCOUNT).auth(byMail.authenticationToken, { type: 'bearer' })
    await remove.expect(204)
    expect(await db.selectFrom('users').selectAll().execute()).toEqual([])
    await isIn(token).expect(401)
    await logIn(other, THIRD).expect(403)
  })
})

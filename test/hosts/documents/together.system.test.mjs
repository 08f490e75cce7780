// Mounts the recipes of the pages in one app, each below its own path.

import request from 'supertest'
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { signIn, startExamples, VERSIONS, wrappedExpress4 } from '../../support/documents/examples.js'
import { issueNow, SECRET } from '../../support/fixtures.js'
import { TOKEN_PATH } from '../../support/http.js'
import { NO_HOSTS } from '../kit.js'

const { run } = startExamples(import.meta.url)

/** The last one reads every body that reaches it, so nothing follows it. */
const RECIPES = ['google', 'github', 'graphql', 'trpc', 'act-as', 'tenants', 'keep-express-session']
const GOOD = { email: 'alice@example.com', password: 'secret' }
const SIGN_IN =
  'mutation ($email: String!, $password: String!) { signIn(email: $email, password: $password) { authenticationToken } }'

beforeAll(() => {
  Object.assign(process.env, { SESSION_SECRET: SECRET, GOOGLE_CLIENT_ID: 'client-1', GITHUB_CLIENT_ID: 'client-1' })
})

describe.skipIf(NO_HOSTS).each(VERSIONS)('the recipes together, on %s', (version) => {
  async function start() {
    vi.resetModules()
    if (version === 'express4') vi.doMock('express', wrappedExpress4) // resolved from this folder, which has its own Express
    onTestFinished(() => void vi.doUnmock('express'))
    const { default: express } = await import('express')
    const whole = express()
    const recipes = {}
    for (const name of RECIPES) {
      const recipe = await run(name, `${version} together`)
      whole.use(`/${name}`, recipe.app)
      recipes[name] = recipe
    }
    const post = (path, body, token = '') => request(whole).post(path).auth(token, { type: 'bearer' }).send(body)
    return { whole, recipes, post }
  }

  it('each signs in beside the others', async () => {
    const { whole, recipes, post } = await start()
    for (const app of [whole, recipes.github.app]) expect('lazyrouter' in app).toBe(version === 'express4')
    await signIn(whole, `/google${TOKEN_PATH}`).expect(200)
    expect((await post('/google/google/nonce').expect(200)).body).toEqual({ nonce: expect.any(String) })
    const begun = await request(whole).get('/github/github').expect(302)
    expect(begun.headers.location).toMatch(/^https:\/\/github\.com\/login\/oauth\/authorize\?.*code_challenge=/)
    const { body } = await post('/graphql/graphql', { query: SIGN_IN, variables: GOOD }).expect(200)
    expect(body.data.signIn.authenticationToken).toEqual(expect.any(String))
    const { token } = issueNow(recipes.trpc.tokens, { accountId: 'acc-1' })
    const account = await request(whole).get('/trpc/trpc/account').auth(token, { type: 'bearer' }).expect(200)
    expect(account.body).toEqual({ result: { data: 'acc-1' } })
    const admin = (await post(`/act-as${TOKEN_PATH}`, { ...GOOD, email: 'bob@example.com' }).expect(200)).body
    const acting = (await post('/act-as/act-as/acc-1', {}, admin.authenticationToken).expect(200)).body
    const seen = await request(whole).get('/act-as/me').auth(acting.authenticationToken, { type: 'bearer' }).expect(200)
    expect(seen.body).toEqual({ id: 'acc-1', actor: 'adm-1' })
    await signIn(whole, `/tenants${TOKEN_PATH}`).expect(403)
    await post(`/tenants${TOKEN_PATH}`, GOOD).set('Host', 'north.example.com').expect(200)
    await post('/keep-express-session/login', GOOD).expect(200, { id: 'acc-1' })
  })

  it('each refuses what it refuses alone, and its failures reach no other recipe', async () => {
    const { whole, recipes, post } = await start()
    await post('/google/google/sign-in', { credential: 'x.y.z', nonce: 'unknown' }).expect(403)
    await request(whole)
      .get('/github/github/callback?code=1&state=forged')
      .set('Cookie', '__Host-github=x.y')
      .expect(403)
    await post('/graphql/graphql', { query: SIGN_IN, variables: { ...GOOD, password: 'wrong' } }).expect(403)
    await request(whole).get('/trpc/trpc/account').expect(401)
    const user = (await signIn(whole, `/act-as${TOKEN_PATH}`).expect(200)).body.authenticationToken
    await post('/act-as/act-as/acc-1', {}, user).expect(403)
    await post('/keep-express-session/login', { ...GOOD, password: 'wrong' }).expect(403)
    const broken = await post('/keep-express-session/login').type('json').send('{"password":hunter2}').expect(400)
    expect(broken.text).not.toContain('hunter2')
    // A token of a session that another recipe does not know is refused where sessions are checked.
    const { token } = issueNow(recipes.trpc.tokens, { accountId: 'acc-1' })
    await request(whole).get('/act-as/me').auth(token, { type: 'bearer' }).expect(401)
    for (let i = 0; i < 10; i++) await post(`/google${TOKEN_PATH}`, { ...GOOD, password: 'wrong' })
    await signIn(whole, `/google${TOKEN_PATH}`).expect(429)
    await post('/keep-express-session/login', GOOD).expect(200)
  })
})

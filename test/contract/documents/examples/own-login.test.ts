import request from 'supertest'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { oldKeys, signIn, startExamples } from '../../../support/documents/examples.js'
import { TOKEN_PATH } from '../../../support/http.js'

const { run } = startExamples(import.meta.url)

const GOOD = { email: 'alice@example.com', password: 'secret' }

describe('the page on own routes', () => {
  it('own-response: reads the user name, and returns the names of OAuth', async () => {
    const { app, tokens } = await run('own-response')
    const { body } = await request(app)
      .post('/login')
      .send({ username: GOOD.email, password: GOOD.password })
      .expect(200)
    expect(body).toMatchObject({ token_type: 'Bearer', expires_in: expect.any(Number) })
    expect(await tokens.verify(body.access_token)).toMatchObject({ accountId: 'acc-1' })
    await signIn(app, '/login').expect(400)
  })

  it('own-route: returns a token and a column of the account, and sends each refusal', async () => {
    const { app, auth } = await run('own-route')
    const send = (body: object) => request(app).post('/kiosk/sign-in').send(body)
    const { body } = await send(GOOD).expect(200).expect('Cache-Control', 'no-store')
    expect(await auth.tokens.verify(body.authenticationToken)).toMatchObject({
      scopes: ['statements:read'],
      claims: { admin: true },
    })
    expect(Object.keys(body)).toEqual(['authenticationToken', 'expiration', 'email'])
    await send({ ...GOOD, password: 'wrong' }).expect(403, '')
    const { body: problem } = await send({ email: { $ne: 1 }, password: { $ne: 1 } }).expect(400)
    expect(problem).toMatchObject({ code: 'invalid_body' })
    await signIn(app).expect(200)
  })

  it('own-route-express-4: sends each refusal on Express 4', async () => {
    vi.doMock('express', () => import('express4'))
    onTestFinished(() => void vi.doUnmock('express'))
    const { app, auth } = await run('own-route-express-4')
    expect(app).toHaveProperty('lazyrouter')
    const send = (body: object) => request(app).post('/kiosk/sign-in').send(body)
    const { body } = await send(GOOD).expect(200)
    expect(await auth.tokens.verify(body.authenticationToken)).toMatchObject({ accountId: 'acc-1' })
    await send({ ...GOOD, password: 'wrong' }).expect(403, '')
  })
})

describe('the recipes', () => {
  const WRONG = { ...GOOD, password: 'wrong' }

  it('graphql: returns a token, and each refusal with its status and code', async () => {
    const { app, auth } = await run('graphql')
    const { tokens } = auth
    const query =
      'mutation ($email: String!, $password: String!) { signIn(email: $email, password: $password) { authenticationToken } }'
    const send = (variables: object, source = query) => request(app).post('/graphql').send({ query: source, variables })
    const { body } = await send(GOOD).expect(200).expect('Cache-Control', 'no-store')
    expect(await tokens.verify(body.data.signIn.authenticationToken)).toMatchObject({ accountId: 'acc-1' })
    const refused = await send(WRONG).expect(403)
    expect(refused.body).toMatchObject({
      data: { signIn: null },
      errors: [{ extensions: { code: 'invalid_credentials' } }],
    })
    const many = Array.from(
      { length: 20 },
      (_, i) => `a${i}: signIn(email: "bob@example.com", password: "x") { authenticationToken }`,
    )
    const { body: guesses } = await send({}, `mutation { ${many.join(' ')} }`)
    const codes = guesses.errors.map(({ extensions }: { extensions: { code: string } }) => extensions.code)
    expect(codes.filter((code: string) => code === 'too_many_attempts')).toHaveLength(10)
    expect((await send({}, '{ nothing }').expect(200)).body.errors[0].message).toContain('nothing')
    const failed = await send({ ...GOOD, email: 'big@example.com' }).expect(503)
    expect(failed.body.errors).toMatchObject([{ extensions: { code: 'unavailable' } }])
    const sign = () => Promise.reject(new Error('key at kms.internal'))
    tokens.replaceKeys({ alg: 'ES256', publicKey: oldKeys.publicKey, sign })
    const { text } = await send(GOOD).expect(503)
    expect(text).not.toContain('kms')
    const long = Array.from({ length: 100 }, (_, i) => `a${i}: fields { type { fields { name } } }`)
    await send({}, `{ __schema { types { ${long.join(' ')} } } }`).expect(413)
    const broken = await request(app)
      .post('/graphql')
      .type('json')
      .send('{"variables":{"password":hunter2}}')
      .expect(400)
    expect(broken.text).not.toContain('hunter2')
  })

  it('two-names: finds the account by each name and spelling of a user', async () => {
    const { app } = await run('two-names')
    const send = (email: unknown, password = 'secret') => request(app).post(TOKEN_PATH).send({ email, password })
    const names = [' Alice@example.com', '+49 151 12345678', '0151/12345678', '0049-151-12345678']
    for (const name of names) await send(name).expect(200)
    for (const name of ['bob', 'bob@example.com', '17', names[0]]) await send(name, 'wrong').expect(403)
  })

  it('limits-reset: refuses after five wrong passwords, and lets the user in at once', async () => {
    const { auth, unlock } = await run<{ unlock: (account: { id: string; email: string }) => Promise<void> }>(
      'limits-reset',
    )
    const { logIn } = auth
    const attempt = (password: string) => logIn({ ...GOOD, password }, { address: '192.0.2.1' })
    for (let i = 0; i < 5; i++) await expect(attempt('wrong')).rejects.toMatchObject({ code: 'invalid_credentials' })
    await expect(attempt('secret')).rejects.toMatchObject({ code: 'too_many_attempts' })
    await unlock({ id: 'acc-1', email: 'Alice@example.com' })
    expect(await attempt('secret')).toMatchObject({ subject: { accountId: 'acc-1' } })
  })
})

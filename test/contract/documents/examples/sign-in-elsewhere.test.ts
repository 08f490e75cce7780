import { createHash, createPrivateKey } from 'node:crypto'
import express, { type Response } from 'express'
import request from 'supertest'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { startExamples, useExpress, VERSIONS } from '../../../support/documents/examples.js'
import { readPage } from '../../../support/documents/pages.js'
import { forge, issueNow, makeIssuer, signingKey } from '../../../support/fixtures.js'
import { listen } from '../../../support/http.js'

const { run } = startExamples(import.meta.url)

/** Starts a provider, and returns a function that writes its ID tokens. */
async function startProvider() {
  const provider = express()
  const { url } = await listen(provider)
  const keys = signingKey('RS256')
  const { kid } = makeIssuer({ keys }).jwks().keys[0] ?? {}
  provider.get(
    '/.well-known/openid-configuration',
    (_req, res) => void res.json({ issuer: url, jwks_uri: `${url}/keys` }),
  )
  provider.get('/keys', (_req, res) => void res.json(makeIssuer({ keys }).jwks()))
  Object.assign(process.env, { GOOGLE_ISSUER: url, GOOGLE_CLIENT_ID: 'client-1' })
  const iat = Math.floor(Date.now() / 1000)
  const idToken = (claims: object) =>
    forge(
      { alg: 'RS256', kid, typ: 'JWT' },
      { iss: url, aud: 'client-1', sub: 'g-1', iat, exp: iat + 60, ...claims },
      createPrivateKey(keys.privateKey as string),
      'RS256',
    )
  return { iat, idToken }
}

describe.each(VERSIONS)('the page on other sign-ins, on %s', (version) => {
  it('google: signs a new user in, and again, with each nonce once, and never with an access token', async () => {
    const { iat, idToken } = await startProvider()
    useExpress(version)
    const { app, created } = await run<{ created: object[] }>('google', version)
    const send = async (claims: object = {}, more: object = {}) => {
      const { nonce } = (await request(app).post('/google/nonce').expect(200)).body
      const body = { credential: idToken({ nonce, ...claims }), nonce, ...more }
      const { status, body: answer } = await request(app).post('/google/sign-in').send(body)
      return { status, body: answer, sent: body }
    }
    const first = await send({ email: 'bob@example.com', email_verified: true })
    expect(first).toMatchObject({ status: 200, body: { authenticationToken: expect.any(String) } })
    expect(await send()).toMatchObject({ status: 200 })
    const onlyBob = [{ google: 'g-1', email: 'bob@example.com' }]
    expect(created).toEqual(onlyBob)
    expect((await request(app).post('/google/sign-in').send(first.sent)).status).toBe(403)
    for (const [claims, more] of [
      [{ aud: 'client-2' }],
      [{ nonce: 'another' }],
      [{ nonce: undefined }],
      [{ scope: 'reports:read' }],
      [{ exp: iat }],
      [{}, { credential: first.body.authenticationToken }],
      [{}, { credential: { toString: 'x' } }],
    ] as const)
      expect((await send(claims, more)).status).toBe(401)
    expect((await send({}, { nonce: { $ne: 1 } })).status).toBe(403)
    const taken = await send({ sub: 'g-2', email: 'alice@example.com', email_verified: true })
    expect(taken).toMatchObject({ status: 403, body: { code: 'account_exists' } })
    expect(created).toEqual(onlyBob)
    // An address that Google has not verified is not stored, and takes over no account.
    await send({ sub: 'g-2', email: 'alice@example.com', email_verified: false })
    expect(created).toEqual([...onlyBob, { google: 'g-2', email: null }])
  })

  it('google-connect: connects after a recent sign-in, and never the Google of a different account', async () => {
    const { idToken } = await startProvider()
    useExpress(version)
    const { app, auth, nonces, users } = await run<{
      nonces: { add(nonce: string, expiresAt: number): Promise<void> }
      users: { id: string; google?: string; passwordHash: null }[]
    }>('google-connect', version)
    const tokenOf = (ago: number) =>
      issueNow(auth.tokens, { accountId: 'acc-1', issuedAt: new Date(Date.now() - ago) }).token
    const send = async (claims: object, token = tokenOf(0), more: object = {}) => {
      await nonces.add('nonce-1', Date.now() + 60_000)
      const body = { credential: idToken({ nonce: 'nonce-1', ...claims }), nonce: 'nonce-1', ...more }
      return request(app).post('/google/connect').auth(token, { type: 'bearer' }).send(body)
    }
    const statusOf = async (...given: Parameters<typeof send>) => (await send(...given)).status
    users.push({ id: 'acc-2', google: 'g-2', passwordHash: null })
    expect((await send({}, tokenOf(600_000))).headers['www-authenticate']).toContain('max_age="300"')
    expect(await statusOf({}, 'x.y.z')).toBe(401)
    expect(await statusOf({ nonce: 'another' })).toBe(401)
    expect(await statusOf({}, tokenOf(0), { nonce: 'unknown' })).toBe(403)
    expect(await send({ sub: 'g-2' })).toMatchObject({ status: 409, body: { code: 'already_connected' } })
    expect(users.map(({ google }) => google)).toEqual([undefined, 'g-2'])
    // The address of the token does not matter, because the user has proved both accounts.
    expect(await statusOf({ email: 'mallory@example.com', email_verified: false })).toBe(204)
    expect(users.map(({ google }) => google)).toEqual(['g-1', 'g-2'])
    expect(await statusOf({})).toBe(204)
  })

  it('github: signs in with the code of this browser, once, and finds accounts by the id only', async () => {
    const provider = await startGithub()
    useExpress(version)
    const { app, auth, created } = await run<{ created: object[] }>('github', version)
    expect('lazyrouter' in app).toBe(version === 'express4')
    const begin = async () => {
      const { headers } = await request(app).get('/github').expect(302)
      const cookie = String(headers['set-cookie'])
      expect(cookie).toMatch(
        /^__Host-github=[^;]+; Max-Age=600; Path=\/; Expires=[^;]+; HttpOnly; Secure; SameSite=Lax$/,
      )
      const { origin, searchParams } = new URL(String(headers['location']))
      expect(origin).toBe(provider.url)
      return { cookie: cookie.split(';')[0] ?? '', ...Object.fromEntries(searchParams) } as Record<string, string>
    }
    const finish = (query: object, cookie?: string) => {
      const sent = request(app).get('/github/callback').query(query)
      return cookie ? sent.set('Cookie', cookie) : sent
    }
    const { cookie = '', state = '', ...asked } = await begin()
    const code = provider.codeFor(asked)
    for (const [query, sent] of [
      [{ code, state }, undefined],
      [{ code }, cookie],
      [{ code, state: state.replace(/./, '~') }, cookie],
      [{ code, state: [state, state] }, cookie],
      [{ code, state: '' }, '__Host-github=.'],
      [{ state }, cookie],
      [{ state, code: [code, code] }, cookie],
    ] as const)
      await finish(query, sent).expect(403)
    expect(provider.exchanges).toBe(0)

    const done = await finish({ code, state }, cookie).expect(302).expect('Location', 'https://app.example.com/')
    const cookies = String(done.headers['set-cookie'])
    expect(cookies).toContain('__Host-github=; ')
    expect(cookies).toMatch(/HttpOnly; .*SameSite=Strict/)
    expect(created).toEqual([{ github: '7', email: 'bob@example.com' }])
    expect(await auth.sessions?.list('user-1')).toHaveLength(1)

    await finish({ code, state }, cookie).expect(403) // the provider refuses the code
    const other = await begin()
    // A stolen code, in the browser of the thief, lacks the verifier.
    const stolen = provider.codeFor(asked)
    await finish({ code: stolen, state: other['state'] }, other['cookie']).expect(403)

    const again = async () => {
      const { cookie = '', state = '', ...asked } = await begin()
      return finish({ code: provider.codeFor(asked), state }, cookie)
    }
    provider.emails = []
    expect(await again()).toMatchObject({ status: 302 })
    Object.assign(provider, { id: 8, emails: [{ email: 'alice@example.com', primary: true, verified: true }] })
    expect(await again()).toMatchObject({ status: 403, body: { code: 'account_exists' } })
    expect(created).toHaveLength(1)
    provider.emails = [{ email: 'alice@example.com', primary: true, verified: false }]
    expect(await again()).toMatchObject({ status: 302 })
    expect(created.at(-1)).toEqual({ github: '8', email: null })
    provider.down = true
    const failed = await again()
    expect(failed).toMatchObject({ status: 503, body: { code: 'unavailable' } })
    expect(failed.text).not.toContain('GitHub')
  })
})

/** Starts a provider without ID tokens, whose codes work once and with their verifier only. */
async function startGithub() {
  const app = express()
  const { url } = await listen(app)
  const env = { GITHUB_URL: url, GITHUB_API_URL: url, GITHUB_CLIENT_ID: 'client-1', GITHUB_CLIENT_SECRET: 'secret-1' }
  Object.assign(process.env, env)
  const codes = new Map<string, Record<string, string>>()
  const provider = {
    url,
    id: 7,
    down: false,
    exchanges: 0,
    emails: [
      { email: 'alice@example.com', primary: false, verified: true },
      { email: 'bob@example.com', primary: true, verified: true },
    ],
    codeFor(asked: Record<string, string>) {
      const code = `code-${codes.size}`
      codes.set(code, asked)
      return code
    },
  }
  app.use((_req, res, next) => void (provider.down ? res.status(500).end() : next()))
  app.post('/login/oauth/access_token', express.urlencoded({ extended: false }), (req, res) => {
    provider.exchanges++
    const { code, code_verifier: verifier, client_id: id, client_secret: secret, redirect_uri: redirect } = req.body
    const asked = codes.get(code) ?? {}
    codes.set(code, {})
    const challenge = createHash('sha256').update(String(verifier)).digest('base64url')
    const isValid =
      asked['code_challenge'] === challenge &&
      asked['code_challenge_method'] === 'S256' &&
      asked['redirect_uri'] === redirect &&
      asked['client_id'] === id &&
      secret === 'secret-1'
    res.json(isValid ? { access_token: 'gho_1', token_type: 'bearer' } : { error: 'bad_verification_code' })
  })
  const onlyWithToken: express.RequestHandler = (req, res, next) =>
    void (req.headers.authorization === 'Bearer gho_1' ? next() : res.sendStatus(401))
  app.get('/user', onlyWithToken, (_req, res) => void res.json({ id: provider.id, email: 'alice@example.com' }))
  app.get('/user/emails', onlyWithToken, (_req, res) => void res.json(provider.emails))
  return provider
}

const EASY = [
  'passwordpassword1',
  'Password12345678',
  'P@ssw0rdP@ssw0rd',
  'aaaaaaaaaaaaaaaa',
  'abcdefghijklmnop',
  'qwertyuiopasdfghjkl',
  'letmeinletmeinletmein',
  'welcomewelcome2026',
  'abc123abc123abc123',
]

describe('the page on new passwords', () => {
  it('leaked-passwords: refuses leaked and short ones, sends 5 digits of a digest, and fails open with a warning', async () => {
    const asked: string[] = []
    let answer: (digest: string, res: Response) => void = () => {}
    const digestOf = (password: string) => createHash('sha1').update(password).digest('hex').toUpperCase()
    const leaked = 'correct horse battery'
    const service = express().use((req, res) => {
      asked.push(`${req.url} ${req.headers['add-padding']}`)
      answer(digestOf(leaked), res)
    })
    process.env['LEAKED_PASSWORDS'] = `${(await listen(service)).url}/range/`
    const { passwords, warnings } = await run<{ warnings: unknown[] }>('leaked-passwords')
    const codeOf = (password: string) =>
      passwords.hash(password).then(
        () => 'hashed',
        ({ code }) => code,
      )
    answer = (digest, res) => void res.send(`${'0'.repeat(35)}:7\r\n${digest.slice(5)}:12`)
    expect(await codeOf(leaked)).toBe('weak_password')
    expect(asked).toEqual([`/range/${digestOf(leaked).slice(0, 5)} true`])
    expect(await codeOf('another horse battery')).toBe('hashed')
    answer = (digest, res) => void res.send(`${digest.slice(5)}:0`)
    expect(await codeOf(leaked)).toBe('hashed')
    expect(warnings).toHaveLength(0)

    answer = (_digest, res) => void res.sendStatus(500)
    expect(await codeOf(leaked)).toBe('hashed')
    answer = (_digest, res) => void res.destroy()
    expect(await codeOf(leaked)).toBe('hashed')
    const limits = vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => AbortSignal.abort())
    onTestFinished(() => limits.mockRestore())
    answer = () => {}
    expect(await codeOf(leaked)).toBe('hashed')
    expect(limits).toHaveBeenCalledWith(2000)
    expect(warnings).toHaveLength(3)
    expect(JSON.stringify(warnings)).not.toContain(leaked)
  })

  it('offline-passwords: refuses long passwords that are leaked or easy to guess, when a hash for a user is made', async () => {
    const { passwords, leaked } = await run<{ leaked: Set<string> }>('offline-passwords')
    const codeOf = (password: string) =>
      passwords.hash(password).then(
        () => 'hashed',
        ({ code }) => code,
      )
    // A password of the list that the estimate would allow, in other letter cases too.
    expect(leaked).toContain('30secondstomars')
    for (const password of ['30SecondsToMars', 'TimeSheets-2026', ...EASY])
      expect([password, await codeOf(password)]).toEqual([password, 'weak_password'])
    for (const password of ['violet otter sings at noon', 'kq7 wv2 nb4 zt9', 'to be or not to be'])
      expect([password, await codeOf(password)]).toEqual([password, 'hashed'])
    // A long one ends soon, because only its beginning is looked at.
    expect(await codeOf('p4$$w0rd1!0@5+7%2'.repeat(60))).toMatch(/hashed|weak_password/)
  })

  it('has the number of the leaked passwords that the page names', async () => {
    const { lines } = await run<{ lines: string[] }>('offline-passwords')
    const count = lines.filter((line) => line.length >= 15).length
    expect(readPage('docs/guides/passwords.md').text).toContain(`${count.toLocaleString('en')} leaked passwords`)
  })
})

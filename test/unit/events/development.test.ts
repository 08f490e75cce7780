// Tests events/{warnings,shared-secrets}.ts options/awaited.ts

import express, { type Request, type Response } from 'express'
import type { AuthOptions } from 'express-token-endpoint'
import { passkeys } from 'express-token-endpoint/passkeys'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { WARNINGS } from '../../../src/events/warnings.js'
import { type Ceremony, createAuthenticator } from '../../support/authenticator.js'
import { rejectionOf } from '../../support/failures.js'
import { asJson, GOOD, packageOn, send } from '../../support/host.js'
import { listen, TOKEN_PATH } from '../../support/http.js'

const warned = vi.fn()
beforeEach(() => {
  warned.mockClear()
  vi.spyOn(process, 'emitWarning').mockImplementation(warned)
})
afterEach(() => vi.restoreAllMocks())

/** Sets NODE_ENV until the end of the test. */
function inEnvironment(name: 'development' | 'production'): void {
  vi.stubEnv('NODE_ENV', name)
  onTestFinished(() => void vi.unstubAllEnvs())
}

/** Loads a new copy of the package, because a process warns once. */
async function load() {
  const kit = await packageOn(express)
  const ofRefresh = () => ({ store: kit.memoryStore(), secret: 'secret r'.repeat(4) })
  const authWith = (options: Partial<AuthOptions> = {}) =>
    kit.createAuth({
      issuer: kit.ISSUER,
      keys: { alg: 'HS256', secret: kit.SECRET },
      accounts: kit.makeStore(),
      passwords: kit.fastPasswords(),
      limits: false,
      ...options,
    })
  return { ...kit, ofRefresh, authWith }
}
type Kit = Awaited<ReturnType<typeof load>>
const { alice } = (await packageOn(express)).ACCOUNTS

const texts = () => warned.mock.calls.map(([text]) => String(text))

const login = (body: object, headers: object = {}) => {
  const sent = asJson(body)
  return { ...sent, headers: { ...sent.headers, ...headers } }
}

/** Signs in at a router that is mounted at a path, and then at the app's own route. */
async function signInAt(kit: Kit, mount: string, options: Partial<AuthOptions>, routes: readonly string[]) {
  const auth = kit.authWith({ ...kit.ofRefresh(), refresh: 'cookie', ...options })
  const app = express().use(mount, auth.router)
  app.post('/passkey', async (req, res) => void res.json(await auth.signIn(alice.id, req, res)))
  const { port } = await listen(app)
  for (const path of routes) {
    const { status } = await send(port, { ...login(GOOD, { 'Sec-Fetch-Site': 'same-origin' }), path })
    expect(status).toBe(200)
  }
}

const postTo = async (kit: Kit, options: Partial<AuthOptions>, body: object, headers: object = {}) => {
  const { port } = await listen(express().use(kit.authWith(options).router))
  return send(port, login(body, headers))
}

/** Signs a challenge at an origin, with a passkey that no account has. */
async function passkeyAt(kit: Kit, origin: string, ceremony: Ceremony = {}) {
  const auth = kit.authWith({ ...kit.ofRefresh(), passkeys: passkeys({ rpId: new URL(kit.ISSUER).hostname }) })
  const { port } = await listen(express().use(auth.router))
  const options = await send(port, { method: 'POST', path: `${TOKEN_PATH}/passkey/options` })
  const passkey = createAuthenticator({ origin }).assert(JSON.parse(options.body), ceremony)
  expect((await send(port, { ...login({ passkey }), path: `${TOKEN_PATH}/passkey` })).status).toBe(403)
}

const HTTP = { 'Sec-Fetch-Site': 'same-origin', Host: 'api.example.com' }
const withCookie = (kit: Kit): Partial<AuthOptions> => ({ ...kit.ofRefresh(), refresh: 'cookie' })
const refusing = (kit: Kit): Partial<AuthOptions> => ({
  beforeSignIn: () => {
    throw new kit.SignInRefusal('code_required')
  },
})
const CODE = 'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0u1V'

type Mistake = readonly [what: string, warning: keyof typeof WARNINGS, run: (kit: Kit) => unknown]

/** Each mistake with what it has in common with uses that are right. */
const MISTAKES: readonly Mistake[] = [
  [
    'a member that "extraFields" does not name',
    'unnamedField',
    (kit) => postTo(kit, refusing(kit), { ...GOOD, code: '271828' }),
  ],
  [
    'such a member of auth.logIn',
    'unnamedField',
    (kit) => rejectionOf(kit.authWith(refusing(kit)).logIn({ ...GOOD, code: '271828' } as never)),
  ],
  ['a refresh cookie over http', 'cookieOverHttp', (kit) => postTo(kit, withCookie(kit), GOOD, HTTP)],
  [
    'a mount path that differs',
    'otherMount',
    (kit) => signInAt(kit, '/api', { mountPath: '/v1' }, [`/api${TOKEN_PATH}`]),
  ],
  [
    'no mount path, and a cookie of auth.signIn',
    'otherMount',
    (kit) => signInAt(kit, '/api', {}, [`/api${TOKEN_PATH}`, '/passkey']),
  ],
  ['the same in the other order', 'otherMount', (kit) => signInAt(kit, '/api', {}, ['/passkey', `/api${TOKEN_PATH}`])],
  ['a passkey of another origin', 'passkeyOrigin', (kit) => passkeyAt(kit, 'https://app.example.com')],
  [
    'swapped arguments of codes.take',
    'swappedCode',
    (kit) => kit.authWith({ store: kit.memoryStore() }).codes?.take(CODE, 'reset-password'),
  ],
  [
    'one secret for tokens and refresh tokens',
    'sharedSecret',
    (kit) =>
      kit.authWith({
        store: kit.memoryStore(),
        secret: kit.SECRET,
        refresh: 'body',
      }),
  ],
  [
    'one secret for old and new tokens',
    'sharedSecret',
    (kit) =>
      kit.authWith({
        alsoAccept: [
          kit.oldTokens({ keys: { alg: 'HS256', secret: kit.SECRET }, accountId: () => 'a', until: new Date() }),
        ],
      }),
  ],
]

/** Uses that are near a mistake, and right. */
const RIGHT: readonly (readonly [what: string, run: (kit: Kit) => unknown])[] = [
  [
    'a member that "extraFields" names',
    (kit) => postTo(kit, { ...refusing(kit), extraFields: ['code'] }, { ...GOOD, code: '271828', remember: true }),
  ],
  ['a member of a sign-in that is not refused', (kit) => postTo(kit, {}, { ...GOOD, code: '271828' })],
  [
    'what the function "credentials" returns',
    (kit) => postTo(kit, { ...refusing(kit), credentials: (body) => body as never }, { ...GOOD, code: '271828' }),
  ],
  ['a refresh cookie on loopback', (kit) => postTo(kit, withCookie(kit), GOOD, { ...HTTP, Host: 'localhost:3000' })],
  [
    'a refresh cookie behind a proxy with https',
    (kit) => postTo(kit, withCookie(kit), GOOD, { ...HTTP, 'X-Forwarded-Proto': 'https' }),
  ],
  ['no refresh cookie over http', (kit) => postTo(kit, { ...kit.ofRefresh(), refresh: 'body' }, GOOD, HTTP)],
  [
    'the mount path',
    (kit) => signInAt(kit, '/api', { mountPath: '/api' }, [`/API${TOKEN_PATH}`, `/api${TOKEN_PATH}`, '/passkey']),
  ],
  ['any mount path without auth.signIn', (kit) => signInAt(kit, '/api', {}, [`/api${TOKEN_PATH}`])],
  [
    'codes.take of an unknown code',
    (kit) => kit.authWith({ store: kit.memoryStore() }).codes?.take('reset-password', CODE),
  ],
  ['a passkey of the origin of the issuer', (kit) => passkeyAt(kit, new URL(kit.ISSUER).origin)],
  ['a forged challenge', (kit) => passkeyAt(kit, 'https://app.example.com', { challenge: 'A'.repeat(72) })],
  ['two secrets', (kit) => kit.authWith({ ...kit.ofRefresh(), refresh: 'body' })],
  ['one secret for the tokens of two apps', (kit) => [kit.authWith(), kit.authWith({ accounts: kit.makeStore() })]],
]

const expectOnly = (warning: keyof typeof WARNINGS) => {
  const [page, text] = WARNINGS[warning]
  expect(texts()).toEqual([`${text}. See ${page}`])
}

describe('in development', () => {
  beforeEach(() => inEnvironment('development'))

  it.each(MISTAKES)('%s is a warning, once: %s', async (_, warning, run) => {
    const kit = await load()
    for (const _ of 'ab') await run(kit)
    // Two apps of one process have their own limits, and the first account is found twice.
    expectOnly(warning)
    for (const secret of ['271828', CODE, kit.SECRET, 'api.example.com']) expect(texts().join()).not.toContain(secret)
  })

  it.each(RIGHT)('%s is no warning', async (_, run) => {
    await run(await load())
    expect(texts()).toEqual([])
  })

  it('the reason of a refused token is a warning, once for each reason', async () => {
    const kit = await load()
    const tokens = kit.makeIssuer()
    const { port } = await listen(express().use(kit.requireBearer({ tokens })))
    const { token } = tokens.issueSync({ accountId: 'acc-1' })
    const foreign = kit.makeIssuer({ keys: { alg: 'HS256', secret: 'secret f'.repeat(4), kid: 'other' } })
    const bad = ['x.y.z', `${token}a`, foreign.issueSync({ accountId: 'acc-1' }).token]
    for (const text of [...bad, ...bad, 'anything']) {
      const { status } = await send(port, { method: 'GET', headers: { Authorization: `Bearer ${text}` } })
      expect(status).toBe(401)
    }
    const reasons = texts().map((text) => /The reason is "(.*?)"/.exec(text)?.[1])
    expect(reasons).toEqual(['malformed', 'signature', 'unknown_key'])
    expect(texts().join()).not.toContain(token)
  })

  it('a custom verifier that invents a reason shows no text', async () => {
    const kit = await load()
    const verify = () => Promise.reject(new kit.AuthError('invalid_token', { reason: 'hunter2' as never }))
    const guard = kit.requireBearer({ tokens: { issuer: kit.ISSUER, verify } as never })
    const { port } = await listen(express().use(guard))
    expect((await send(port, { method: 'GET', headers: { Authorization: 'Bearer x' } })).status).toBe(401)
    expect(texts()).toEqual([])
  })

  it('a guard with onEvent reports reasons only there', async () => {
    const kit = await load()
    const onEvent = vi.fn()
    const { port } = await listen(express().use(kit.requireBearer({ tokens: kit.makeIssuer(), onEvent })))
    await send(port, { method: 'GET', headers: { Authorization: 'Bearer x' } })
    expect(onEvent.mock.calls[0]?.[0]).toMatchObject({ reason: 'malformed' })
    expect(texts()).toEqual([])
  })

  it('sessions in memory are no warning', async () => {
    const kit = await load()
    kit.memoryStore()
    expect(texts()).toEqual([])
  })
})

describe('in production', () => {
  beforeEach(() => inEnvironment('production'))

  it.each(MISTAKES.filter(([, warning]) => warning !== 'swappedCode'))(
    '%s is only the warning about memory',
    async (_, _warning, run) => {
      await run(await load())
      expect(texts().filter((text) => !text.startsWith('memoryStore()'))).toEqual([])
    },
  )

  it('sessions in memory are a warning, once', async () => {
    const kit = await load()
    for (const _ of 'ab') kit.memoryStore()
    expectOnly('sessionsInMemory')
  })

  it('refused tokens are no warning', async () => {
    const kit = await load()
    const { port } = await listen(express().use(kit.requireBearer({ tokens: kit.makeIssuer() })))
    await send(port, { method: 'GET', headers: { Authorization: 'Bearer x' } })
    expect(texts()).toEqual([])
  })
})

describe('a promise as JSON', () => {
  it.each<[string, (auth: ReturnType<Kit['authWith']>, req: Request, res: Response) => unknown]>([
    ['signIn', (auth, req, res) => auth.signIn(alice.id, req, res)],
    ['logIn', (auth, req) => auth.logIn(GOOD, req)],
    ['auth.ticket', (auth, req) => auth.ticket(req, { path: '/reports' })],
  ])('of auth.%s without await is a TypeError that says what to do', async (name, call) => {
    const kit = await load()
    const auth = kit.authWith()
    const app = express().post('/', (req, res) => void res.json(call(auth, req, res)))
    const said: unknown[] = []
    app.use((error: unknown, _req: Request, res: Response, _next: () => void) => {
      said.push(error)
      res.status(500).end()
    })
    const { port } = await listen(app)
    expect((await send(port, { method: 'POST', path: '/' })).status).toBe(500)
    expect(said).toEqual([expect.any(TypeError)])
    expect(String(said[0])).toContain(`${name}: the result is a promise. Write "await" before the call. See `)
  })

  it('keeps its result, and other members', async () => {
    const auth = (await load()).authWith()
    const promise = auth.logIn(GOOD)
    expect(Object.keys(promise)).toEqual([])
    expect(promise).toBeInstanceOf(Promise)
    expect((await promise).account).toMatchObject({ id: alice.id })
  })
})

it('tokensValidAfter that is a number is an error that says how to convert it', async () => {
  const kit = await load()
  const onEvent = vi.fn()
  const { logIn } = kit.authWith({
    accounts: () => ({ ...alice, tokensValidAfter: 1_700_000_000_000 }) as never,
    onEvent,
  })
  expect(await rejectionOf(logIn(GOOD))).toMatchObject({ code: 'unavailable', status: 503 })
  expect(onEvent.mock.calls[0]?.[0]).toMatchObject({ type: 'dependency.failed', dependency: 'accounts' })
  expect(onEvent.mock.calls[0]?.[0].error.message).toMatch(
    /"tokensValidAfter" must be a valid Date, but is a number\. Return new Date\(milliseconds\)/,
  )
})

import { inspect } from 'node:util'
import {
  argon2id,
  bcrypt,
  createAuth,
  createLimits,
  createPasswords,
  createTokenIssuer,
  createTokenVerifier,
  discoverKeys,
  firebaseScrypt,
  type Hasher,
  memoryAccounts,
  memoryStore,
  oldTokens,
  pbkdf2,
  remoteKeys,
  requireBearer,
  scrypt,
  tokenRouter,
} from 'express-token-endpoint'
import { createTokenClient } from 'express-token-endpoint/client'
import { kyselyAccounts, kyselyStore } from 'express-token-endpoint/kysely'
import { openApiDocument } from 'express-token-endpoint/openapi'
import { BearerStrategy, LoginStrategy } from 'express-token-endpoint/passport'
import { redisStore } from 'express-token-endpoint/redis'
import { createTestIssuer } from 'express-token-endpoint/testing'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { startAuth } from '../../support/auth-app.js'
import { ACCOUNTS, fastPasswords, ISSUER, makeIssuer, PASSWORD, SECRET } from '../../support/fixtures.js'
import { GOOD } from '../../support/host.js'
import { createCodes } from '../../support/sessions.js'

/** A secret that consists of digits, as an environment variable that a host converts to a number may hold it. */
const DIGITS = '7305918264'

/** The values that a host may pass by mistake, each with the digits in it. */
const WRONG: readonly (readonly [string, unknown])[] = [
  ['a number', Number(DIGITS)],
  ['a negative number', -Number(DIGITS)],
  ['a bigint', BigInt(DIGITS)],
  ['a text', DIGITS],
  ['a text with a colon', `user:${DIGITS}@example`],
  ['a Buffer', Buffer.from(DIGITS)],
  ['an array', [Number(DIGITS)]],
  ['an array of texts', [DIGITS, DIGITS]],
  ['an object', { value: Number(DIGITS) }],
  ['an object of texts', { secret: DIGITS, toString: () => DIGITS }],
  ['a URL', new URL(`https://user:${DIGITS}@api.example/?token=${DIGITS}#${DIGITS}`)],
  ['a URL as text', `https://user:${DIGITS}@api.example/${DIGITS}?token=${DIGITS}#${DIGITS}`],
  ['a Symbol', Symbol(DIGITS)],
  ['an Error', new Error(DIGITS)],
  ['a Date', new Date(Number(DIGITS))],
]

const TRACES = [DIGITS, Buffer.from(DIGITS).toString('hex'), Buffer.from(DIGITS).toString('base64'), '7_305_918_264']

/** Returns all text of a value: its members, also the hidden ones, and those of what caused it. Bytes appear in hexadecimal. */
function textOf(value: unknown): string {
  const text = inspect(value, { depth: 12, showHidden: true, maxArrayLength: null, maxStringLength: null })
  return `${text} ${text.replaceAll(/(?<=\b[\da-f]{2}) (?=[\da-f]{2}\b)/g, '')}`
}

function expectNoTrace(value: unknown): void {
  const text = textOf(value)
  for (const trace of TRACES) expect(text).not.toContain(trace)
}

const KEYS = { alg: 'HS256', secret: SECRET } as const
const accounts = memoryAccounts(Object.values(ACCOUNTS))
const tokens = makeIssuer()
const passwords = fastPasswords()
const { token } = tokens.issueSync({ accountId: 'acc-1' })
const STORED = {
  id: 'x'.repeat(22),
  accountId: 'acc-1',
  createdAt: new Date(),
  expiresAt: new Date(Date.now() + 60_000),
  lastUsedAt: new Date(),
  address: null,
  userAgent: null,
  label: null,
}

const FIREBASE = { signerKey: `${'A'.repeat(86)}==`, saltSeparator: 'Bw==', rounds: 8, memCost: 1 }

type Make = (options: never) => unknown

/** Returns a row for each option of a function: it gets a wrong value, and the others are right. */
function rowsOf(caller: string, make: Make, right: object, names: readonly string[]) {
  const rows = names.map((name): Row => {
    return [`${caller}: ${name}`, (value) => make({ ...right, [name]: value } as never)]
  })
  return [[`${caller}: the options`, (value) => make(value as never)] as Row, ...rows]
}

type Row = readonly [what: string, pass: (value: never) => unknown]

const LOGIN = ['accounts', 'passwords', 'limits', 'credentials', 'extraFields', 'beforeSignIn', 'tenant', 'respond']
const HOST = ['onEvent', 'refuse', 'emailInEvents', 'allowedOrigins']
const SIGNER = ['issuer', 'audience', 'keys']

const OPTIONS: readonly Row[] = [
  ...rowsOf('createTokenIssuer', createTokenIssuer, { issuer: ISSUER, keys: KEYS }, SIGNER),
  ...rowsOf('createTokenVerifier', createTokenVerifier, { issuer: ISSUER, keys: KEYS }, [...SIGNER, 'accept']),
  ...['alg', 'secret', 'kid', 'privateKey', 'publicKey', 'sign'].flatMap((member): Row[] => [
    [`a key: ${member}`, (value) => createTokenIssuer({ issuer: ISSUER, keys: { ...KEYS, [member]: value } as never })],
    [
      `a key of a list: ${member}`,
      (value) => createTokenVerifier({ issuer: ISSUER, keys: [KEYS, { ...KEYS, kid: '2', [member]: value } as never] }),
    ],
    [
      `a key pair: ${member}`,
      (value) => createTokenIssuer({ issuer: ISSUER, keys: { alg: 'ES256', [member]: value } as never }),
    ],
    [`replaceKeys: ${member}`, (value) => makeIssuer().replaceKeys({ ...KEYS, [member]: value } as never)],
  ]),
  [
    'a key as JWK',
    (k: never) => createTokenVerifier({ issuer: ISSUER, keys: { alg: 'HS256', secret: { kty: 'oct', k } as never } }),
  ],
  [
    'a private key as JWK',
    (d: never) =>
      createTokenIssuer({
        issuer: ISSUER,
        keys: { alg: 'ES256', privateKey: { kty: 'EC', crv: 'P-256', d, x: 'x', y: 'y' } as never },
      }),
  ],
  ...rowsOf('oldTokens', oldTokens, { keys: KEYS, accountId: () => 'a', until: new Date() }, [
    'keys',
    'accountId',
    'scopes',
    'sessionId',
  ]),
  [
    'oldTokens: a secret',
    (secret) => oldTokens({ keys: { alg: 'HS256', secret }, accountId: () => 'a', until: new Date() }),
  ],
  ...rowsOf('createAuth', createAuth, { issuer: ISSUER, keys: KEYS, accounts, store: memoryStore(), secret: SECRET }, [
    'store',
    'secret',
    'refresh',
  ]),
  ...rowsOf('the store', (store) => createAuth({ issuer: ISSUER, keys: KEYS, accounts, store }), memoryStore(), [
    'sessions',
    'codes',
  ]),
  ['remoteKeys: the URL', (value) => remoteKeys(value)],
  ['discoverKeys: the issuer', (value) => discoverKeys(value)],
  ...rowsOf('remoteKeys', (options) => remoteKeys('https://id.example/keys', options), {}, [
    'fetch',
    'onError',
    'algorithms',
  ]),
  ...rowsOf('firebaseScrypt', firebaseScrypt, FIREBASE, ['signerKey', 'saltSeparator']),
  ...rowsOf('createPasswords', createPasswords, {}, ['hashers']),
  ...rowsOf('createLimits', createLimits, {}, ['limiter', 'limits']),
  ...rowsOf('tokenRouter', tokenRouter, { tokens, accounts }, ['tokens', 'path', ...LOGIN, ...HOST]),
  ...rowsOf('createAuth', createAuth, { issuer: ISSUER, keys: KEYS, accounts }, [
    ...SIGNER,
    ...LOGIN,
    ...HOST,
    'sessions',
    'sessionLabel',
    'refresh',
    'codes',
    'alsoAccept',
    'paths',
    'mountPath',
    'isRevoked',
    'tokenFrom',
    'realm',
    'scheme',
  ]),
  ...rowsOf('requireBearer', requireBearer, { tokens }, [
    'tokens',
    'scope',
    'accounts',
    'isRevoked',
    'sessions',
    'allow',
    'tokenFrom',
    'realm',
    'scheme',
    ...HOST.slice(0, 2),
  ]),
  ...rowsOf('LoginStrategy', (options) => new LoginStrategy(options), { tokens, accounts }, [
    'tokens',
    'logIn',
    ...LOGIN,
  ]),
  ...rowsOf('BearerStrategy', (options) => new BearerStrategy(options), { tokens }, ['tokens', 'tokenFrom']),
  ...rowsOf('redisStore', redisStore, { sendCommand: async () => null }, ['sendCommand', 'prefix']),
  ['kyselyStore: the database', (value) => kyselyStore(value as never)],
  ['kyselyAccounts: the database', (value) => kyselyAccounts(value, {} as never)],
  ...rowsOf('createTestIssuer', createTestIssuer, {}, ['issuer', 'keys']),
  ...rowsOf('openApiDocument', openApiDocument, {}, ['path', 'title', 'server', 'issuer']),
  ...rowsOf('createTokenClient', createTokenClient, { url: 'https://api.example', credentials: () => null }, [
    'url',
    'credentials',
    'refresh',
    'path',
    'origins',
    'fetch',
  ]),
  ...['id', 'email', 'passwordHash', 'scopes', 'claims', 'disabled', 'tokensValidAfter'].map(
    (member): Row => [`an account: ${member}`, (value) => memoryAccounts([{ ...ACCOUNTS.bob, [member]: value }])],
  ),
]

const AUTH = createAuth({ issuer: ISSUER, keys: KEYS, accounts, passwords, store: memoryStore() })
const { sessions, codes } = AUTH
const REQUEST = { headers: {}, rawHeaders: [], socket: {}, method: 'POST', url: '/', ip: '127.0.0.1' } as never
const loginOf = async (credentials: unknown) => AUTH.logIn(credentials as never, { address: '127.0.0.1' })

/** Each hasher with a hash that it accepts. */
const HASHERS: readonly (readonly [Hasher, string])[] = [
  [argon2id(), `$argon2id$v=19$m=16,t=2,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`],
  [bcrypt(), `$2b$04$${'a'.repeat(53)}`],
  [bcrypt({ truncate: true }), `$2b$04$${'a'.repeat(53)}`],
  [pbkdf2(), 'pbkdf2_sha256$12000$seasalt2$hlDLKsxgkgb1aeOppkM5atCYw5rPzAjCNQZ4NYyUROw='],
  [scrypt(), `$scrypt$ln=4,r=8,p=1$c2FsdA$${'d'.repeat(42)}A`],
  [firebaseScrypt(FIREBASE), `$firebase-scrypt$42xEC+ixf3L2lw==$${'A'.repeat(86)}==`],
]

const CALLS: readonly Row[] = [
  ['a password to hash', (value) => passwords.hash(value)],
  ['a password to verify', (value) => passwords.verify(value, ACCOUNTS.bob.passwordHash)],
  ['a hash to verify', (value) => passwords.verify(PASSWORD, value)],
  ...HASHERS.flatMap(([hasher, hash], index): Row[] => [
    [`a password of hasher ${index}`, async (value) => hasher.verify(value, hash)],
    [`a hash of hasher ${index}`, async (value) => hasher.verify(PASSWORD, value)],
    [`a hash that hasher ${index} may accept`, async (value) => hasher.accepts(value)],
    [`a password to hash with hasher ${index}`, async (value) => hasher.hash?.(value)],
  ]),
  ['the password of a login', (value) => loginOf({ email: ACCOUNTS.bob.email, password: value })],
  ['the e-mail address of a login', (value) => loginOf({ email: value, password: PASSWORD })],
  ['the credentials of a login', (value) => loginOf(value)],
  ['the label of a sign-in', (value) => AUTH.signIn('acc-1', REQUEST, undefined, { label: value })],
  ['the actor of a sign-in', (value) => AUTH.signIn('acc-1', REQUEST, undefined, { actor: value })],
  ['the details of a sign-in', (value) => AUTH.signIn('acc-1', REQUEST, undefined, value)],
  ['the request of a sign-in', (value) => AUTH.signIn('acc-1', value)],
  ['the options of a guard', (value) => AUTH.guard(value)],
  ['the request of a ticket', (value) => AUTH.ticket(value, { path: '/' })],
  ['the path of a ticket', (value) => AUTH.ticket(REQUEST as never, { path: value })],
  ['a token to verify', (value) => tokens.verify(value)],
  ['a subject of a token', (value) => tokens.issue(value)],
  ['claims of a token', (value) => tokens.issue({ accountId: 'acc-1', claims: value })],
  ['a code to take', (value) => codes.take('reset', value)],
  ['a purpose that is the code', (value) => codes.take(value, 'reset')],
  ['the data of a code', (value) => codes.create({ purpose: 'reset', accountId: 'acc-1', data: value })],
  ['a new code', (value) => codes.create(value)],
  ['an account whose codes to remove', (value) => codes.removeAll(value)],
  ['an account to list sessions of', (value) => sessions.list(value)],
  ['a session to end', (value) => sessions.end(value, value)],
  ['an address to reset', async (value) => Object(AUTH.limits).reset(value)],
]

/** Wrong values that functions and stores of the host return to an app of `createAuth`. */
const RETURNED: readonly Row[] = [
  ...['email', 'passwordHash', 'scopes', 'claims', 'disabled', 'tokensValidAfter', 'id'].map(
    (member): Row => [
      `an account that is found, whose ${member} is wrong`,
      async (value) => {
        const account = { ...ACCOUNTS.bob, team: '', [member]: value }
        return signInWith({ accounts: { findByEmail: () => account as never, findById: () => account as never } })
      },
    ],
  ),
  ['an account', (value) => signInWith({ accounts: { findByEmail: () => value, findById: () => value } })],
  ['the credentials', (value) => signInWith({ credentials: () => value })],
  [
    'the password of the credentials',
    (password) => signInWith({ credentials: ({ email }) => ({ email, password }) as never }),
  ],
  ['the terms of beforeSignIn', (value) => signInWith({ beforeSignIn: () => value })],
  ['the tenant', (value) => signInWith({ tenant: () => value })],
  ['the response', (value) => signInWith({ respond: () => value })],
  ['the label of the session', (value) => signInWith({ sessionLabel: () => value })],
  ['isRevoked', (value) => signInWith({ isRevoked: () => value })],
  ['tokenFrom', (value) => signInWith({ tokenFrom: () => value })],
  [
    'the result of a password check',
    (value) =>
      signInWith({
        passwords: createPasswords({ hashers: [{ accepts: () => true, verify: () => value, hash: () => value }] }),
      }),
  ],
  ['a signature', (value) => signInWith({ keys: { ...createTestIssuer().tokens, sign: () => value } as never })],
  ...(['add', 'list', 'find', 'touch', 'replace', 'remove', 'removeAll'] as const).map(
    (method): Row => [
      `a session store, whose ${method} is wrong`,
      (value) =>
        signInWith({
          store: { sessions: { ...memoryStore().sessions, [method]: () => value } as never },
          secret: SECRET,
          refresh: 'body',
        }),
    ],
  ),
  ...['accountId', 'createdAt', 'expiresAt', 'lastUsedAt', 'refresh', 'id', 'label'].map(
    (member): Row => [
      `a session of a store, whose ${member} is wrong`,
      (value) => {
        const found = { ...STORED, refresh: null, [member]: value }
        const sessions = { ...memoryStore().sessions, find: () => found, list: () => [found] }
        return signInWith({
          store: { sessions: sessions as never },
          secret: SECRET,
          refresh: 'body',
        })
      },
    ],
  ),
  ...(['add', 'take'] as const).map(
    (method): Row => [
      `a code store, whose ${method} is wrong`,
      async (value) => {
        const store = createCodes({ ...memoryStore().codes, [method]: () => value } as never)
        const settled = await Promise.allSettled([
          store.create({ purpose: 'reset', accountId: 'acc-1' }),
          store.take('reset', 'x'.repeat(43)),
        ])
        return settled
      },
    ],
  ),
  [
    'the data of a stored code',
    async (value) => {
      const real = memoryStore().codes
      const store = createCodes({
        ...real,
        take: async (digest) => ({ ...(await real.take(digest)), data: value }) as never,
      })
      const code = await store.create({ purpose: 'reset', accountId: 'acc-1' })
      const [taken] = await Promise.allSettled([store.take('reset', code)])
      return taken?.status === 'rejected' ? taken : undefined
    },
  ],
  [
    'a member of the body',
    async (value) => {
      const app = await startAuth({})
      const body = typeof value === 'bigint' ? {} : { email: ACCOUNTS.bob.email, password: value }
      return [(await app.post('/api/v2013/authentication/token', body)).body, app.events]
    },
  ],
  [
    'the body',
    async (value) => {
      const app = await startAuth({})
      const answer = await app.send({
        method: 'POST',
        path: '/api/v2013/authentication/token',
        headers: { 'content-type': 'application/json' },
        body: String(Object(value).toString?.() ?? value),
      })
      return [answer.body, app.events]
    },
  ],
]

/** Signs in, refreshes and calls a guarded route. Returns what clients and observers see, without what the account itself says. */
async function signInWith(options: Parameters<typeof startAuth>[0]) {
  const app = await startAuth(options)
  const signedIn = await app.post('/api/v2013/authentication/token', GOOD)
  const { refreshToken } = signedIn.status === 200 ? JSON.parse(signedIn.body) : { refreshToken: '' }
  const answers = [
    signedIn.status === 200 ? undefined : signedIn,
    await app.post('/api/v2013/authentication/token/refresh', { refreshToken }),
    await app.post('/passkey'),
    await app.post('/device'),
    await app.get('/me', token),
    await app.get('/sessions', token),
  ].filter((answer) => answer && answer.status >= 400)
  return [answers, app.events.filter(({ type }) => !/issued|started/.test(type))]
}

describe('no error, warning, event or response holds a secret of the wrong type', () => {
  const table = [...OPTIONS, ...CALLS, ...RETURNED].flatMap(([what, pass]) =>
    WRONG.map(([kind, value]) => [what, kind, pass, value] as const),
  )

  it.each(table)('%s: %s', async (_what, _kind, pass, value) => {
    const emitWarning = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    onTestFinished(() => emitWarning.mockRestore())
    try {
      const result = await pass(value as never)
      // An object that was made may hold its options.
      if (Array.isArray(result)) expectNoTrace(result)
    } catch (error) {
      expectNoTrace(error)
    }
    expectNoTrace(emitWarning.mock.calls)
  })
})

import { authOf, type RequireBearerOptions, type VerifiedToken } from 'express-token-endpoint'
import { ACCOUNTS, PASSWORD } from '../../../support/fixtures.js'
import { bearer, login, type Sent, TOKEN_PATH } from '../../../support/plain-js/http-client.mjs'
import { decodePayload, encode, partsOf } from '../../../support/plain-js/token-forger.mjs'
import { type Guard, guardOf, type Hall, load, type Step } from '../exhibit.js'
import { bySecret, guardWith, loginWith, SECRET_KEY, validSecret } from '../ours.js'
import { isFresh, open, present, SECRET, token, tokenOf } from '../tokens.js'

const ATTACKER_SECRET = 'a secret of the attacker'
const NO_TOKEN: Sent = { method: 'GET', path: '/' }

const isValid = (request: Sent) => {
  try {
    return isFresh(tokenOf(request))
  } catch {
    return false
  }
}
const verdictOf = (admitted: boolean) => (admitted ? 'admitted' : 'refused')

const withCookie = (sent: Sent, cookie: string): Sent => ({ ...sent, headers: { ...sent.headers, Cookie: cookie } })
const cookieOf = ({ headers = {} }: Sent) => String(headers['Cookie'])

/** Runs a middleware of Connect's form. */
const ran = (middleware: (req: unknown, res: unknown, next: (error?: unknown) => void) => void, req: unknown) =>
  new Promise<void>((resolve, reject) => middleware(req, {}, (error) => (error ? reject(error) : resolve())))

/** A request to which Passport adds its methods. */
interface SignInRequest {
  session: object
  logIn?: (user: string, done: () => void) => void
  isAuthenticated?: () => boolean
}

/** Creates an app that signs in with sessions of Passport. The session belongs to the cookie that the client sends. */
function passportApp(alias: string): Guard {
  const { Passport } = load(alias)
  const passport = new Passport()
  passport.serializeUser((user: unknown, done: (error: null, user: unknown) => void) => done(null, user))
  passport.deserializeUser((user: unknown, done: (error: null, user: unknown) => void) => done(null, user))
  const sessions = new Map<string, object>()
  return async (request) => {
    const session = sessions.get(cookieOf(request)) ?? {}
    sessions.set(cookieOf(request), session)
    const req: SignInRequest = { session }
    await ran(passport.initialize(), req)
    await ran(passport.session(), req)
    if (request.path === TOKEN_PATH) await new Promise<void>((resolve) => req.logIn?.('acc-1', resolve))
    return verdictOf(req.isAuthenticated?.() === true)
  }
}

const SIGN_IN = login(ACCOUNTS.alice.email, PASSWORD)

/** A guard must stand in front of the route for every request. */
export const LOGIC: Hall = {
  'CVE-2016-10525': {
    source: 'https://github.com/advisories/GHSA-mg8r-9g6j-hwv9',
    year: 2016,
    versions: 'hapi-auth-jwt2 5.1.1',
    fault: 'Where a token is optional, a request without a token counts as authenticated.',
    installed: 'hapi-auth-jwt2-5.1.1',
    faulty: (library) => {
      type Scheme = (server: object, options: object) => { authenticate(request: object, reply: unknown): void }
      let scheme: Scheme | undefined
      const auth = {
        scheme(_name: string, made: Scheme) {
          scheme = made
        },
      }
      library.register({ auth }, {}, () => {})
      const validateFunc = (_claims: unknown, _request: unknown, done: (e: null, valid: boolean) => void) =>
        done(null, true)
      const made = scheme?.({}, { key: SECRET_KEY.secret, validateFunc })
      return ({ headers = {} }) =>
        new Promise((resolve) => {
          const authorization = headers['Authorization']
          const request = { query: {}, headers: { authorization }, auth: { mode: 'try' }, plugins: {} }
          const reply = Object.assign(() => resolve('refused'), { continue: () => resolve('admitted') })
          made?.authenticate(request, reply)
        })
    },
    attack: () => [NO_TOKEN],
    control: validSecret,
    ours: guardWith(SECRET_KEY, { optional: true }),
  },
  'CVE-2022-29165': {
    source: 'https://github.com/argoproj/argo-cd/security/advisories/GHSA-r642-gv9p-2wjj',
    year: 2022,
    versions: 'Argo CD < 2.1.15, < 2.2.9, < 2.3.4',
    fault: 'With anonymous access, the claims of an invalid token are trusted.',
    faulty: () => (request) => {
      const isAnonymous = true
      return verdictOf(isValid(request) || (isAnonymous && open(tokenOf(request)).payload['sub'] === 'acc-1'))
    },
    attack: (typ) => present(token(typ, { key: ATTACKER_SECRET })),
    control: validSecret,
    ours: guardWith(SECRET_KEY, { optional: true }),
    refusal: 'invalid_token: signature',
  },
  'CVE-2025-29927': {
    source: 'https://github.com/advisories/GHSA-f82v-jwr5-mffw',
    year: 2025,
    versions: 'Next.js < 12.3.5, < 13.5.9, < 14.2.25, < 15.2.3',
    fault: 'A header of the client marks a request as internal, which skips the middleware and its guard.',
    faulty: () => (request) => {
      const depth = String(request.headers?.['X-Middleware-Subrequest'] ?? '').split(':').length
      return verdictOf(depth >= 5 || isValid(request))
    },
    attack: () => [{ ...NO_TOKEN, headers: { 'X-Middleware-Subrequest': Array(5).fill('middleware').join(':') } }],
    ...bySecret('missing_token'),
  },
  'CVE-2025-61928': {
    source: 'https://github.com/advisories/GHSA-99h5-pjcv-gr6v',
    year: 2025,
    versions: 'better-auth < 1.3.26',
    fault: 'Without a session, the user id in the body is the user.',
    faulty: () => (request) => {
      const { userId } = JSON.parse(String(request.body ?? '{}'))
      return verdictOf(isValid(request) || userId !== undefined)
    },
    attack: () => [
      { path: '/', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ userId: 'acc-1' }) },
    ],
    ...bySecret('missing_token'),
  },
  'CVE-2026-44883': {
    source: 'https://github.com/portainer/portainer/security/advisories/GHSA-jvp4-q659-95mj',
    year: 2026,
    versions: 'Portainer < 2.33.8, < 2.39.2, < 2.41.0',
    fault: 'A token in the URL is accepted, so tokens end up in logs and referrers.',
    faulty: () => (request) => {
      const fromQuery = new URL(request.path ?? '/', 'http://localhost').searchParams.get('token')
      return verdictOf(isValid(fromQuery ? bearer(fromQuery, '/') : request))
    },
    attack: (typ) => [{ ...NO_TOKEN, path: `/?token=${token(typ)}` }],
    ...bySecret('missing_token'),
  },
  'CVE-2022-25896': {
    source: 'https://github.com/advisories/GHSA-v923-w3x8-wh69',
    year: 2022,
    versions: 'passport < 0.6.0',
    fault: 'The session keeps its id at sign-in, so a victim signs the attacker in (session fixation).',
    installed: 'passport-0.5.3',
    faulty: () => passportApp('passport-0.5.3'),
    // The attacker gets a cookie and plants it. The victim signs in with it. Then the attacker uses it.
    attack: () => [
      withCookie(NO_TOKEN, 'sid=planted'),
      withCookie(SIGN_IN, 'sid=planted'),
      withCookie(NO_TOKEN, 'sid=planted'),
    ],
    control: (typ) => [withCookie(SIGN_IN, 'sid=own'), withCookie(bearer(token(typ), '/'), 'sid=own')],
    ours: loginWith(),
    refusal: 'missing_token',
  },
}

/** The last characters of a token are the key of the cache. */
const KEY = 20

/** A route that ends access, which a guard that checks only the token does not know. Ours checks on every request. */
const endedBy = (
  method: string,
  path: string,
  made: () => { options: Partial<RequireBearerOptions>; end: (auth: VerifiedToken) => unknown },
  reason: string,
) => ({
  faulty: (): Guard => (request) => verdictOf(isValid(request)),
  attack(typ: string): Step[] {
    const text = token(typ)
    return [{ wait: 5000 }, { ...bearer(text, path), method }, bearer(text, '/')]
  },
  control: validSecret,
  ours() {
    const { options, end } = made()
    return guardWith(SECRET_KEY, options, (app, guard) =>
      app.all(path, guard, (req, res) => {
        end(authOf(req))
        res.sendStatus(204)
      }),
    )()
  },
  refusal: `invalid_token: ${reason}`,
})

/** A token that was valid before must not stand for another one, nor for itself for ever. */
export const CACHE: Hall = {
  'CVE-2026-35039': {
    source: 'https://github.com/advisories/GHSA-rp9m-7r4c-75qg',
    year: 2026,
    versions: 'fast-jwt < 6.2.0',
    fault: 'Two tokens can have one key in the cache, which returns the claims of the other token.',
    installed: 'fast-jwt-6.1.0',
    faulty: (library) => {
      const cacheKeyBuilder = (text: string) => text.slice(-KEY)
      return guardOf(library.createVerifier({ key: SECRET, cache: true, cacheKeyBuilder }))
    },
    attack: (typ) => {
      const text = token(typ)
      const { header, signature } = partsOf(text)
      return present(text, `${header}.${encode({ ...decodePayload(text), sub: 'acc-2' })}.${signature}`)
    },
    ...bySecret('invalid_token: signature'),
  },
  'CVE-2026-107719': {
    source: 'https://github.com/advisories/GHSA-x937-hj6v-793p',
    year: 2026,
    versions: 'fast-jwt < 6.3.4',
    fault: 'The cache admits an expired token that has no `iat`.',
    installed: 'fast-jwt-6.2.4',
    faulty: (library) => guardOf(library.createVerifier({ key: SECRET, cache: true })),
    attack: (typ) => {
      const exp = Math.floor(Date.now() / 1000) + 60
      const [request] = present(token(typ, { payload: { iat: undefined, exp } }))
      return request ? [request, { wait: 120_000 }, request] : []
    },
    ...bySecret('invalid_token: claims'),
  },
  'CVE-2025-53826': {
    source: 'https://github.com/filebrowser/filebrowser/security/advisories/GHSA-7xwp-2cpp-p8r7',
    year: 2025,
    versions: 'File Browser <= 2.39.0',
    fault: 'A token works after its owner signed out.',
    ...endedBy(
      'POST',
      '/logout',
      () => {
        const revoked = new Set<string>()
        return { options: { isRevoked: ({ id }) => revoked.has(id) }, end: ({ id }) => revoked.add(id) }
      },
      'revoked',
    ),
  },
  'CVE-2026-35594': {
    source: 'https://github.com/advisories/GHSA-96q5-xm3p-7m84',
    year: 2026,
    versions: 'Vikunja < 2.3.0',
    fault: 'A token works after its owner was deleted, because only its claims are read.',
    ...endedBy(
      'DELETE',
      '/account',
      () => {
        const accounts = new Map([[ACCOUNTS.alice.id, ACCOUNTS.alice]])
        const findById = (id: string) => accounts.get(id)
        return {
          options: { accounts: { findByEmail: () => undefined, findById } },
          end: ({ accountId }) => accounts.delete(accountId),
        }
      },
      'unknown_account',
    ),
  },
  'CVE-2020-26892': {
    source: 'https://advisories.nats.io/CVE/CVE-2020-26892.txt',
    year: 2020,
    versions: 'nats-io/jwt < 1.1.0',
    fault: 'A revocation is compared with the current time instead of the time of issue.',
    ...endedBy(
      'POST',
      '/password',
      () => {
        const account: typeof ACCOUNTS.alice & { tokensValidAfter?: Date } = { ...ACCOUNTS.alice }
        return {
          options: { accounts: { findByEmail: () => undefined, findById: () => account } },
          end: () => Object.assign(account, { tokensValidAfter: new Date() }),
        }
      },
      'superseded',
    ),
    faulty: () => {
      let since = 0
      return (request) => {
        if (request.path === '/password') since = Date.now()
        return verdictOf(isValid(request) && since <= Date.now())
      }
    },
  },
}

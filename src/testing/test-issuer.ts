import { emitter } from '../events/emitter.js'
import { PAGE } from '../options/misuse.js'
import { aliasesOf, type Check, InvalidOption, named, optional, readOptions } from '../options/read-options.js'
import { isPlainObject, isThenable, memberOf } from '../options/values.js'
import { createSessions } from '../sessions/sessions.js'
import { sessionsOfStore } from '../sessions/store-option.js'
import type { Store } from '../store/store.js'
import { newKeyPair } from '../tokens/algorithms/new-key-pair.js'
import type { IssuedToken, TokenSubject } from '../tokens/jwt/issue-token.js'
import type { PrivateTokenKey } from '../tokens/keys/key-ring.js'
import { issuerSchema, type TokenIssuerOptions, tokenAliases } from '../tokens/token-options.js'
import { issuerOf, type TokenIssuer } from '../tokens/tokens.js'
import { type RefusedSessionTokens, type RefusedTokens, refusedTokens } from './refused-tokens.js'
import { type TestClock, testClock } from './test-clock.js'
import { testsOnly } from './tests-only.js'

/** The options of `createTestIssuer`: those of `createTokenIssuer`, all optional. */
export interface TestIssuerOptions extends Partial<Omit<TokenIssuerOptions, 'issuer' | 'keys' | 'clock'>> {
  /** Base URL that identifies the issuer (`iss`). Default: `'https://issuer.test'`. */
  issuer?: TokenIssuerOptions['issuer']
  /** Signing keys. Pass the same `keys` to apps in other processes. Default: an ES256 key, created once per process. */
  keys?: TokenIssuerOptions['keys']
  /** Clock to use until your test sets the time. Default: `Date.now`. */
  clock?: TokenIssuerOptions['clock']
}

/** The options of an issuer for an app with sessions. */
export interface SessionTestIssuerOptions extends TestIssuerOptions {
  /** The store that your guards use, which must include `sessions`. Every issued token starts a session. Default: none. */
  store: Pick<Store, 'sessions'>
}

type AnyOptions = TestIssuerOptions & Partial<SessionTestIssuerOptions>

/** The account of a test token: its id, or an object with its id, scopes and claims. An `Account` is valid too. */
export type TestAccount =
  | string
  | {
      /** The account's id: the token's `sub`. */
      readonly id: string
      /** The scopes of the token. Default: none. */
      readonly scopes?: readonly string[] | null | undefined
      /** Private claims of the token. Default: none. */
      readonly claims?: Readonly<Record<string, unknown>> | null | undefined
    }

/** Request headers for supertest's `set()` and for the `headers` of `fetch`. */
export type BearerHeaders = {
  /** `Bearer` and the token (RFC 6750 section 2.1). */
  readonly Authorization: string
}

/** A token with its request headers. */
export interface TestToken extends IssuedToken {
  /** The headers of a request with this token. */
  readonly headers: BearerHeaders
}

/** An issuer for tests with its helpers. You can destructure it, because its functions do not use `this`. */
export interface TestIssuer {
  /**
   * The issuer for the app under test, as `createTokenIssuer` creates it. It is also a verifier. Its `jwks()` returns the public
   * keys for another verifier in the app.
   */
  readonly tokens: TokenIssuer
  /** The clock that issues and verifies tokens. */
  readonly clock: TestClock
  /**
   * Returns the headers of a request with a new token for an account.
   * @throws TypeError when it is neither an id nor an account
   */
  bearer(account: TestAccount): BearerHeaders
  /**
   * Issues a token like `bearer`, for tests that need its id (to revoke it), its expiration or its text.
   * @throws TypeError when it is neither an id nor an account
   */
  issue(account: TestAccount): TestToken
  /** Functions like `bearer` whose tokens guards must refuse, one for each fault. `Object.entries(refused)` lists them. */
  readonly refused: RefusedTokens<(account: TestAccount) => BearerHeaders>
}

/**
 * An issuer for tests of an app with sessions. Its functions return promises, because they start a session for each token. The promises
 * reject with an AuthError `unavailable` when the store of the sessions fails.
 */
export interface SessionTestIssuer extends Pick<TestIssuer, 'tokens' | 'clock'> {
  /**
   * Starts a session, and returns the headers of a request with its new token.
   * @throws TypeError when it is neither an id nor an account
   */
  bearer(account: TestAccount): Promise<BearerHeaders>
  /**
   * Issues a token like `bearer`, for tests that need its id (to end its session), its expiration or its text.
   * @throws TypeError when it is neither an id nor an account
   */
  issue(account: TestAccount): Promise<TestToken>
  /**
   * Functions like `bearer` whose tokens guards must refuse, one for each fault. Each token has a session, except that of `endedSession`.
   * `Object.entries(refused)` lists them.
   */
  readonly refused: RefusedSessionTokens<(account: TestAccount) => Promise<BearerHeaders>>
}

/** The default of `createAuth`. */
const MOST_SESSIONS = 100

/** Creates a new key. A key in the package would let everybody sign, if this issuer reached production. */
const newKey = (): PrivateTokenKey => ({
  alg: 'ES256',
  privateKey: newKeyPair('ec', { namedCurve: 'P-256' }).privateKey,
})

let ownKey: PrivateTokenKey | undefined
let otherKey: PrivateTokenKey | undefined

const schema = {
  ...issuerSchema,
  issuer: optional(issuerSchema.issuer, 'https://issuer.test'),
  keys: (value: unknown) => {
    if (value !== undefined) return value
    ownKey ??= newKey()
    return ownKey
  },
  store: optional(sessionsOfStore),
}

const subject: Check<TokenSubject> = (value) => {
  if (typeof value === 'string') return { accountId: value }
  const accountId = isPlainObject(value) ? memberOf(value, 'id') : undefined
  if (isPlainObject(value) && typeof accountId === 'string' && memberOf(value, 'scope') === undefined) {
    return { accountId, scopes: memberOf(value, 'scopes'), claims: memberOf(value, 'claims') } as TokenSubject
  }
  throw new InvalidOption("an account's id, or an account { id, scopes?, claims? }", hintOn(value))
}

const aliases = { ...tokenAliases, sessions: 'store' }

const accountAliases = aliasesOf({ id: 'accountId sub', scopes: 'scope role roles permissions' })

function hintOn(value: unknown): string {
  if (!isPlainObject(value) || isThenable(value)) return ''
  const meant = Object.entries(accountAliases).find(([name]) => memberOf(value, name) !== undefined)?.[1]
  return meant ? `Did you mean "${meant}"?` : 'Its "id" must be a string'
}

const subjectOf = (account: TestAccount) => named('the account of a test token', subject, account, PAGE.tests)

const headersOf = (token: string): BearerHeaders => ({ Authorization: `Bearer ${token}` })

/** Makes the token of an account. */
type Make = (subject: TokenSubject) => IssuedToken

/**
 * Creates an issuer for tests, so that tests need no login. Issuers of one process share a key by default. If the app runs in
 * another process than its tests, pass the same `keys` to both. If the guards of the app have a `store`, pass it here too.
 * @throws TypeError when `NODE_ENV` is `production`, also at each use later; TypeError that names an invalid option
 */
export function createTestIssuer(options: SessionTestIssuerOptions): SessionTestIssuer
export function createTestIssuer(options?: TestIssuerOptions): TestIssuer
export function createTestIssuer(options?: AnyOptions): TestIssuer | SessionTestIssuer {
  const caller = 'createTestIssuer'
  testsOnly(caller)
  const { store, ...read } = readOptions<AnyOptions, typeof schema>(caller, options, schema, aliases)
  const clock = testClock(read.clock)
  const settings = { ...read, clock }
  const tokens = issuerOf(caller, settings)
  otherKey ??= newKey()
  const { timeout, issuer } = settings
  const ofSessions = { issuers: [issuer], maxPerAccount: MOST_SESSIONS, timeout, emit: emitter(), now: clock }
  const sessions = store && createSessions({ ...ofSessions, store }).sessions

  /** Makes a token, and starts its session. Returns a part of the token. */
  function give<Result extends object>(make: Make, account: TestAccount, pick: (token: TestToken) => Result) {
    const subject = subjectOf(account)
    const issued = make(subject)
    const result = pick({ ...issued, headers: headersOf(issued.token) })
    if (!sessions) return result
    const isExpired = issued.expiresAt.getTime() <= clock()
    // A store may remove an expired session. Only its expiration must be a reason to refuse an expired token.
    const expiresAt = isExpired ? new Date(clock() + settings.lifetime) : issued.expiresAt
    const starting = sessions.start({ id: issued.id, accountId: subject.accountId, expiresAt })
    return asMembers(starting, result)
  }

  const issuing: Make = (subject) => tokens.issueSync(subject)
  const headersFrom = (make: Make) => (account: TestAccount) => give(make, account, ({ headers }) => headers)
  const refused = Object.entries(refusedTokens(tokens, settings, otherKey)).map(([fault, make]) => [
    fault,
    headersFrom(make),
  ])
  function endedSession(account: TestAccount) {
    const headers = headersOf(issuing(subjectOf(account)).token)
    return asMembers(Promise.resolve(), headers)
  }
  return Object.freeze({
    tokens,
    clock,
    bearer: headersFrom(issuing),
    issue: (account: TestAccount) => give(issuing, account, (token) => token),
    refused: Object.freeze({ ...Object.fromEntries(refused), ...(sessions && { endedSession }) }),
  }) as TestIssuer | SessionTestIssuer
}

/**
 * Returns a promise of a result that also has the members of the result. A test that does not wait for headers then still sends the token.
 * Without a token, a request would get the `401` that the test expects of a refused token.
 */
const asMembers = <Result extends object>(done: Promise<void>, result: Result) =>
  Object.assign(
    done.then(() => result),
    result,
  )

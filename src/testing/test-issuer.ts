import { generateKeyPairSync } from 'node:crypto'
import { type Check, InvalidOption, isPlainObject, named, optional, readOptions } from '../shared/options.js'
import { isThenable, memberOf } from '../shared/values.js'
import type { IssuedToken, TokenSubject } from '../tokens/jwt/issue-token.js'
import type { PrivateTokenKey } from '../tokens/keys/key-ring.js'
import { issuerSchema, type TokenIssuerOptions, tokenAliases } from '../tokens/token-options.js'
import { issuerOf, type TokenIssuer } from '../tokens/tokens.js'
import { type RefusedTokens, refusedTokens } from './refused-tokens.js'
import { type TestClock, testClock } from './test-clock.js'
import { testsOnly } from './tests-only.js'

/**
 * As for `createTokenIssuer`, but each may be left out. `issuer` is then `https://issuer.test`, `keys` an ES256 key that is
 * made once in each process, and `clock`, which the test clock runs with until it is set, `Date.now`.
 */
export type TestIssuerOptions = Partial<TokenIssuerOptions>

/** Whom a test token is for: an account's id, or what of an account goes into its tokens. A whole `Account` fits. */
export type TestAccount =
  | string
  | {
      /** The account's id: the token's `sub`. */
      readonly id: string
      /** What its token allows. Default: nothing. */
      readonly scopes?: readonly string[] | null | undefined
      /** Private claims for its token. Default: none. */
      readonly claims?: Readonly<Record<string, unknown>> | null | undefined
    }

/** Request headers, as supertest's `set()` and the `headers` of `fetch` take them. */
export type BearerHeaders = {
  /** `Bearer` and the token (RFC 6750 section 2.1). */
  readonly Authorization: string
}

/** A token, and what a test may want to know of it. */
export interface TestToken extends IssuedToken {
  /** The headers of a request that brings it. */
  readonly headers: BearerHeaders
}

/** An issuer for tests, and what it gives them. None of its functions needs its object: take it apart as you like. */
export interface TestIssuer {
  /**
   * The issuer, for the app under test: what `createTokenIssuer` makes, down to how guards ask it. It is a verifier too, and its
   * `jwks()` has the public keys for a verifier of the app's own.
   */
  readonly tokens: TokenIssuer
  /** The time by which tokens are issued and verified. */
  readonly clock: TestClock
  /**
   * The headers of a request with a new token of this account.
   * @throws TypeError when it is neither an id nor an account
   */
  bearer(account: TestAccount): BearerHeaders
  /**
   * As `bearer`, for tests that need the token's id (to revoke it), its end or its text.
   * @throws TypeError when it is neither an id nor an account
   */
  issue(account: TestAccount): TestToken
  /** As `bearer`, with a token that guards must refuse: one function for each fault. `Object.entries(refused)` lists them. */
  readonly refused: RefusedTokens<(account: TestAccount) => BearerHeaders>
}

/** Not one that stands in the package: everybody could sign with that, wherever this issuer got to by mistake. */
const newKey = (): PrivateTokenKey => ({
  alg: 'ES256',
  privateKey: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey,
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
}

const subject: Check<TokenSubject> = (value) => {
  if (typeof value === 'string') return { accountId: value }
  const accountId = isPlainObject(value) ? memberOf(value, 'id') : undefined
  if (isPlainObject(value) && typeof accountId === 'string') {
    return { accountId, scopes: memberOf(value, 'scopes'), claims: memberOf(value, 'claims') } as TokenSubject
  }
  const hint = isPlainObject(value) && !isThenable(value) ? 'Its "id" must be a string' : ''
  throw new InvalidOption("an account's id, or an account { id, scopes?, claims? }", hint)
}

const subjectOf = (account: TestAccount) => named('the account of a test token', subject, account)

const headersOf = (token: string): BearerHeaders => ({ Authorization: `Bearer ${token}` })

/**
 * Makes an issuer for tests, so that they need no login. All that are made without `keys` in one process have the same key;
 * where the app runs in another process than its tests, give both the same `keys`.
 * @throws TypeError where `NODE_ENV` is `production`; naming the option that cannot be used
 */
export function createTestIssuer(options?: TestIssuerOptions): TestIssuer {
  const caller = 'createTestIssuer'
  testsOnly(caller)
  const read = readOptions<TestIssuerOptions, typeof schema>(caller, options, schema, tokenAliases)
  const clock = testClock(read.clock)
  const settings = { ...read, clock }
  const tokens = issuerOf(caller, settings)

  function issue(account: TestAccount): TestToken {
    const issued = tokens.issue(subjectOf(account))
    return { ...issued, headers: headersOf(issued.token) }
  }

  otherKey ??= newKey()
  const refused = Object.entries(refusedTokens(tokens, settings, otherKey)).map(([fault, make]) => [
    fault,
    (account: TestAccount) => headersOf(make(subjectOf(account))),
  ])
  return Object.freeze({
    tokens,
    clock,
    bearer: (account: TestAccount) => issue(account).headers,
    issue,
    refused: Object.freeze(Object.fromEntries(refused)),
  })
}

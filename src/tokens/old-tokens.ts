import { createHash } from 'node:crypto'
import { noteSecret } from '../events/shared-secrets.js'
import { warnOnce } from '../events/warnings.js'
import { type Clock, clockOption, func } from '../options/checks.js'
import { misuse, PAGE } from '../options/misuse.js'
import { aliasesOf, checkThat, named, optional, readOptions } from '../options/read-options.js'
import { ignoreRejection, isPlainObject, isValidDate, own } from '../options/values.js'
import { createVerifier } from './create-verifier.js'
import { type Expectation, isText, privateClaims, readTimes, type TokenForm } from './jwt/claims.js'
import { readScopes, type ScopesOf } from './jwt/provider-claims.js'
import { type SecretMaterial, secretKey } from './keys/key-material.js'
import type { TokenVerifier } from './token-verifier.js'
import { deepFreeze, type PrivateClaims, Verified } from './verified-token.js'

/** The options of `oldTokens`. */
export interface OldTokensOptions {
  /** The secret of the old code, of any length. Everyone who guesses a short secret can write old tokens until `until`. */
  secret: SecretMaterial | undefined
  /**
   * Returns the account's id from the claims of an old token: a non-empty text or a whole number. With another value the token is refused,
   * so return undefined for tokens of other purposes, such as refresh tokens and mailed links. An object, a promise or an error causes a
   * `503`.
   */
  accountId: (claims: PrivateClaims) => unknown
  /** The time from which all old tokens are refused. Set it to the longest lifetime of an old token after the release. */
  until: Date
  /** Returns the scopes of an old token from its claims, for example from a role. Undefined means no scopes. Default: no scopes. */
  scopes?: ScopesOf | undefined
  /** The current time, for tests. Default: `Date.now`. */
  clock?: Clock | undefined
}

/** The issuer of old tokens, also of tokens with another `iss`. */
const ISSUER = 'old-tokens'

const schema = {
  secret: (value: unknown) => value,
  accountId: func<OldTokensOptions['accountId']>('a function (claims) => accountId'),
  until: checkThat<Date>("a valid Date, like new Date('2030-01-31')", isValidDate),
  scopes: optional(func<ScopesOf>('a function (claims) => scopes')),
  clock: clockOption,
}

const aliases = aliasesOf({ secret: 'keys secretOrKey', accountId: 'id sub' })

const SECRET = 'the secret of the old tokens, as text, bytes or a KeyObject'
const NINETY_DAYS = 90 * 86_400_000

/**
 * Creates a verifier for the tokens of the code that this package replaces, so that users stay signed in: JWTs with HS256, without `iss`,
 * `aud`, `kid` and `typ`. Put it into the list `tokens` of a guard, or into `alsoAccept` of `createAuth`. It gets the tokens that name no
 * issuer of the list. Old tokens have no session. It refuses tokens with the type of this package (`at+jwt`).
 * @throws TypeError naming the option that is not valid
 */
export function oldTokens(options: OldTokensOptions): TokenVerifier {
  const caller = 'oldTokens'
  const read = readOptions<OldTokensOptions, typeof schema>(caller, options, schema, aliases)
  const { clock } = read
  const until = read.until.getTime()
  const hint = 'Is an environment variable not set?'
  const secret = named(`${caller}: option "secret"`, secretKey(1, SECRET, hint), read.secret, PAGE.oldTokens)
  noteSecret('oldTokens', secret.export())
  if (until - clock() > NINETY_DAYS) warnOnce('longOldTokens')
  const key = { kid: ISSUER, alg: 'HS256', key: secret } as const
  const settings = { issuer: ISSUER, audience: '', keys: undefined, clock, clockTolerance: 0, cache: 10_000 }
  const form = oldForm({ accountId: read.accountId, scopes: read.scopes, until })
  return Object.freeze(createVerifier(settings, { find: () => key }, form, {}, (_text, isJwt) => isJwt))
}

function oldForm({ accountId, scopes: scopesOf, until }: FormSettings): TokenForm {
  return {
    types: ['JWT', 'jwt', undefined],
    needsNoKid: true,
    readClaims(payload, expected, { signed }) {
      if (!isPlainObject(payload)) return 'claims'
      const times = readOldTimes(payload, until, expected)
      if (expected.now >= until) return 'expired'
      if (typeof times === 'string') return times
      deepFreeze(payload)
      const id = accountIdOf(ignoreRejection(accountId(payload)))
      if (id === undefined) return 'claims'
      const [jti, aud] = [own(payload, 'jti'), own(payload, 'aud')]
      const notAfter = Math.min(times.notAfter, until)
      const token = new Verified({
        // Not of the whole text, because a token has several spellings.
        id: isText(jti) ? jti : createHash('sha256').update(signed).digest('base64url'),
        accountId: id,
        issuer: expected.issuer,
        audience: isText(aud) ? aud : '',
        clientId: undefined,
        scopes: scopesOf ? readScopes(scopesOf, payload, 'oldTokens') : [],
        iat: times.iat,
        exp: notAfter / 1000,
        claims: privateClaims(payload),
        kind: 'unnamed',
      })
      return { token, notBefore: times.notBefore, notAfter }
    },
  }
}

/** The largest `iat` in seconds, in the year 5138. Some old code writes milliseconds. */
const MOST_SECONDS = 1e11

/** The most that the clock of an old process may be ahead, in seconds. Old code never compares `iat` with its clock. */
const MOST_AHEAD = 60

/** Reads the times of a token of old code, which may be fractions. */
function readOldTimes(payload: PrivateClaims, until: number, expected: Expectation): ReturnType<typeof readTimes> {
  const round = (name: string, whole: (seconds: number) => number) => {
    const value = own(payload, name)
    return Object.hasOwn(payload, name) ? { [name]: typeof value === 'number' ? whole(value) : value } : {}
  }
  const now = Math.floor(expected.now / 1000)
  // Without `exp`, only `until` ends a token. Without `iat`, the token is older than each `tokensValidAfter`.
  const written = {
    iat: 0,
    exp: Math.ceil(until / 1000),
    ...round('iat', (iat) => Math.floor(iat > MOST_SECONDS ? iat / 1000 : iat)),
    ...round('nbf', Math.ceil),
    ...round('exp', Math.floor),
  }
  const { iat } = written
  if (typeof iat !== 'number' || iat > now + MOST_AHEAD) return readTimes(written, expected)
  const times = readTimes({ ...written, iat: Math.min(iat, now) }, expected)
  return typeof times === 'string' ? times : { ...times, iat }
}

type FormSettings = Pick<OldTokensOptions, 'accountId' | 'scopes'> & { until: number }

function accountIdOf(value: unknown): string | undefined {
  if (isText(value)) return value
  if (Number.isSafeInteger(value)) return String(value)
  if (typeof value !== 'object' || value === null) return undefined
  throw misuse('oldTokens: "accountId" must return a text or a whole number, and no promise')
}

import { createHash } from 'node:crypto'
import { noteSecret } from '../events/shared-secrets.js'
import { warnOnce } from '../events/warnings.js'
import { type Clock, clockOption, type Duration, func } from '../options/checks.js'
import { misuse } from '../options/misuse.js'
import { aliasesOf, checkThat, optional, readOptions } from '../options/read-options.js'
import { ignoreRejection, isPlainObject, isValidDate, own } from '../options/values.js'
import { createVerifier } from './create-verifier.js'
import { anyCase, type Expectation, isText, privateClaims, readForeignTimes, type TokenForm } from './jwt/claims.js'
import { ANY_JWT, readScopes, type ScopesOf } from './jwt/provider-claims.js'
import { MATERIALS, secretKey } from './keys/key-material.js'
import { readVerifierKeys } from './keys/verifier-keys.js'
import { type TokenVerifierOptions, verifierSchema } from './token-options.js'
import type { TokenVerifier } from './token-verifier.js'
import { deepFreeze, type PrivateClaims, Verified } from './verified-token.js'

/** The options of `oldTokens`. */
export interface OldTokensOptions {
  /**
   * Pass a [key](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/options.md#keys) from your old
   * code, a list of keys, or the result of
   * [`remoteKeys`](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/options.md#remotekeysurl-options).
   * Anyone who guesses a short secret can forge old tokens.
   *
   * When a token's `kid` is missing or unknown, the verifier tries every key for its algorithm.
   */
  keys: TokenVerifierOptions['keys']
  /**
   * Function `(claims) => id`. Return a string or integer ID, or `undefined` to reject the token.
   *
   * When it fails or returns another value, the client receives `503`. Return undefined for tokens of other purposes, such as refresh
   * tokens and mailed links.
   */
  accountId: (claims: PrivateClaims) => unknown
  /**
   * `Date` when the verifier stops accepting old tokens.
   *
   * In production, a date more than 90 days ahead causes a warning.
   */
  until: Date
  /** Function `(claims) => scopes`. Default: no scopes. */
  scopes?: ScopesOf | undefined
  /**
   * Function `(claims) => id`. Return a string or integer ID, or `undefined` if there is no session. To reject tokens after their session
   * ends, pass the verifier to `createAuth` as `alsoAccept`. Default: no session.
   */
  sessionId?: ((claims: PrivateClaims) => unknown) | undefined
  /**
   * Allowed clock skew (0 to 60 s). Default: `0`.
   *
   * It does not extend `until`.
   */
  clockTolerance?: Duration | undefined
  /** Clock for tests. Default: `Date.now`. */
  clock?: Clock | undefined
}

/** The issuer of old tokens, also of tokens with another `iss`. */
const ISSUER = 'old-tokens'

const schema = {
  keys: (value: unknown) => value,
  accountId: func<OldTokensOptions['accountId']>('a function (claims) => accountId'),
  until: checkThat<Date>("a valid Date, like new Date('2030-01-31')", isValidDate),
  scopes: optional(func<ScopesOf>('a function (claims) => scopes')),
  sessionId: optional(func<(claims: PrivateClaims) => unknown>('a function (claims) => sessionId')),
  clockTolerance: verifierSchema.clockTolerance,
  clock: clockOption,
}

const aliases = aliasesOf({ keys: 'secret secretOrKey publicKey algorithms', accountId: 'id sub', sessionId: 'sid' })

const readSecret = secretKey(
  1,
  'the secret of the old tokens, as text, bytes or a KeyObject',
  'Is an environment variable not set?',
)

/** The readers of the keys of old code, whose secrets may be short. */
const OLD_MATERIALS = {
  ...MATERIALS,
  secret: () => (value: unknown) => {
    const key = readSecret(value)
    noteSecret('oldTokens', key.export())
    return key
  },
}

const NINETY_DAYS = 90 * 86_400_000

/**
 * Creates a verifier for the tokens of the code that this package replaces, so that users stay signed in: JWTs, with or without
 * `iss`, `aud`, `kid` and `typ`. Put it into the list `tokens` of a guard, or into `alsoAccept` of `createAuth`. It gets the tokens that name
 * no issuer of the list. It refuses tokens with the type of this package (`at+jwt`).
 * @throws TypeError naming the option that is not valid
 */
export function oldTokens(options: OldTokensOptions): TokenVerifier {
  const caller = 'oldTokens'
  const read = readOptions<OldTokensOptions, typeof schema>(caller, options, schema, aliases)
  const { clock, clockTolerance } = read
  const until = read.until.getTime()
  const keys = readVerifierKeys(caller, read.keys, undefined, OLD_MATERIALS)
  if (until - clock() > NINETY_DAYS) warnOnce('longOldTokens')
  const settings = { issuer: ISSUER, audience: '', keys: undefined, clock, clockTolerance, cache: 10_000 }
  const { accountId, scopes, sessionId } = read
  const form = oldForm({ accountId, scopes, sessionId, until })
  const members = { accepts: (_text: string, isJwt: boolean) => isJwt, hasSessions: sessionId !== undefined }
  return Object.freeze(createVerifier(settings, keys, form, {}, members))
}

function oldForm({ accountId, scopes: scopesOf, sessionId, until }: FormSettings): TokenForm {
  return {
    isType: anyCase(ANY_JWT),
    unnamedKeys: 'each',
    readClaims(payload, expected, { signed }) {
      if (!isPlainObject(payload)) return 'claims'
      const times = readOldTimes(payload, until, expected)
      if (expected.now >= until) return 'expired'
      if (typeof times === 'string') return times
      deepFreeze(payload)
      const id = idOf('accountId', ignoreRejection(accountId(payload)))
      const session = ignoreRejection(sessionId?.(payload))
      const sid = idOf('sessionId', session)
      if (id === undefined || (sid === undefined && session !== undefined)) return 'claims'
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
        sessionId: sid,
        iat: times.iat,
        exp: Math.min(times.exp, until / 1000),
        claims: deepFreeze(privateClaims(payload)),
        kind: sid === undefined ? 'unnamed' : 'old',
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
function readOldTimes(
  payload: PrivateClaims,
  until: number,
  expected: Expectation,
): ReturnType<typeof readForeignTimes> {
  const given = own(payload, 'iat')
  const now = Math.floor(expected.now / 1000)
  // Without `exp`, only `until` ends a token. Without `iat`, the token is older than each `tokensValidAfter`.
  const written = {
    iat: 0,
    exp: Math.ceil(until / 1000),
    ...payload,
    ...(typeof given === 'number' && { iat: Math.floor(given > MOST_SECONDS ? given / 1000 : given) }),
  }
  const { iat } = written
  if (typeof iat !== 'number' || iat > now + MOST_AHEAD) return readForeignTimes(written, expected)
  const times = readForeignTimes({ ...written, iat: Math.min(iat, now) }, expected)
  return typeof times === 'string' ? times : { ...times, iat }
}

type FormSettings = Pick<OldTokensOptions, 'accountId' | 'scopes' | 'sessionId'> & { until: number }

function idOf(name: 'accountId' | 'sessionId', value: unknown): string | undefined {
  if (isText(value)) return value
  if (Number.isSafeInteger(value)) return String(value)
  if (typeof value !== 'object' || value === null) return undefined
  throw misuse(`oldTokens: "${name}" must return a string or a whole number, not a promise`)
}

import { isPlainObject } from '../../../shared/options.js'
import { ALGORITHMS } from '../../../tokens/keys/algorithms.js'
import type { Probe } from '../probe/probe.js'
import { readJwt } from '../probe/read-token.js'
import { must, type Row } from '../verdict.js'
import { resultOf } from './token-answer.js'

const DAY = 86_400
/** The allowed difference between the clocks, in seconds. */
const SKEW = 60

/** Rows about the content of the token. */
export const tokenRows: readonly Row<Probe>[] = [
  {
    id: 'token-header',
    title: 'the token is a signed JWT, with typ at+jwt, a known alg and a kid',
    source: 'RFC 9068 section 2.1; RFC 8725 sections 3.1 and 3.11',
    // This row must fail for an unreadable token, because the other rows about its content are skipped.
    async run(probe) {
      const token = readJwt(String((await resultOf(probe))['authenticationToken']))
      must(token, 'it is not a JWT in compact form with a signature')
      const { alg, kid, typ } = token
      must(typeof alg === 'string' && Object.hasOwn(ALGORITHMS, alg), 'alg is none or unknown')
      must(typ === 'at+jwt', 'typ is not at+jwt')
      must(typeof kid === 'string' && kid !== '', 'kid is missing')
    },
  },
  {
    id: 'token-claims',
    title: 'the token has iss, aud, sub, client_id, iat, exp and jti',
    source: 'RFC 9068 section 2.2',
    async run({ readToken }) {
      const { claims } = await readToken()
      const wrong = [
        ...['iss', 'aud', 'sub', 'client_id', 'jti'].filter(
          (name) => typeof claims[name] !== 'string' || claims[name] === '',
        ),
        ...['iat', 'exp'].filter((name) => !Number.isInteger(claims[name])),
      ]
      must(wrong.length === 0, `missing, or of another type: ${wrong.join(', ')}`)
    },
  },
  {
    id: 'lifetime',
    title: 'the token is valid from now, for at most a day',
    source: 'OWASP ASVS 5, 9.2.1; RFC 6750 section 5.3',
    async run({ readToken, answers }) {
      const { iat, exp } = (await readToken()).claims
      const life = Number(exp) - Number(iat)
      must(life > 0 && life <= DAY, `its lifetime is ${life} seconds`)
      const now = Date.parse((await answers.signedIn()).headers.date ?? '') / 1000
      const off = Math.round(Number(iat) - now)
      must(!(Math.abs(off) > SKEW), `iat is ${off} seconds from the Date of the response`)
    },
  },
  {
    id: 'no-secret-in-token',
    title: 'the token holds no password and no password hash',
    source: 'RFC 7519 section 12; OWASP ASVS 5, 14.2.6',
    async run({ readToken, target: { credentials } }) {
      const values = valuesIn((await readToken()).claims)
      must(!values.includes(credentials.password), 'a claim is the password')
      must(!values.some((value) => /^\$(argon2|2[abxy]\$|scrypt)/.test(value)), 'a claim is the hash of a password')
    },
  },
]

function valuesIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return isPlainObject(value) || Array.isArray(value) ? Object.values(value).flatMap(valuesIn) : []
}

import { isPlainObject, parseJson } from '../../../options/values.js'
import { ALGORITHMS } from '../../../tokens/algorithms/algorithms.js'
import type { Probe } from '../probe/probe.js'
import { dateOf, timeOf } from '../probe/response.js'
import { readJwt } from '../probe/token.js'
import type { Rows } from '../row.js'
import { must, Unjudged } from '../verdict.js'
import { guessedSecret } from './guessable-secrets.js'
import { expirationOf, resultOf } from './token-response.js'

const DAY = 86_400
/** The allowed difference between the clocks, in seconds. */
const SKEW = 60

/** Rows about the content of the token. */
export const tokenRows: Rows = {
  'token-header': {
    title: 'the token is a signed JWT, with typ at+jwt, a known alg and a kid',
    source: 'RFC 9068 section 2.1; RFC 8725 sections 3.1 and 3.11',
    ownOnly: 'the token of another API need not be an access token of RFC 9068',
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
  'token-signed': {
    title: 'a token that is a JWT has a signature',
    source: 'RFC 8725 section 3.2; OWASP ASVS 5, 9.1.1',
    async run({ token }) {
      const text = await token()
      const [head = '', , signature] = text.split('.')
      const header = parseJson(Buffer.from(head, 'base64url').toString())
      if (!isPlainObject(header) || !('alg' in header)) throw new Unjudged('the token is not a JWT')
      must(!/^none$/i.test(String(header['alg'])), 'alg is none')
      must(signature, 'the signature is empty')
    },
  },
  'guessable-secret': {
    title: "the token's secret is not an example from a tutorial",
    source: 'RFC 8725 section 3.5; OWASP ASVS 5, 13.3.1',
    async run({ jwt }) {
      const token = await jwt()
      if (!String(token.alg).startsWith('HS')) throw new Unjudged('the token is not signed with a secret')
      must(!guessedSecret(token), 'the secret is one of the well-known examples, so anyone can sign tokens')
    },
  },
  'token-claims': {
    title: 'the token has iss, aud, sub, client_id, iat, exp and jti',
    source: 'RFC 9068 section 2.2',
    ownOnly: 'the token of another API need not be an access token of RFC 9068',
    async run({ jwt }) {
      const { claims } = await jwt()
      const isText = (name: string) => typeof claims[name] === 'string' && claims[name] !== ''
      const isNumber = (name: string) => Number.isInteger(claims[name])
      const texts = ['iss', 'aud', 'sub', 'client_id', 'jti']
      const wrong = [...texts.filter((name) => !isText(name)), ...['iat', 'exp'].filter((name) => !isNumber(name))]
      must(wrong.length === 0, `missing, or of another type: ${wrong.join(', ')}`)
    },
  },
  lifetime: {
    title: 'the token is valid from now, for at most a day',
    source: 'OWASP ASVS 5, 9.2.1; RFC 6750 section 5.3',
    async run(probe) {
      const response = await probe.responses.signedIn()
      const { iat, exp } = await timesOf(probe, timeOf(response))
      const life = Number(exp) - Number(iat)
      must(exp !== undefined || probe.wire.own, 'it does not expire')
      must(life > 0 && life <= DAY, `its lifetime is ${life} seconds`)
      const date = dateOf(response)
      const off = date === undefined ? 0 : Math.round(Number(iat) - date)
      must(Math.abs(off) <= SKEW, `iat is ${off} seconds from the Date of the response`)
    },
  },
  'no-secret-in-token': {
    title: 'the token holds no password and no password hash',
    source: 'RFC 7519 section 12; OWASP ASVS 5, 14.2.6',
    async run({ jwt, credentials }) {
      mustHoldNoPassword((await jwt()).claims, credentials.password, 'a claim')
    },
  },
  'no-secret-in-answer': {
    title: 'the response to a login holds no password and no password hash',
    source: 'OWASP ASVS 5, 14.2.6',
    async run({ responses, credentials }) {
      mustHoldNoPassword(parseJson((await responses.signedIn()).body), credentials.password, 'a member')
    },
  },
}

/** Returns the times of the token, or those of the response when the token is not a JWT. */
async function timesOf(probe: Probe, now: number): Promise<{ iat: unknown; exp: unknown }> {
  if (probe.wire.own) return (await probe.jwt()).claims as { iat: unknown; exp: unknown }
  const read = readJwt(await probe.token())
  if (!read) return { iat: now, exp: await expirationOf(probe) }
  const { iat = now, exp } = read.claims
  return { iat, exp }
}

/** Hashes of argon2, bcrypt, scrypt, PBKDF2 as Django writes them, and crypt. */
const isHash = (value: string) =>
  /^(\$(argon2|2[abxy]?\$|scrypt|pbkdf2|[156]\$|7\$)|(pbkdf2|bcrypt|scrypt)_?\w*\$)/.test(value)

function mustHoldNoPassword(value: unknown, password: string, what: string): void {
  const values = valuesIn(value)
  must(!values.includes(password), `${what} is the password`)
  must(!values.some(isHash), `${what} is the hash of a password`)
}

function valuesIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return isPlainObject(value) || Array.isArray(value) ? Object.values(value).flatMap(valuesIn) : []
}

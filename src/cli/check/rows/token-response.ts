import { isPlainObject, parseJson } from '../../../options/values.js'
import type { Probe } from '../probe/probe.js'
import { mustBe, secondsOf, timeOf, typeOf, valueAt } from '../probe/response.js'
import type { Received } from '../probe/send.js'
import { gets, type Rows } from '../row.js'
import { must, needed, Unjudged } from '../verdict.js'
import { FORM_TYPE, type Wire } from '../wire/wire.js'

const MEMBERS = ['authenticationToken', 'expiration']

export const tokenResponseRows: Rows = {
  login: {
    title: 'the right e-mail and password get {success}',
    source: 'docs/reference/http.md section 2',
    async run({ responses, wire }) {
      const response = await responses.signedIn()
      mustBe(wire.statuses.success, response, 'the login', likelyMistake(response, wire))
      const { in: place, name } = wire.token
      const found = wire.own || typeof valueAt(response, wire.token) === 'string'
      must(found, `the response has no text in the ${place} at ${name}. Is "token" of the mapping right?`)
    },
  },
  members: {
    title: 'the response has only authenticationToken and expiration',
    source: 'docs/reference/http.md section 2',
    ownOnly: 'only this package promises these two members',
    async run(probe) {
      const result = await resultOf(probe)
      const wrong = MEMBERS.filter((name) => typeof result[name] !== 'string')
      must(wrong.length === 0, `missing, or not a string: ${wrong.join(', ')}`)
      // Where the app gives refresh tokens to apps, there is a third one.
      const others = Object.keys(result).length - MEMBERS.length - Number(typeof result['refreshToken'] === 'string')
      must(others === 0, `it has ${others} more ${others === 1 ? 'member' : 'members'}`)
    },
  },
  'expiration-form': {
    title: ({ own, expiration }) =>
      own
        ? 'expiration is ISO 8601 in UTC, with fractional seconds and a Z'
        : `the expiration has the form ${expiration?.form ?? 'of the mapping'}`,
    source: 'docs/reference/http.md section 2',
    async run(probe) {
      if (!probe.wire.own) return void (await expirationOf(probe))
      const { expiration } = await resultOf(probe)
      const form = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z$/
      const fits = typeof expiration === 'string' && form.test(expiration) && !Number.isNaN(Date.parse(expiration))
      must(fits, expiration === undefined ? 'it is missing' : 'it has another form')
    },
  },
  'expiration-is-exp': {
    title: "expiration is the token's own exp",
    source: 'docs/reference/http.md section 2',
    async run(probe) {
      const { exp } = (await probe.jwt()).claims
      const exact = (await expirationOf(probe)) - Number(exp)
      must(!Number.isNaN(exact), 'the token has no exp')
      // Another API may round.
      const [off, most] = probe.wire.own ? [exact, 0] : [Math.round(exact), 2]
      const side = off < 0 ? 'before' : 'after'
      must(Math.abs(off) <= most, `the expiration is ${Math.abs(off)} seconds ${side} the token's exp`)
    },
  },
  'json-type': {
    title: 'the token comes as application/json',
    source: 'docs/reference/http.md section 2; RFC 8259 section 11',
    async run(probe) {
      if (probe.wire.token.in !== 'body') throw new Unjudged('the token is not in the body')
      const type = typeOf(await loginOf(probe))
      must(type === 'application/json', `the response has ${type}`)
    },
  },
  'not-cached': {
    title: ({ own }) => (own ? 'tokens and refusals are not cached' : 'the response with the token is not cached'),
    source: 'RFC 6749 section 5.1; OWASP ASVS 5, 14.3.2',
    async run(probe) {
      const { own } = probe.wire
      const mustForbidCaches = ({ headers }: Received, what: string) => {
        must(/\bno-store\b/i.test(headers['cache-control'] ?? ''), `Cache-Control of ${what} does not name no-store`)
        must(!own || /\bno-cache\b/i.test(headers.pragma ?? ''), `Pragma of ${what} does not name no-cache`)
      }
      mustForbidCaches(await loginOf(probe), 'the token')
      if (own) mustForbidCaches(await probe.responses.wrong(), 'the refusal')
    },
  },
  'no-etag': {
    title: 'the token response has no ETag',
    source: 'OWASP ASVS 5, 14.3.2',
    ownOnly: 'no standard forbids an ETag next to no-store',
    run: async (probe) => must(!('etag' in (await loginOf(probe)).headers), 'there is an ETag'),
  },
  form: {
    title: 'credentials may also come as a form',
    source: 'docs/reference/http.md section 1',
    ownOnly: 'a mapping names one content type',
    needs: loginOf,
    run: gets(200, ({ logIn, credentials }) => ({ [FORM_TYPE]: () => logIn(credentials, { as: 'form' }) })),
  },
  'two-tokens': {
    title: 'two logins give two tokens',
    source: 'OWASP ASVS 5, 7.2.4; RFC 7519 section 4.1.7',
    async run({ token, responses, wire }) {
      const first = await token()
      must(valueAt(await responses.signedInAgain(), wire.token) !== first, 'both logins gave the same token')
    },
  },
  'no-realm': {
    title: 'a realm in the request changes nothing',
    source: 'docs/reference/http.md section 1',
    ownOnly: 'only this package promises to ignore a realm',
    needs: loginOf,
    run: gets(200, ({ logIn, credentials }) => ({
      'a login with a realm': () => logIn({ ...credentials, realm: 'check' }),
    })),
  },
}

/**
 * Returns the response to the login.
 * @throws Unjudged after a refused login, so that only the row about the login fails
 */
export async function loginOf({ responses, wire }: Probe): Promise<Received> {
  const response = await responses.signedIn()
  if (!wire.statuses.success.includes(response.status)) throw new Unjudged('the login gave no token')
  return response
}

/** Returns a question about the likely cause of a refused login. */
function likelyMistake({ status }: Received, { own, statuses }: Wire): string {
  if (status === 404 || status === 405)
    return `Are the URL and ${own ? '--path' : '"login.path" of the mapping'} right?`
  if (!own && status < 300) return 'Is "statuses.success" of the mapping right?'
  if (!statuses.wrongPassword.includes(status)) return ''
  return `Are --email and the password${own ? '' : ', and "login" of the mapping,'} right?`
}

/** Returns the JSON object in the response to the login. */
export async function resultOf(probe: Probe): Promise<Readonly<Record<string, unknown>>> {
  const result = parseJson((await loginOf(probe)).body)
  must(isPlainObject(result), 'the response is not a JSON object')
  return result
}

/** Returns the expiration that a mapping names, in seconds since the epoch. */
export async function expirationOf({ responses, wire, token }: Probe): Promise<number> {
  const { at, form } = needed(wire.expiration, 'the mapping names no expiration')
  await token()
  const response = await responses.signedIn()
  const value = valueAt(response, at)
  const seconds = secondsOf(value, form, timeOf(response))
  // The value is not shown, because a mapping may point at another token.
  must(seconds !== undefined, `the ${at.in} has ${value === undefined ? 'nothing' : `a ${typeof value}`} at ${at.name}`)
  return seconds
}

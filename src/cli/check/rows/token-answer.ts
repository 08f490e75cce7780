import { isPlainObject } from '../../../shared/options.js'
import { parseJson } from '../../../tokens/jwt/compact-jws.js'
import type { Probe } from '../probe/probe.js'
import { mustBe } from '../probe/responses.js'
import { must, type Row, Unjudged } from '../verdict.js'

/** Rows about the response to a login. */
export const tokenAnswerRows: readonly Row<Probe>[] = [
  {
    id: 'login',
    title: 'the right e-mail and password get 200',
    source: 'docs/reference/http.md section 2',
    async run({ answers }) {
      mustBe(200, await answers.signedIn(), 'the login')
    },
  },
  {
    id: 'members',
    title: 'the response has only authenticationToken and expiration',
    source: 'docs/reference/http.md section 2',
    async run(probe) {
      const result = await resultOf(probe)
      const members = Object.keys(result).sort()
      must(members.join() === 'authenticationToken,expiration', `the members are: ${members.join(', ') || 'none'}`)
      const others = members.filter((name) => typeof result[name] !== 'string')
      must(others.length === 0, `not a string: ${others.join(', ')}`)
    },
  },
  {
    id: 'expiration-form',
    title: 'expiration is ISO 8601 in UTC, with fractional seconds and a Z',
    source: 'docs/reference/http.md section 2',
    async run(probe) {
      const { expiration } = await resultOf(probe)
      const form = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z$/
      const fits = typeof expiration === 'string' && form.test(expiration) && !Number.isNaN(Date.parse(expiration))
      must(fits, `it is ${JSON.stringify(expiration) ?? 'missing'}`)
    },
  },
  {
    id: 'expiration-is-exp',
    title: "expiration is the token's own exp",
    source: 'docs/reference/http.md section 2',
    async run(probe) {
      const { claims } = await probe.readToken()
      const { expiration } = await resultOf(probe)
      const seconds = Date.parse(String(expiration)) / 1000
      must(seconds === claims['exp'], `expiration is ${seconds} in seconds, exp is ${JSON.stringify(claims['exp'])}`)
    },
  },
  {
    id: 'json-type',
    title: 'the token comes as application/json',
    source: 'docs/reference/http.md section 2; RFC 8259 section 11',
    async run({ answers }) {
      const type = (await answers.signedIn()).headers['content-type'] ?? 'missing'
      must(/^application\/json\s*(;|$)/i.test(type), `Content-Type is ${type}`)
    },
  },
  {
    id: 'not-cached',
    title: 'tokens and refusals are not cached',
    source: 'RFC 6749 section 5.1; OWASP ASVS 5, 14.3.2',
    async run({ answers }) {
      for (const [what, answer] of [
        ['the token', await answers.signedIn()],
        ['the refusal', await answers.wrong()],
      ] as const) {
        const { 'cache-control': control = '', pragma = '' } = answer.headers
        must(/\bno-store\b/i.test(control), `Cache-Control of ${what} is "${control}", without no-store`)
        must(/\bno-cache\b/i.test(pragma), `Pragma of ${what} is "${pragma}", without no-cache`)
      }
    },
  },
  {
    id: 'no-etag',
    title: 'the token response has no ETag',
    source: 'OWASP ASVS 5, 14.3.2',
    async run({ answers }) {
      must(!('etag' in (await answers.signedIn()).headers), 'there is an ETag')
    },
  },
  {
    id: 'form',
    title: 'credentials may also come as a form',
    source: 'docs/reference/http.md section 1',
    async run({ postForm, target: { credentials } }) {
      mustBe(200, await postForm({ ...credentials }), 'application/x-www-form-urlencoded')
    },
  },
  {
    id: 'two-tokens',
    title: 'two logins give two tokens',
    source: 'RFC 9068 section 2.2; RFC 7519 section 4.1.7',
    async run(probe) {
      const first = await probe.token()
      const second = await probe.answers.signedInAgain()
      must(!second.body.includes(first), 'both logins gave the same token')
    },
  },
  {
    id: 'no-realm',
    title: 'a realm in the request changes nothing',
    source: 'docs/reference/http.md section 1',
    async run({ postJson, target: { credentials } }) {
      mustBe(200, await postJson({ ...credentials, realm: 'check' }), 'a login with a realm')
    },
  },
]

/** Returns the JSON object in the response to the login. */
export async function resultOf({ answers }: Probe): Promise<Readonly<Record<string, unknown>>> {
  const { status, body } = await answers.signedIn()
  if (status !== 200) throw new Unjudged('the login gave no token')
  const result = parseJson(body)
  must(isPlainObject(result), 'the response is not a JSON object')
  return result
}

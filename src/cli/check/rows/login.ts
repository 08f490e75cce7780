import { isPlainObject, parseJson } from '../../../options/values.js'
import { memberIn, mustBe } from '../response.js'
import type { Rows } from '../row.js'
import type { Received } from '../send.js'
import { must } from '../verdict.js'

const MEMBERS = ['authenticationToken', 'expiration']

/** Rows about the token endpoint. */
export const loginRows: Rows = {
  login: {
    title: 'the correct email and password return 200',
    source: 'docs/reference/http.md section 2',
    async run({ responses }) {
      const response = await responses.signedIn()
      mustBe(200, response, 'the login', LIKELY_MISTAKES[response.status])
    },
  },
  members: {
    title: 'the response contains only authenticationToken and expiration',
    source: 'docs/reference/http.md section 2',
    async run({ login }) {
      const result = parseJson((await login()).body)
      must(isPlainObject(result), 'the response is not a JSON object')
      const wrong = MEMBERS.filter((name) => typeof result[name] !== 'string')
      must(wrong.length === 0, `missing, or not a string: ${wrong.join(', ')}`)
      // Where the app gives refresh tokens to apps, there is a third one.
      const others = Object.keys(result).length - MEMBERS.length - Number(typeof result['refreshToken'] === 'string')
      must(others === 0, `it has ${others} more ${others === 1 ? 'member' : 'members'}`)
    },
  },
  'two-tokens': {
    title: 'two logins return different tokens',
    source: 'OWASP ASVS 5, 7.2.4; RFC 7519 section 4.1.7',
    async run({ token, responses }) {
      const first = await token()
      const second = memberIn(await responses.signedInAgain(), 'authenticationToken')
      must(second !== first, 'both logins gave the same token')
    },
  },
  'wrong-password': {
    title: 'a wrong password returns 403',
    source: 'docs/reference/http.md section 3',
    run: async ({ responses }) => mustBe(403, await responses.wrong(), 'a wrong password'),
  },
  'empty-403': {
    title: 'invalid credentials return an empty body',
    source: 'docs/reference/http.md section 3',
    async run({ responses }) {
      const { body, headers } = await responses.wrong()
      must(body === '', `the body has ${Buffer.byteLength(body)} bytes`)
      must(headers['content-length'] === '0', 'Content-Length is not 0')
    },
  },
  'same-refusal': {
    title: 'an unknown email returns the same status, headers and body as a wrong password',
    source: 'OWASP ASVS 5, 6.3.8',
    async run({ responses }) {
      const [wrong, again, unknown] = [await responses.wrong(), await responses.spaced(), await responses.unknown()]
      must(wrong.status === unknown.status, `an unknown e-mail is ${unknown.status}, a wrong password ${wrong.status}`)
      // A value that differs between two refusals of one kind (an id, a time) reveals nothing about the account.
      const twin = again.status === wrong.status ? again : wrong
      must(wrong.body === unknown.body || wrong.body !== twin.body, 'the bodies differ')
      const restless = differing(wrong, twin).filter((name) => name in unknown.headers)
      const telling = differing(wrong, unknown).filter((name) => name !== 'date' && !restless.includes(name))
      must(telling.length === 0, `these headers differ: ${telling.join(', ')}`)
    },
  },
  'password-exact': {
    title: 'a password with a trailing space is a different password',
    source: 'OWASP ASVS 5, 6.2.8',
    async run({ login, responses }) {
      await login()
      mustBe(403, await responses.spaced(), 'the password with a space at its end')
    },
  },
}

const MISTYPED = 'Are the URL and --path right?'
/** Questions about the likely cause of a refused login, by its status. */
const LIKELY_MISTAKES: Readonly<Record<number, string>> = {
  403: 'Are --email and the password right?',
  404: MISTYPED,
  405: MISTYPED,
}

function differing(one: Received, two: Received): string[] {
  const names = new Set([...Object.keys(one.headers), ...Object.keys(two.headers)])
  return [...names].filter((name) => String(one.headers[name]) !== String(two.headers[name]))
}

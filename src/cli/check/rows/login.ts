import { isPlainObject, parseJson } from '../../../options/values.js'
import type { CheckedApp } from '../app.js'
import { isSuccess, judgeEach, memberIn, mustBe, mustBeProblem, mustTellNothing } from '../response.js'
import type { Rows } from '../row.js'
import type { Received } from '../send.js'
import { must } from '../verdict.js'

const MEMBERS = ['authenticationToken', 'expiration']

/** Rows about the token endpoint. */
export const loginRows: Rows = {
  login: {
    title: 'the right e-mail and password get 200',
    source: 'docs/reference/http.md section 2',
    async run({ responses }) {
      const response = await responses.signedIn()
      mustBe(200, response, 'the login', LIKELY_MISTAKES[response.status])
    },
  },
  members: {
    title: 'the response has only authenticationToken and expiration',
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
  'not-cached': {
    title: 'tokens and refusals are not cached',
    source: 'RFC 6749 section 5.1; OWASP ASVS 5, 14.3.2',
    async run({ login, responses }) {
      const mustForbidCaches = ({ headers }: Received, what: string) => {
        must(/\bno-store\b/i.test(headers['cache-control'] ?? ''), `Cache-Control of ${what} does not name no-store`)
        must(/\bno-cache\b/i.test(headers.pragma ?? ''), `Pragma of ${what} does not name no-cache`)
      }
      mustForbidCaches(await login(), 'the token')
      must(!('etag' in (await login()).headers), 'the response with the token has an ETag')
      mustForbidCaches(await responses.wrong(), 'the refusal')
    },
  },
  'two-tokens': {
    title: 'two logins give two tokens',
    source: 'OWASP ASVS 5, 7.2.4; RFC 7519 section 4.1.7',
    async run({ token, responses }) {
      const first = await token()
      const second = memberIn(await responses.signedInAgain(), 'authenticationToken')
      must(second !== first, 'both logins gave the same token')
    },
  },
  'wrong-password': {
    title: 'a wrong password gets 403',
    source: 'docs/reference/http.md section 3',
    run: async ({ responses }) => mustBe(403, await responses.wrong(), 'a wrong password'),
  },
  'empty-403': {
    title: 'invalid credentials get an empty body',
    source: 'docs/reference/http.md section 3',
    async run({ responses }) {
      const { body, headers } = await responses.wrong()
      must(body === '', `the body has ${Buffer.byteLength(body)} bytes`)
      must(headers['content-length'] === '0', 'Content-Length is not 0')
    },
  },
  'same-refusal': {
    title: 'an unknown e-mail gets the same status, headers and body as a wrong password',
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
    title: 'a password with a space at its end is another password',
    source: 'OWASP ASVS 5, 6.2.8',
    async run({ login, responses }) {
      await login()
      mustBe(403, await responses.spaced(), 'the password with a space at its end')
    },
  },
  'malformed-json': {
    title: 'malformed JSON gets 400',
    source: 'RFC 9110 section 15.5.1',
    run: async ({ responses }) => mustBe(400, await responses.malformed(), 'malformed JSON'),
  },
  'cross-site-form': {
    title: 'a form that a page of another site sends gets 415',
    source: 'docs/reference/http.md section 3; OWASP ASVS 5, 3.5.1',
    async run({ logIn, mark }) {
      const headers = {
        'Content-Type': 'application/x-www-form-urlencoded',
        Origin: `https://${mark}.invalid`,
        'Sec-Fetch-Site': 'cross-site',
      }
      mustBe(415, await logIn({}, { headers, body: `email=${mark}` }), 'a form of another site')
    },
  },
  'body-too-large': {
    title: 'a body above 1 MB gets 413',
    source: 'RFC 9110 section 15.5.14',
    run: async ({ responses }) => mustBe(413, await responses.tooLarge(), 'a body above 1 MB'),
  },
  methods: {
    title: 'another method gets 405 with Allow',
    source: 'docs/reference/http.md section 4; RFC 9110 section 15.5.6',
    async run({ send, target }) {
      for (const method of ['GET', 'PUT', 'DELETE', 'HEAD']) {
        const response = await send(target.token, { method })
        mustBe(405, response, method)
        const allowed = (response.headers.allow ?? '').split(/[\s,]+/)
        must(allowed.includes('POST'), `Allow of ${method} does not name POST`)
      }
    },
  },
  options: {
    title: 'OPTIONS gets no server error',
    source: 'RFC 9110 section 9.3.7',
    async run({ send, target }) {
      const response = await send(target.token, { method: 'OPTIONS' })
      must(isSuccess(response) || response.status === 405, `OPTIONS gets ${response.status}`)
    },
  },
  'cross-origin': {
    title: 'a page of an unknown origin may not read responses with credentials',
    source: 'OWASP ASVS 5, 3.4.2',
    async run({ send, target, mark }) {
      const requests = [
        { url: target.token, method: 'OPTIONS', headers: { 'Access-Control-Request-Method': 'POST' } },
        ...target.guarded.slice(0, 1).map(({ url }) => ({ url, method: 'GET', headers: {} })),
      ]
      for (const { url, method, headers } of requests) {
        const origins = {
          'a made-up origin': `https://${mark}.invalid`,
          'an origin that begins with the name of the API': `https://${url.hostname}.${mark}.invalid`,
          'an origin that ends with the name of the API': `https://${mark}${url.hostname}`,
          // Any page can have this origin: a page in a sandboxed frame does.
          'the origin null': 'null',
        }
        for (const [what, origin] of Object.entries(origins)) {
          const { headers: got } = await send(url, { method, headers: { ...headers, Origin: origin } })
          const allows = got['access-control-allow-credentials'] === 'true'
          must(!(allows && got['access-control-allow-origin'] === origin), `${what} is allowed, with credentials`)
        }
      }
    },
  },
  problem: {
    title: 'refusals of the token endpoint are problem details',
    source: 'RFC 9457',
    run: (app) =>
      judgeEach(refusalsOf(app), (response, what) => {
        // A status that is wrong fails another row.
        if ([400, 405, 413, 415].includes(response.status)) mustBeProblem(response, what)
      }),
  },
  'no-echo': {
    title: 'no refusal shows a stack trace or repeats the request',
    source: 'OWASP ASVS 5, 16.5.1',
    run: (app) =>
      judgeEach({ ...refusalsOf(app), 'an unknown e-mail': app.responses.unknown }, (response, what) =>
        mustTellNothing(response, app.mark, what),
      ),
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

/** Refusals that a body parser, an error handler or a proxy may replace. */
const refusalsOf = ({ responses }: CheckedApp) => ({
  'malformed JSON': responses.malformed,
  'a missing member': responses.unfinished,
  'a body above 10 kB': responses.large,
  'another method': responses.get,
})

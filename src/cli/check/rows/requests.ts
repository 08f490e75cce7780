import { type Probe, withQuery } from '../probe/probe.js'
import { valueAt } from '../probe/read-response.js'
import { isSuccess, mustBe, mustBeProblem, mustTellNothing } from '../probe/responses.js'
import type { Received } from '../probe/send.js'
import { must, type Row, Unjudged } from '../verdict.js'
import { FORM_TYPE } from '../wire/login-body.js'
import { orOf, type Wire } from '../wire/wire.js'
import { loginOf } from './token-response.js'

/** Basic credentials of an unknown user (RFC 7617). */
const BASIC = `Basic ${Buffer.from('nobody@nobody.invalid:wrong').toString('base64')}`
const NOBODY = { user: 'nobody@nobody.invalid', password: 'wrong' }

/** Rows about unusual requests to the token endpoint. */
export const requestRows: readonly Row<Probe>[] = [
  {
    id: 'query-ignored',
    title: 'credentials in the query are ignored',
    source: 'docs/reference/http.md section 1; OWASP ASVS 5, 14.2.1',
    async run(probe) {
      await loginOf(probe)
      const { logIn, credentials, responses, send, target } = probe
      const { login, statuses } = probe.wire
      const query = { [login.user]: NOBODY.user, [login.password]: NOBODY.password }
      const beside = await logIn(credentials, { query })
      mustBe(statuses.success, beside, "a login with somebody else's e-mail in the query")
      const { status } = await responses.empty()
      mustBe(status, await logIn({}, { query }), 'a request with credentials only in the query')
      const got = await responses.get()
      mustBe(got.status, await send(withQuery(target.token, query)), 'GET with credentials in the query')
    },
  },
  {
    id: 'header-ignored',
    title: 'the Authorization header is ignored',
    source: 'docs/reference/http.md section 1',
    async run(probe) {
      await loginOf(probe)
      const { logIn, credentials, responses } = probe
      const { statuses } = probe.wire
      const headers = { Authorization: BASIC }
      const beside = await logIn(credentials, { headers })
      mustBe(statuses.success, beside, "a login with somebody else's credentials in the header")
      const { status } = await responses.empty()
      mustBe(status, await logIn({}, { headers }), 'a request with credentials only in the header')
    },
  },
  {
    id: 'malformed-json',
    title: ({ statuses }) => `malformed JSON gets ${orOf(statuses.malformed)}`,
    source: 'RFC 9110 section 15.5.1',
    async run({ responses, wire }) {
      mustTakeJson(wire.login.type)
      mustBe(wire.statuses.malformed, await responses.malformed(), 'malformed JSON')
    },
  },
  {
    id: 'missing-member',
    title: (wire) => `a member that is missing or not a string gets ${orOf(oddStatuses(wire))}`,
    source: 'docs/reference/http.md section 3; RFC 9110 section 15.5.1',
    async run(probe) {
      for (const [what, ask] of Object.entries(oddMembers(probe))) {
        mustBe(oddStatuses(probe.wire), await ask(), what)
      }
    },
  },
  {
    id: 'object-password',
    title: 'an object or an array signs nobody in, and gets no server error',
    source: 'OWASP ASVS 5, 2.2.1',
    async run({ logIn, credentials, wire, mark }) {
      mustTakeJson(wire.login.type)
      for (const [what, password] of Object.entries({ 'an object': { $ne: null }, 'an array': [mark] })) {
        const { status } = await logIn({ ...credentials, password })
        must(!wire.statuses.success.includes(status), `${what} as the password signs in`)
        must(status < 500, `${what} as the password gets ${status}`)
      }
      const { status } = await logIn({ user: { $ne: null }, password: credentials.password })
      must(!wire.statuses.success.includes(status), 'an object as the e-mail signs in')
      must(status < 500, `an object as the e-mail gets ${status}`)
    },
  },
  {
    id: 'repeated-field',
    title: 'a form that names a field twice gets 400',
    source: 'docs/reference/http.md section 3',
    ownOnly: 'only this package promises a status for a repeated field',
    async run({ post, mark }) {
      const body = `email=${mark}&email=${mark}&password=${mark}`
      mustBe(400, await post(body, { type: FORM_TYPE }), 'a field that occurs twice')
    },
  },
  {
    id: 'cross-site-form',
    title: 'a form that a page of another site sends gets 415',
    source: 'docs/reference/http.md section 3; OWASP ASVS 5, 3.5.1',
    ownOnly: 'only this package promises a status for such a form',
    async run({ post, mark }) {
      const headers = { Origin: `https://${mark}.invalid`, 'Sec-Fetch-Site': 'cross-site' }
      mustBe(415, await post(`email=${mark}`, { type: FORM_TYPE, headers }), 'a form of another site')
    },
  },
  {
    id: 'media-type',
    title: ({ own, statuses }) => `another media type gets ${own ? 415 : orOf([415, ...statuses.malformed])}`,
    source: 'RFC 9110 section 15.5.16',
    async run({ responses, wire: { own, statuses } }) {
      // A server that ignores the body misses the credentials.
      const { status } = own ? { status: 415 } : await responses.empty()
      mustBe(own ? 415 : [415, ...statuses.malformed, ...below500(status)], await responses.plainText(), 'text/plain')
    },
  },
  {
    id: 'body-too-large',
    title: ({ own }) => `a body above 1 MB gets ${own ? 413 : 'no server error'}`,
    source: 'RFC 9110 section 15.5.14',
    async run({ responses, wire }) {
      const response = await responses.tooLarge()
      if (wire.own) return mustBe(413, response, 'a body above 1 MB')
      must(response.status < 500, `a body above 1 MB gets ${response.status}`)
    },
  },
  {
    id: 'methods',
    title: ({ own }) =>
      own ? 'another method gets 405 with Allow' : 'another method is refused, and 405 comes with Allow',
    source: 'docs/reference/http.md section 4; RFC 9110 section 15.5.6',
    async run({ responses, send, target, wire }) {
      const others = wire.own ? ['GET', 'PUT', 'DELETE', 'HEAD'] : ['PUT', 'DELETE']
      for (const method of others.filter((one) => one !== wire.login.method)) {
        const response = method === 'GET' ? await responses.get() : await send(target.token, { method })
        if (wire.own) mustBe(405, response, method)
        else must(response.status >= 400 && response.status < 500, `${method} gets ${response.status}`)
        const allowed = (response.headers.allow ?? '').split(/[\s,]+/)
        must(
          response.status !== 405 || allowed.includes(wire.login.method),
          `Allow of ${method} does not name ${wire.login.method}`,
        )
      }
    },
  },
  {
    id: 'options',
    title: 'OPTIONS gets no token and no server error',
    source: 'RFC 9110 section 9.3.7',
    async run({ send, target, wire }) {
      const response = await send(target.token, { method: 'OPTIONS' })
      const fits = wire.own ? isSuccess(response) || response.status === 405 : response.status < 500
      must(fits, `OPTIONS gets ${response.status}`)
      must(valueAt(response, wire.token) === undefined, 'OPTIONS gets a token')
    },
  },
  {
    id: 'cross-origin',
    title: 'a page of an unknown origin may not read responses with credentials',
    source: 'OWASP ASVS 5, 3.4.2',
    async run({ send, target, wire, mark }) {
      const preflight = { 'Access-Control-Request-Method': wire.login.method }
      const requests = [
        { url: target.token, method: 'OPTIONS', headers: preflight },
        ...target.guarded.slice(0, 1).map(({ url }) => ({ url, method: 'GET', headers: {} })),
      ]
      for (const { url, method, headers } of requests) {
        for (const [what, origin] of Object.entries({
          'a made-up origin': `https://${mark}.invalid`,
          'an origin that begins with the name of the API': `https://${url.hostname}.${mark}.invalid`,
          'an origin that ends with the name of the API': `https://${mark}${url.hostname}`,
          // Any page can have this origin: a page in a sandboxed frame does.
          'the origin null': 'null',
        })) {
          const { headers: got } = await send(url, { method, headers: { ...headers, Origin: origin } })
          const allows = got['access-control-allow-credentials'] === 'true'
          must(!(allows && got['access-control-allow-origin'] === origin), `${what} is allowed, with credentials`)
        }
      }
    },
  },
  {
    id: 'problem',
    title: 'refusals of the token endpoint are problem details',
    source: 'RFC 9457',
    ownOnly: 'no standard demands problem details',
    async run(probe) {
      const { responses, send, target } = probe
      const refusals: Record<string, () => Promise<Received>> = {
        'malformed JSON': responses.malformed,
        ...oddMembers(probe),
        'text/plain': responses.plainText,
        'a body above 1 MB': responses.tooLarge,
        GET: responses.get,
        PUT: () => send(target.token, { method: 'PUT' }),
      }
      for (const [what, ask] of Object.entries(refusals)) {
        const response = await ask()
        // A status that is wrong fails another row.
        if ([400, 405, 413, 415].includes(response.status)) mustBeProblem(response, what)
      }
    },
  },
  {
    id: 'no-echo',
    title: 'no refusal shows a stack trace or repeats the request',
    source: 'OWASP ASVS 5, 16.5.1',
    async run({ responses, mark }) {
      for (const [what, ask] of Object.entries({
        'malformed JSON': responses.malformed,
        'a missing member': responses.unfinished,
        'another media type': responses.plainText,
        'a large body': responses.tooLarge,
        'another method': responses.get,
        'an unknown e-mail': responses.unknown,
      })) {
        mustTellNothing(await ask(), mark, what)
      }
    },
  },
]

/** Another API may also say that the credentials are wrong. */
const oddStatuses = ({ own, statuses }: Wire) =>
  own ? statuses.malformed : [...new Set([...statuses.malformed, ...statuses.wrongPassword])]

/** Logins that lack a member, or have one of another type. A form has only text. */
function oddMembers({ responses, logIn, mark, wire, post }: Probe): Record<string, () => Promise<Received>> {
  const json = {
    'a number as password': () => logIn({ user: mark, password: 7 }),
    'an array': () => post('[]'),
  }
  return {
    'a body without password': responses.unfinished,
    'a body without email': () => logIn({ password: mark }),
    ...(wire.login.type === 'json' && json),
  }
}

function mustTakeJson(type: 'json' | 'form'): void {
  if (type === 'form') throw new Unjudged('the mapping says that logins are forms')
}

const below500 = (status: number) => (status < 500 ? [status] : [])

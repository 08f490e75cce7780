import { type Changes, type Probe, withQuery } from '../probe/probe.js'
import {
  isSuccess,
  judgeEach,
  mustAllBe,
  mustBe,
  mustBeProblem,
  mustTellNothing,
  type Requests,
  valueAt,
} from '../probe/response.js'
import { gets, type Rows } from '../row.js'
import { must, Unjudged } from '../verdict.js'
import { orOf, type Wire } from '../wire/wire.js'
import { loginOf } from './token-response.js'

/** Credentials of an unknown user, as members and as a header (RFC 7617). */
const STRANGER = { user: 'nobody@nobody.invalid', password: 'wrong' }
const BASIC = `Basic ${Buffer.from(`${STRANGER.user}:${STRANGER.password}`).toString('base64')}`

export const requestRows: Rows = {
  'query-ignored': {
    title: 'credentials in the query are ignored',
    source: 'docs/reference/http.md section 1; OWASP ASVS 5, 14.2.1',
    needs: loginOf,
    async run(probe) {
      const { responses, send, target, wire } = probe
      const query = { [wire.login.user]: STRANGER.user, [wire.login.password]: STRANGER.password }
      await mustIgnore(probe, { query }, "somebody else's e-mail in the query", 'query')
      const { status } = await responses.get()
      mustBe(status, await send(withQuery(target.token, query)), 'GET with credentials in the query')
    },
  },
  'header-ignored': {
    title: 'the Authorization header is ignored',
    source: 'docs/reference/http.md section 1',
    needs: loginOf,
    run: (probe) =>
      mustIgnore(probe, { headers: { Authorization: BASIC } }, "somebody else's credentials in the header", 'header'),
  },
  'malformed-json': {
    title: 'malformed JSON gets {malformed}',
    source: 'RFC 9110 section 15.5.1',
    needs: jsonLogins,
    run: gets('malformed', ({ responses }) => ({ 'malformed JSON': responses.malformed })),
  },
  'missing-member': {
    title: (wire) => `a member that is missing or not a string gets ${orOf(oddStatuses(wire))}`,
    source: 'docs/reference/http.md section 3; RFC 9110 section 15.5.1',
    run: (probe) => mustAllBe(oddStatuses(probe.wire), oddMembers(probe)),
  },
  'object-password': {
    title: 'an object or an array signs nobody in, and gets no server error',
    source: 'OWASP ASVS 5, 2.2.1',
    needs: jsonLogins,
    run({ logIn, credentials, wire, mark }) {
      const logins = {
        'an object as the password': () => logIn({ ...credentials, password: { $ne: null } }),
        'an array as the password': () => logIn({ ...credentials, password: [mark] }),
        'an object as the e-mail': () => logIn({ ...credentials, user: { $ne: null } }),
      }
      return judgeEach(logins, ({ status }, what) => {
        must(!wire.statuses.success.includes(status), `${what} signs in`)
        must(status < 500, `${what} gets ${status}`)
      })
    },
  },
  'repeated-field': {
    title: 'a form that names a field twice gets 400',
    source: 'docs/reference/http.md section 3',
    ownOnly: 'only this package promises a status for a repeated field',
    run: gets(400, ({ logIn, mark }) => ({
      'a field that occurs twice': () =>
        logIn({}, { as: 'form', body: `email=${mark}&email=${mark}&password=${mark}` }),
    })),
  },
  'cross-site-form': {
    title: 'a form that a page of another site sends gets 415',
    source: 'docs/reference/http.md section 3; OWASP ASVS 5, 3.5.1',
    ownOnly: 'only this package promises a status for such a form',
    run: gets(415, ({ logIn, mark }) => {
      const headers = { Origin: `https://${mark}.invalid`, 'Sec-Fetch-Site': 'cross-site' }
      return { 'a form of another site': () => logIn({ user: mark }, { as: 'form', headers }) }
    }),
  },
  'media-type': {
    title: ({ own }) => `another media type gets ${own ? '415' : '415 or {malformed}'}`,
    source: 'RFC 9110 section 15.5.16',
    async run({ responses, wire: { own, statuses } }) {
      if (own) return mustBe(415, await responses.plainText(), 'text/plain')
      // A server that ignores the body misses the credentials.
      const unread = [(await responses.empty()).status].filter((status) => status < 500)
      mustBe([415, ...statuses.malformed, ...unread], await responses.plainText(), 'text/plain')
    },
  },
  'body-too-large': {
    title: ({ own }) => `a body above 1 MB gets ${own ? 413 : 'no server error'}`,
    source: 'RFC 9110 section 15.5.14',
    async run({ responses, wire }) {
      const response = await responses.tooLarge()
      if (wire.own) return mustBe(413, response, 'a body above 1 MB')
      must(response.status < 500, `a body above 1 MB gets ${response.status}`)
    },
  },
  methods: {
    title: ({ own }) =>
      own ? 'another method gets 405 with Allow' : 'another method is refused, and 405 comes with Allow',
    source: 'docs/reference/http.md section 4; RFC 9110 section 15.5.6',
    async run({ send, target, wire: { own, login } }) {
      const others = own ? ['GET', 'PUT', 'DELETE', 'HEAD'] : ['PUT', 'DELETE']
      for (const method of others.filter((one) => one !== login.method)) {
        const response = await send(target.token, { method })
        if (own) mustBe(405, response, method)
        else must(response.status >= 400 && response.status < 500, `${method} gets ${response.status}`)
        const allowed = (response.headers.allow ?? '').split(/[\s,]+/)
        const names = response.status !== 405 || allowed.includes(login.method)
        must(names, `Allow of ${method} does not name ${login.method}`)
      }
    },
  },
  options: {
    title: 'OPTIONS gets no token and no server error',
    source: 'RFC 9110 section 9.3.7',
    async run({ send, target, wire }) {
      const response = await send(target.token, { method: 'OPTIONS' })
      const fits = wire.own ? isSuccess(response) || response.status === 405 : response.status < 500
      must(fits, `OPTIONS gets ${response.status}`)
      must(valueAt(response, wire.token) === undefined, 'OPTIONS gets a token')
    },
  },
  'cross-origin': {
    title: 'a page of an unknown origin may not read responses with credentials',
    source: 'OWASP ASVS 5, 3.4.2',
    async run({ send, target, wire, mark }) {
      const preflight = { 'Access-Control-Request-Method': wire.login.method }
      const requests = [
        { url: target.token, method: 'OPTIONS', headers: preflight },
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
    ownOnly: 'no standard demands problem details',
    run(probe) {
      const { responses, send, target } = probe
      const refusals = {
        'malformed JSON': responses.malformed,
        ...oddMembers(probe),
        'text/plain': responses.plainText,
        'a body above 1 MB': responses.tooLarge,
        GET: responses.get,
        PUT: () => send(target.token, { method: 'PUT' }),
      }
      return judgeEach(refusals, (response, what) => {
        // A status that is wrong fails another row.
        if ([400, 405, 413, 415].includes(response.status)) mustBeProblem(response, what)
      })
    },
  },
  'no-echo': {
    title: 'no refusal shows a stack trace or repeats the request',
    source: 'OWASP ASVS 5, 16.5.1',
    run({ responses, mark }) {
      const refusals = {
        'malformed JSON': responses.malformed,
        'a missing member': responses.unfinished,
        'another media type': responses.plainText,
        'a large body': responses.tooLarge,
        'another method': responses.get,
        'an unknown e-mail': responses.unknown,
      }
      return judgeEach(refusals, (response, what) => mustTellNothing(response, mark, what))
    },
  },
}

/** @throws Fault when credentials outside of the body change a login, or a request without a login */
async function mustIgnore(probe: Probe, outside: Changes, what: string, place: string): Promise<void> {
  const { logIn, credentials, responses, wire } = probe
  mustBe(wire.statuses.success, await logIn(credentials, outside), `a login with ${what}`)
  const { status } = await responses.empty()
  mustBe(status, await logIn({}, outside), `a request with credentials only in the ${place}`)
}

/** Another API may also say that the credentials are wrong. */
const oddStatuses = ({ own, statuses }: Wire) =>
  own ? statuses.malformed : [...new Set([...statuses.malformed, ...statuses.wrongPassword])]

/** Logins that lack a member, or have one of another type. A form has only text. */
function oddMembers({ responses, logIn, mark, wire }: Probe): Requests {
  const json = {
    'a number as password': () => logIn({ user: mark, password: 7 }),
    'an array': () => logIn({}, { body: '[]' }),
  }
  return {
    'a body without password': responses.unfinished,
    'a body without email': () => logIn({ password: mark }),
    ...(wire.login.type === 'json' && json),
  }
}

function jsonLogins({ wire }: Probe): void {
  if (wire.login.type === 'form') throw new Unjudged('the mapping says that logins are forms')
}

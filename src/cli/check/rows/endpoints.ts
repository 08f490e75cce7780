import { type AuthErrorCode, REFUSALS } from '../../../errors/codes.js'
import { codesOf } from '../../../http/declaration.js'
import type { CheckedApp } from '../app.js'
import { heldIn, isSuccess, mustBe, mustBeProblem, mustTellNothing } from '../response.js'
import type { Row, Rows } from '../row.js'
import type { Received, Sent } from '../send.js'
import type { CheckedEndpoint } from '../settings.js'
import { must, mustAll, Unjudged } from '../verdict.js'

/** Requests that each endpoint refuses which declares a code. */
interface WrongRequests {
  code: AuthErrorCode
  /** Returns the requests by their names in the report. */
  requests(mark: string, endpoint: CheckedEndpoint): Readonly<Record<string, Sent>>
}

const json = (body: string): Sent => ({ headers: { 'Content-Type': 'application/json' }, body })

const withToken = (token: string): Sent => ({ headers: { Authorization: `Bearer ${token}` } })
const NO_TOKEN = 'a request without a token'

const METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'HEAD']

/** Wrong requests, each with its row: the status must be that of the code. */
const WRONG: Readonly<Record<string, WrongRequests & Pick<Row, 'title' | 'source'>>> = {
  'malformed-json': {
    title: 'malformed JSON returns 400',
    source: 'RFC 9110 section 15.5.1',
    code: 'invalid_body',
    requests: (mark) => ({
      'malformed JSON': json(`{"email":"a@nobody.invalid","password":${mark}}`),
      'a missing member': json(JSON.stringify({ email: mark })),
    }),
  },
  'media-type': {
    title: 'an unsupported media type returns 415',
    source: 'RFC 9110 section 15.5.16',
    code: 'unsupported_media_type',
    requests: (mark) => ({ 'a text': { headers: { 'Content-Type': 'text/plain' }, body: `{"email":"${mark}"}` } }),
  },
  'cross-site-form': {
    title: 'a form from a page on a different site returns 415',
    source: 'docs/reference/http.md section 3; OWASP ASVS 5, 3.5.1',
    code: 'cross_site_form',
    requests(mark) {
      const headers = {
        'Content-Type': 'application/x-www-form-urlencoded',
        Origin: `https://${mark}.invalid`,
        'Sec-Fetch-Site': 'cross-site',
      }
      return { 'a form of another site': { headers, body: `email=${mark}` } }
    },
  },
  'body-too-large': {
    title: 'a body above 1 MB returns 413',
    source: 'RFC 9110 section 15.5.14',
    code: 'body_too_large',
    requests: (mark) => ({ 'a body above 1 MB': json(JSON.stringify({ filler: mark.repeat(120_000) })) }),
  },
  methods: {
    title: 'an unsupported method returns 405 with Allow',
    source: 'docs/reference/http.md section 4; RFC 9110 section 15.5.6',
    code: 'method_not_allowed',
    requests: (_mark, { methods }) =>
      Object.fromEntries(METHODS.filter((one) => !methods.includes(one)).map((method) => [method, { method }])),
  },
  guarded: {
    title: 'every guarded path returns 401 without a token',
    source: 'docs/reference/http.md section 7; RFC 6750 section 3',
    code: 'missing_token',
    requests: () => ({ [NO_TOKEN]: {} }),
  },
  'bad-token': {
    title: 'an invalid token returns 401',
    source: 'docs/reference/http.md section 7; OWASP ASVS 5, 9.1.1',
    code: 'invalid_token',
    requests: (mark) => ({ 'an invalid token': withToken(mark), 'a long token': withToken(mark.repeat(500)) }),
  },
}

/**
 * The refusals that a body parser, an error handler or a proxy may replace. A longer body than 10 kB, the default limit of the app, is
 * refused by some proxies themselves.
 */
const REPLACEABLE: readonly WrongRequests[] = Object.values({
  ...WRONG,
  'body-too-large': {
    code: 'body_too_large',
    requests: (mark) => ({ 'a body above 10 kB': json(JSON.stringify({ filler: mark.repeat(2_300) })) }),
  },
} satisfies Record<string, WrongRequests>)

/** Rows about every endpoint that the app has, from what the endpoints declare. */
export const endpointRows: Rows = {
  ...Object.fromEntries(Object.entries(WRONG).map(([id, wrong]) => [id, { ...wrong, run: refuses(wrong) }])),
  'not-cached': {
    title: 'tokens and refusals are not cached',
    source: 'RFC 6749 section 5.1; OWASP ASVS 5, 14.3.2',
    async run(app) {
      const mustForbidCaches = ({ headers }: Received, what: string) => {
        must(/\bno-store\b/i.test(headers['cache-control'] ?? ''), `Cache-Control of ${what} does not name no-store`)
        must(/\bno-cache\b/i.test(headers.pragma ?? ''), `Pragma of ${what} does not name no-cache`)
      }
      mustForbidCaches(await app.login(), 'the token')
      must(!('etag' in (await app.login()).headers), 'the response with the token has an ETag')
      mustForbidCaches(await app.responses.wrong(), 'the refusal')
      await judgeRefusals(app, (response, what) => {
        if (isExpected(response)) mustForbidCaches(response, what)
      })
    },
  },
  options: {
    title: 'OPTIONS does not cause a server error',
    source: 'RFC 9110 section 9.3.7',
    async run({ send, endpoints }) {
      await mustAll(await endpoints(), async ({ url }) => {
        const response = await send(url, { method: 'OPTIONS' })
        must(isSuccess(response) || response.status === 405, `OPTIONS returned ${response.status}`)
      })
    },
  },
  'cross-origin': {
    title: 'a page on an unknown origin cannot read responses with credentials',
    source: 'OWASP ASVS 5, 3.4.2',
    async run({ send, target, mark, endpoints }) {
      const requests = [
        ...(await endpoints()).map(({ url, declared: { method } }) => ({
          url,
          method: 'OPTIONS',
          headers: { 'Access-Control-Request-Method': method },
        })),
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
    title: 'the endpoints send refusals as problem details',
    source: 'RFC 9457',
    run: (app) =>
      judgeRefusals(app, (response, what) => {
        if (isExpected(response)) mustBeProblem(response, what)
      }),
  },
  'no-echo': {
    title: 'refusals contain neither a stack trace nor text from the request',
    source: 'OWASP ASVS 5, 16.5.1',
    async run(app) {
      mustTellNothing(await app.responses.unknown(), app.mark, 'an unknown e-mail')
      await judgeRefusals(app, (response, what) => {
        if (!isSuccess(response)) mustTellNothing(response, app.mark, what)
      })
    },
  },
}

/** Returns wrong requests to the endpoints that the app has. Rows share the responses. */
async function refusalsOf(app: CheckedApp, all: readonly WrongRequests[]) {
  const mode = heldIn(await app.responses.signedIn())?.mode
  const has = (code: AuthErrorCode, { declared, methods }: CheckedEndpoint) => {
    if (code === 'missing_token' || code === 'invalid_token') return declared.guard !== undefined
    if (code === 'method_not_allowed') return methods.length > 0
    // A guard refuses the request before its body is read.
    const takesBody = declared.body && !declared.guard && (declared.body.of ?? mode) === mode
    return takesBody && codesOf(declared).has(code)
  }
  const endpoints = [...(await app.endpoints()), ...app.target.guarded]
  return all.flatMap(({ code, requests }) =>
    endpoints
      .filter((one) => has(code, one))
      .flatMap((one) =>
        Object.entries(requests(app.mark, one)).map(([what, sent]) => ({
          name: one.name,
          what,
          code,
          endpoint: one,
          ask: () => app.askOnce(one, what, sent),
        })),
      ),
  )
}

/** Creates the run of a row whose requests must be refused. */
function refuses(wrong: WrongRequests): Row['run'] {
  return async (app) => {
    const refusals = await refusalsOf(app, [wrong])
    if (refusals.length === 0) throw new Unjudged('there is no such path')
    await mustAll(refusals, async ({ what, code, endpoint, ask }) => {
      // A path that is not guarded fails only the row about it.
      if (code === 'invalid_token' && (await app.askOnce(endpoint, NO_TOKEN, {})).status !== 401) return
      const response = await ask()
      mustBe(REFUSALS[code].status, response, what)
      if (code !== 'method_not_allowed') return
      const allowed = (response.headers.allow ?? '').split(/[\s,]+/)
      const missing = endpoint.methods.filter((one) => !allowed.includes(one))
      must(missing.length === 0, `Allow of ${what} does not name ${missing.join(', ')}`)
    })
  }
}

/** The statuses of these refusals. Another one fails another row. */
const isExpected = ({ status }: Received) => [400, 401, 405, 413, 415].includes(status)

/** Judges each refusal that may be replaced. */
const judgeRefusals = async (app: CheckedApp, judge: (response: Received, what: string) => void) =>
  mustAll(await refusalsOf(app, REPLACEABLE), async ({ what, ask }) => judge(await ask(), what))

import { FORM_TYPE, type Probe } from '../probe/probe.js'
import { isSuccess, mustBe, mustBeProblem, mustTellNothing } from '../probe/responses.js'
import type { Answer } from '../probe/send.js'
import { must, type Row } from '../verdict.js'

/** Basic credentials of an unknown user (RFC 7617). */
const BASIC = `Basic ${Buffer.from('nobody@nobody.invalid:wrong').toString('base64')}`
const NOBODY = { email: 'nobody@nobody.invalid', password: 'wrong' }

/** Rows about unusual requests to the token endpoint. */
export const requestRows: readonly Row<Probe>[] = [
  {
    id: 'query-ignored',
    title: 'credentials in the query are ignored',
    source: 'docs/reference/http.md section 1; OWASP ASVS 5, 14.2.1',
    async run({ postJson, target: { credentials } }) {
      mustBe(200, await postJson(credentials, { query: NOBODY }), "a login with somebody else's e-mail in the query")
      mustBe(400, await postJson({}, { query: NOBODY }), 'a request with credentials only in the query')
    },
  },
  {
    id: 'header-ignored',
    title: 'the Authorization header is ignored',
    source: 'docs/reference/http.md section 1',
    async run({ postJson, target: { credentials } }) {
      const headers = { Authorization: BASIC }
      mustBe(200, await postJson(credentials, { headers }), "a login with somebody else's credentials in the header")
      mustBe(400, await postJson({}, { headers }), 'a request with credentials only in the header')
    },
  },
  {
    id: 'malformed-json',
    title: 'malformed JSON gets 400 with problem details',
    source: 'RFC 9110 section 15.5.1; RFC 9457',
    async run({ answers }) {
      const answer = await answers.malformed()
      mustBe(400, answer, 'malformed JSON')
      mustBeProblem(answer, 'malformed JSON')
    },
  },
  {
    id: 'missing-member',
    title: 'a member that is missing or not a string gets 400 with problem details',
    source: 'docs/reference/http.md section 3; RFC 9457',
    async run({ answers, postJson, mark }) {
      const odd: [string, () => Promise<Answer>][] = [
        ['a body without password', answers.unfinished],
        ['a body without email', () => postJson({ password: mark })],
        ['a number as password', () => postJson({ email: mark, password: 7 })],
        ['an array', () => postJson([])],
      ]
      for (const [what, ask] of odd) {
        const answer = await ask()
        mustBe(400, answer, what)
        mustBeProblem(answer, what)
      }
    },
  },
  {
    id: 'repeated-field',
    title: 'a form that names a field twice gets 400',
    source: 'docs/reference/http.md section 3',
    async run({ post, mark }) {
      const body = `email=${mark}&email=${mark}&password=${mark}`
      mustBe(400, await post(body, { type: FORM_TYPE }), 'a field that occurs twice')
    },
  },
  {
    id: 'media-type',
    title: 'another media type gets 415 with problem details',
    source: 'RFC 9110 section 15.5.16; RFC 9457',
    async run({ answers }) {
      const answer = await answers.plainText()
      mustBe(415, answer, 'text/plain')
      mustBeProblem(answer, 'text/plain')
    },
  },
  {
    id: 'body-too-large',
    title: 'a body above 1 MB gets 413 with problem details',
    source: 'RFC 9110 section 15.5.14; RFC 9457',
    async run({ answers }) {
      const answer = await answers.tooLarge()
      mustBe(413, answer, 'a body above 1 MB')
      mustBeProblem(answer, 'a body above 1 MB')
    },
  },
  {
    id: 'methods',
    title: 'another method gets 405 with Allow and problem details',
    source: 'docs/reference/http.md section 4; RFC 9110 section 15.5.6; RFC 9457',
    async run({ answers, send, target }) {
      for (const method of ['GET', 'PUT', 'DELETE', 'HEAD']) {
        const answer = method === 'GET' ? await answers.get() : await send(target.token, { method })
        mustBe(405, answer, method)
        must(/\bPOST\b/.test(answer.headers.allow ?? ''), `Allow of ${method} does not name POST`)
        mustBeProblem(answer, method)
      }
    },
  },
  {
    id: 'options',
    title: 'OPTIONS gets no token and no server error',
    source: 'RFC 9110 section 9.3.7',
    async run({ send, target }) {
      const answer = await send(target.token, { method: 'OPTIONS' })
      must(isSuccess(answer) || answer.status === 405, `OPTIONS gets ${answer.status}`)
      must(!answer.body.includes('authenticationToken'), 'OPTIONS gets a token')
    },
  },
  {
    id: 'no-echo',
    title: 'no refusal shows a stack trace or repeats the request',
    source: 'OWASP ASVS 5, 16.5.1',
    async run({ answers, mark }) {
      for (const [what, ask] of Object.entries({
        'malformed JSON': answers.malformed,
        'a missing member': answers.unfinished,
        'another media type': answers.plainText,
        'a large body': answers.tooLarge,
        'another method': answers.get,
        'an unknown e-mail': answers.unknown,
      })) {
        mustTellNothing(await ask(), mark, what)
      }
    },
  },
]

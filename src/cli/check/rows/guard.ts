import type { Probe } from '../probe/probe.js'
import { challengeIn, isSuccess, mustBe, mustBeProblem, mustTellNothing } from '../probe/responses.js'
import { must, mustAll, type Row, Unjudged } from '../verdict.js'

/** Rows about guarded paths. */
export const guardRows: readonly Row<Probe>[] = [
  {
    id: 'guarded',
    title: 'every guarded path refuses a request without a token, with 401',
    source: 'docs/reference/http.md section 7; RFC 6750 section 3',
    async run({ target, ask }) {
      if (target.guarded.length === 0) throw new Unjudged('no --guarded PATH was given')
      await mustAll(target.guarded, async (path) => {
        const answer = await ask(path)
        must(!isSuccess(answer), `not guarded: a request without a token gets ${answer.status}`)
        mustBe(401, answer, 'a request without a token')
      })
    },
  },
  {
    id: 'challenge',
    title: 'without a token the challenge is Bearer, with a realm and without an error code',
    source: 'RFC 6750 sections 3 and 3.1; RFC 9110 section 11.6.1',
    async run({ closed, ask }) {
      await mustAll(await closed(), async (path) => {
        const { bearer, realm, error } = challengeIn(await ask(path))
        must(bearer, 'WWW-Authenticate holds no Bearer challenge')
        must(realm, 'the challenge has no realm')
        must(error === undefined, `the challenge has error="${error}"`)
      })
    },
  },
  {
    id: 'guard-problem',
    title: 'a guard refuses with problem details, without a stack trace or an echo',
    source: 'RFC 9457; OWASP ASVS 5, 16.5.1',
    async run({ closed, ask, mark }) {
      await mustAll(await closed(), async (path) => {
        mustBeProblem(await ask(path), 'a request without a token')
        mustTellNothing(await ask(path, `Bearer ${mark}`), mark, 'an invalid token')
      })
    },
  },
  {
    id: 'token-accepted',
    title: 'every guarded path accepts the token',
    source: 'docs/reference/http.md section 7',
    async run({ closed, ask, token }) {
      const bearer = `Bearer ${await token()}`
      await mustAll(await closed(), async (path) => {
        const answer = await ask(path, bearer)
        const { error } = challengeIn(answer)
        const scope = error === 'insufficient_scope' ? ': the account lacks a scope' : ''
        must(isSuccess(answer), `a request with the token gets ${answer.status}${scope}`)
      })
    },
  },
  {
    id: 'scheme-case',
    title: 'the scheme may be written in any case',
    source: 'RFC 9110 section 11.1',
    async run({ opened, ask, token }) {
      const text = await token()
      await mustAll(await opened(), async (path) => {
        for (const scheme of ['bearer', 'BEARER']) {
          const answer = await ask(path, `${scheme} ${text}`)
          must(isSuccess(answer), `"${scheme}" gets ${answer.status}`)
        }
      })
    },
  },
  {
    id: 'bad-token',
    title: 'an invalid token gets 401 with error="invalid_token"',
    source: 'RFC 6750 section 3.1',
    async run({ closed, ask, mark }) {
      await mustAll(await closed(), async (path) => {
        const answer = await ask(path, `Bearer ${mark}`)
        mustBe(401, answer, 'an invalid token')
        const { error = 'missing' } = challengeIn(answer)
        must(error === 'invalid_token', `the error code is ${error}, not invalid_token`)
      })
    },
  },
  {
    id: 'malformed-header',
    title: 'a malformed Authorization header gets 400',
    source: 'RFC 6750 section 3.1',
    async run({ closed, ask, mark }) {
      await mustAll(await closed(), async (path) => {
        mustBe(400, await ask(path, `Bearer ${mark} ${mark}`), 'a header with two tokens')
      })
    },
  },
  {
    id: 'two-headers',
    title: 'two Authorization headers get 400',
    source: 'RFC 9110 section 5.3; RFC 6750 section 3.1',
    async run({ closed, ask, token, mark }) {
      const good = `Bearer ${await token()}`
      await mustAll(await closed(), async (path) => {
        mustBe(400, await ask(path, [good, `Bearer ${mark}`]), 'a valid token before an invalid token')
        mustBe(400, await ask(path, [`Bearer ${mark}`, good]), 'an invalid token before a valid token')
      })
    },
  },
  {
    // Sends an invalid token, because logs would store a valid token in a URL.
    id: 'query-token',
    title: 'a token in the query is ignored',
    source: 'RFC 6750 sections 2.3 and 5.3; OWASP ASVS 5, 14.2.1',
    async run({ telling, ask, mark }) {
      await mustAll(await telling(), async (path) => {
        const answer = await ask(path, undefined, { access_token: mark })
        mustBe(401, answer, 'a token in the query')
        must(challengeIn(answer).error === undefined, 'it is read: an invalid token in the query changes the response')
      })
    },
  },
  {
    id: 'one-method',
    title: 'a token in the header and another in the query get 400',
    source: 'RFC 6750 section 2',
    async run({ opened, ask, token, mark }) {
      const bearer = `Bearer ${await token()}`
      await mustAll(await opened(), async (path) => {
        mustBe(400, await ask(path, bearer, { access_token: mark }), 'a token in the header and another in the query')
      })
    },
  },
]

import { challengeIn, isSuccess, mustBe, mustBeProblem, mustTellNothing, type Probe } from '../probe.js'
import { must, mustAll, type Row, Unjudged } from '../verdict.js'

/** How guarded paths answer. */
export const guardRows: readonly Row<Probe>[] = [
  {
    id: 'guarded',
    title: 'every guarded path refuses a request without a token, with 401',
    source: 'README, What is decided; RFC 6750 section 3',
    async run({ target, ask }) {
      if (target.guarded.length === 0) throw new Unjudged('no --guarded PATH was given')
      await mustAll(target.guarded, async (path) => {
        const answer = await ask(path)
        must(!isSuccess(answer), `not guarded: without a token it is answered ${answer.status}`)
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
    title: 'a guard refuses with problem details, without a stack and what was sent',
    source: 'RFC 9457; OWASP ASVS 5, 16.5.1',
    async run({ closed, ask, mark }) {
      await mustAll(await closed(), async (path) => {
        mustBeProblem(await ask(path), 'a request without a token')
        mustTellNothing(await ask(path, `Bearer ${mark}`), mark, 'a bad token')
      })
    },
  },
  {
    id: 'token-accepted',
    title: 'every guarded path takes the token',
    source: 'README, The specification',
    async run({ closed, ask, token }) {
      const bearer = `Bearer ${await token()}`
      await mustAll(await closed(), async (path) => {
        const answer = await ask(path, bearer)
        const { error } = challengeIn(answer)
        const scope = error === 'insufficient_scope' ? ': the account lacks a scope' : ''
        must(isSuccess(answer), `with the token it is answered ${answer.status}${scope}`)
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
          must(isSuccess(answer), `"${scheme}" is answered ${answer.status}`)
        }
      })
    },
  },
  {
    id: 'bad-token',
    title: 'a bad token is answered 401 with error="invalid_token"',
    source: 'RFC 6750 section 3.1',
    async run({ closed, ask, mark }) {
      await mustAll(await closed(), async (path) => {
        const answer = await ask(path, `Bearer ${mark}`)
        mustBe(401, answer, 'a bad token')
        const { error = 'missing' } = challengeIn(answer)
        must(error === 'invalid_token', `the error code is ${error}, not invalid_token`)
      })
    },
  },
  {
    id: 'malformed-header',
    title: 'a malformed Authorization header is answered 400',
    source: 'RFC 6750 section 3.1',
    async run({ closed, ask, mark }) {
      await mustAll(await closed(), async (path) => {
        mustBe(400, await ask(path, `Bearer ${mark} ${mark}`), 'a header with two tokens')
      })
    },
  },
  {
    id: 'two-headers',
    title: 'two Authorization headers are answered 400',
    source: 'RFC 9110 section 5.3; RFC 6750 section 3.1',
    async run({ closed, ask, token, mark }) {
      const good = `Bearer ${await token()}`
      await mustAll(await closed(), async (path) => {
        mustBe(400, await ask(path, [good, `Bearer ${mark}`]), 'a good token and a bad one')
        mustBe(400, await ask(path, [`Bearer ${mark}`, good]), 'a bad token and a good one')
      })
    },
  },
  {
    // A good token is not put into a URL, where logs would keep it: a bad one must make no difference there.
    id: 'query-token',
    title: 'a token in the query is not looked at',
    source: 'RFC 6750 sections 2.3 and 5.3; OWASP ASVS 5, 14.2.1',
    async run({ telling, ask, mark }) {
      await mustAll(await telling(), async (path) => {
        const answer = await ask(path, undefined, { access_token: mark })
        mustBe(401, answer, 'a token in the query')
        must(challengeIn(answer).error === undefined, 'it is looked at: a bad one there is answered as a bad token')
      })
    },
  },
  {
    id: 'one-method',
    title: 'a token in the header and one in the query are answered 400',
    source: 'RFC 6750 section 2',
    async run({ opened, ask, token, mark }) {
      const bearer = `Bearer ${await token()}`
      await mustAll(await opened(), async (path) => {
        mustBe(400, await ask(path, bearer, { access_token: mark }), 'a token in the header and one in the query')
      })
    },
  },
]

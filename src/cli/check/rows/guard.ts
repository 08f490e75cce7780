import { looksOf, type Probe } from '../probe/probe.js'
import { challengeIn, isSuccess, mustAllBe, mustBe, mustBeProblem, mustTellNothing } from '../probe/response.js'
import { onEach, type Rows } from '../row.js'
import { must, needed, Unjudged } from '../verdict.js'
import { schemeOf } from '../wire/wire.js'

export const guardRows: Rows = {
  guarded: {
    title: 'every guarded path refuses a request without a token, with {missingToken}',
    source: 'docs/reference/http.md section 7; RFC 6750 section 3',
    run: onEach('given', async ({ ask, wire }, path) => {
      const response = await ask(path)
      must(!isSuccess(response), `not guarded: a request without a token gets ${response.status}`)
      mustBe(wire.statuses.missingToken, response, 'a request without a token')
    }),
  },
  challenge: {
    title: ({ own, credential }) =>
      `without a token the challenge is ${'scheme' in credential ? credential.scheme : 'there'}, ${own ? 'with a realm and ' : ''}without an error code`,
    source: 'RFC 6750 sections 3 and 3.1; RFC 9110 section 11.6.1',
    needs: schemeFor,
    run: onEach('closed', async (probe, path) => {
      const scheme = schemeFor(probe)
      const response = await probe.ask(path)
      if (response.status !== 401) throw new Unjudged('only 401 has a challenge')
      const { has, realm, error } = challengeIn(response)
      must(has(scheme), `WWW-Authenticate holds no ${scheme} challenge`)
      must(realm || !probe.wire.own, 'the challenge has no realm')
      must(error === undefined, 'the challenge has an error code')
    }),
  },
  'guard-problem': {
    title: 'a guard refuses with problem details',
    source: 'RFC 9457',
    ownOnly: 'no standard demands problem details',
    run: onEach('closed', async ({ ask }, path) => mustBeProblem(await ask(path), 'a request without a token')),
  },
  'guard-no-echo': {
    title: 'a guard shows no stack trace and does not repeat the token',
    source: 'OWASP ASVS 5, 16.5.1',
    run: onEach('closed', async ({ ask, askWith, mark }, path) => {
      mustTellNothing(await ask(path), mark, 'a request without a token')
      mustTellNothing(await askWith(path, mark), mark, 'an invalid token')
    }),
  },
  'token-accepted': {
    title: 'every guarded path accepts the token',
    source: 'docs/reference/http.md section 7',
    needs: ({ token }) => token(),
    run: onEach('closed', async ({ askWith, token }, path) => {
      const response = await askWith(path, await token())
      const scope = challengeIn(response).error === 'insufficient_scope' ? ': the account lacks a scope' : ''
      must(isSuccess(response), `a request with the token gets ${response.status}${scope}`)
    }),
  },
  'scheme-case': {
    title: 'the scheme may be written in any case',
    source: 'RFC 9110 section 11.1',
    needs: schemeFor,
    run: onEach('opened', async (probe, path) => {
      const scheme = schemeFor(probe)
      for (const written of [scheme.toLowerCase(), scheme.toUpperCase()]) {
        const response = await probe.ask(path, { Authorization: `${written} ${await probe.token()}` })
        must(isSuccess(response), `"${written}" gets ${response.status}`)
      }
    }),
  },
  'bad-token': {
    title: 'an invalid token gets {refusedToken}',
    source: 'docs/reference/http.md section 7; OWASP ASVS 5, 9.1.1',
    run: onEach('closed', ({ askWith, mark, wire }, path) =>
      mustAllBe(wire.statuses.refusedToken, {
        'an invalid token': () => askWith(path, mark),
        'a token of three words': () => askWith(path, `${mark}.${mark}.${mark}`),
        'a long token': () => askWith(path, mark.repeat(500)),
      }),
    ),
  },
  'bad-token-code': {
    title: 'the challenge for an invalid token has error="invalid_token"',
    source: 'RFC 6750 section 3.1',
    needs(probe) {
      // RFC 6750 is only about the scheme Bearer.
      if (schemeFor(probe).toLowerCase() !== 'bearer') throw new Unjudged('the scheme is not Bearer')
    },
    run: onEach('closed', async ({ askWith, mark }, path) => {
      const { error } = challengeIn(await askWith(path, mark))
      must(error, 'the challenge has no error code')
      must(error === 'invalid_token', 'the challenge has another error code')
    }),
  },
  'malformed-header': {
    title: ({ own }) => `a malformed Authorization header gets ${own ? '400' : '400 or {refusedToken}'}`,
    source: 'RFC 6750 section 3.1',
    needs: schemeFor,
    run: onEach('closed', async (probe, path) => {
      const scheme = schemeFor(probe)
      const { ask, mark, wire } = probe
      const { missingToken, refusedToken } = wire.statuses
      // A guard may read no token from a malformed header.
      const fits = wire.own ? 400 : [400, ...refusedToken, ...missingToken]
      mustBe(fits, await ask(path, { Authorization: `${scheme} ${mark} ${mark}` }), 'a header with two tokens')
      if (wire.own) return
      for (const odd of [scheme, `${scheme} `, mark, `${scheme} null`, `${scheme} undefined`]) {
        mustBe(fits, await ask(path, { Authorization: odd }), 'a header without a token')
      }
    }),
  },
  'two-headers': {
    title: 'two Authorization headers get 400',
    source: 'RFC 9110 section 5.3; RFC 6750 section 3.1',
    ownOnly: 'RFC 9110 forbids two headers to senders, and demands no status',
    needs: ({ token }) => token(),
    run: onEach('closed', async ({ ask, token, mark }, path) => {
      const [good, bad] = [`Bearer ${await token()}`, `Bearer ${mark}`]
      await mustAllBe(400, {
        'a valid token before an invalid token': () => ask(path, { Authorization: [good, bad] }),
        'an invalid token before a valid token': () => ask(path, { Authorization: [bad, good] }),
      })
    }),
  },
  // Sends an invalid token, because logs would store a valid token in a URL.
  'query-token': {
    title: 'a token in the query is ignored',
    source: 'RFC 6750 sections 2.3 and 5.3; OWASP ASVS 5, 14.2.1',
    run: onEach('telling', async ({ ask, mark, wire }, path) => {
      for (const name of ['access_token', ...(wire.own ? [] : ['token', 'auth_token', 'jwt'])]) {
        // Compared with a name that nobody reads, because a challenge may repeat the URL.
        const unread = looksOf(await ask(path, {}, { [mark]: mark })).replaceAll(`${mark}=`, `${name}=`)
        const response = await ask(path, {}, { [name]: mark })
        mustBe(wire.statuses.missingToken, response, 'a token in the query')
        must(looksOf(response) === unread, 'it is read: an invalid token in the query changes the response')
      }
    }),
  },
  'one-method': {
    title: 'a token in the header and another in the query get 400',
    source: 'RFC 6750 section 2',
    ownOnly: 'RFC 6750 forbids this to clients, and demands no status',
    run: onEach('opened', async ({ askWith, token, mark }, path) => {
      const response = await askWith(path, await token(), { access_token: mark })
      mustBe(400, response, 'a token in the header and another in the query')
    }),
  },
}

function schemeFor({ wire }: Probe): string {
  return needed(schemeOf(wire), 'the token is not in the Authorization header after a scheme')
}

/** Rows about paths that need a recent sign-in. */
export const stepUpRows: Rows = {
  'recent-accepted': {
    title: 'a path that needs a recent sign-in accepts a new token',
    source: 'RFC 9470 section 4',
    async run(probe) {
      const response = await probe.askWith(recentOf(probe), await probe.token())
      must(isSuccess(response), `a request with a new token gets ${response.status}`)
    },
  },
  'recent-refused': {
    title: 'a path that needs a recent sign-in refuses an old one with 401 and names the time',
    source: 'RFC 9470 section 3',
    async run(probe) {
      const recent = recentOf(probe)
      const oldToken = needed(probe.target.oldToken, 'set CHECK_OLD_TOKEN to a valid token of an old sign-in')
      const response = await probe.askWith(recent, oldToken)
      mustBe(401, response, 'a token of an old sign-in')
      const { error, maxAge = '' } = challengeIn(response)
      const code = 'insufficient_user_authentication'
      must(error === code, `the error code of the challenge is not ${code}`)
      must(/^\d+$/.test(maxAge), 'the challenge has no max_age in seconds')
      if (probe.wire.own) mustBeProblem(response, 'a token of an old sign-in')
    },
  },
}

const recentOf = ({ target }: Probe) => needed(target.recent, 'no --recent PATH was given')

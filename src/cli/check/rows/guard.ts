import { challengeIn, isSuccess, mustBe, mustBeProblem } from '../response.js'
import { onEach, type Rows } from '../row.js'
import { must, needed } from '../verdict.js'

/** Headers that made servers skip a guard, or believe that a proxy has checked. */
const TRUSTED: Readonly<Record<string, string>> = {
  'X-Forwarded-For': '127.0.0.1',
  'X-Real-IP': '127.0.0.1',
  'X-Forwarded-User': 'admin',
  'X-Remote-User': 'admin',
  'X-User-Id': '1',
  'X-Authenticated': 'true',
  // CVE-2025-29927.
  'X-Middleware-Subrequest': 'middleware:middleware:middleware:middleware:middleware',
  'X-HTTP-Method-Override': 'OPTIONS',
}

/** Rows about the guarded paths. */
export const guardRows: Rows = {
  challenge: {
    title: 'without a token, the challenge is Bearer with a realm and no error code',
    source: 'RFC 6750 sections 3 and 3.1; RFC 9110 section 11.6.1',
    run: onEach('guarded', async ({ ask }, path) => {
      const { isBearer, realm, error } = challengeIn(await ask(path))
      must(isBearer, 'WWW-Authenticate holds no Bearer challenge')
      must(realm, 'the challenge has no realm')
      must(error === undefined, 'the challenge has an error code')
    }),
  },
  'token-accepted': {
    title: 'every guarded path accepts the token',
    source: 'docs/reference/http.md section 7',
    run: onEach('guarded', async ({ askWith, token }, path) => {
      const response = await askWith(path, await token())
      const scope = challengeIn(response).error === 'insufficient_scope' ? ': the account lacks a scope' : ''
      must(isSuccess(response), `a request with the token returned ${response.status}${scope}`)
    }),
  },
  // Sends an invalid token, because logs would store a valid token in a URL.
  'query-token': {
    title: 'a token in the query is ignored',
    source: 'RFC 6750 sections 2.3 and 5.3; OWASP ASVS 5, 14.2.1',
    run: onEach('guarded', async ({ ask, send, mark }, path) => {
      const url = new URL(path.url)
      url.searchParams.append('access_token', mark)
      const response = await send(url)
      mustBe(401, response, 'a token in the query')
      const isRead = challengeIn(response).error !== challengeIn(await ask(path)).error
      must(!isRead, 'it is read: an invalid token in the query changes the response')
    }),
  },
  'other-spelling': {
    title: 'different spellings of a guarded path also require a token',
    source: 'OWASP ASVS 5, 8.3.1; RFC 3986 section 6',
    run: onEach('accepting', async ({ askWith, token, send }, path) => {
      const inside = await askWith(path, await token())
      for (const pathname of spellingsOf(path.url.pathname)) {
        const response = await send(Object.assign(new URL(path.url), { pathname }))
        const isOpen = isSuccess(response) && response.body !== '' && response.body === inside.body
        must(!isOpen, `${pathname} is open without a token`)
      }
    }),
  },
  'trusted-header': {
    title: 'a proxy header cannot replace the token',
    source: 'OWASP ASVS 5, 4.1.3; OWASP ASVS 5, 8.3.1',
    run: onEach('accepting', async ({ ask }, path) => {
      for (const [name, value] of Object.entries(TRUSTED)) {
        must(!isSuccess(await ask(path, { [name]: value })), `${name} opens it without a token`)
      }
    }),
  },
  'other-method': {
    title: 'different methods on a guarded path also require a token',
    source: 'OWASP ASVS 5, 8.3.1',
    run: onEach('accepting', async ({ send }, { url }) => {
      const mustRefuse = (method: string, open: boolean) => must(!open, `${method} is open without a token`)
      // Some servers send a body after HEAD, and Node then reports an error.
      mustRefuse('HEAD', await send(url, { method: 'HEAD' }).then(isSuccess, () => false))
      for (const method of ['POST', 'PUT', 'PATCH']) mustRefuse(method, isSuccess(await send(url, { method })))
    }),
  },
  'recent-refused': {
    title: 'a path that requires a recent sign-in returns 401 with max_age for an old one',
    source: 'RFC 9470 section 3',
    async run({ target, askWith }) {
      const recent = needed(target.recent, 'no --recent PATH was given')
      const oldToken = needed(target.oldToken, 'set CHECK_OLD_TOKEN to a valid token of an old sign-in')
      const response = await askWith(recent, oldToken)
      mustBe(401, response, 'a token of an old sign-in')
      const { error, maxAge = '' } = challengeIn(response)
      const code = 'insufficient_user_authentication'
      must(error === code, `the error code of the challenge is not ${code}`)
      must(/^\d+$/.test(maxAge), 'the challenge has no max_age in seconds')
      mustBeProblem(response, 'a token of an old sign-in')
    },
  },
}

/** Returns paths that some routers treat as the same, and some guards do not. */
function spellingsOf(pathname: string): string[] {
  const last = pathname.lastIndexOf('/') + 1
  const [folder, name] = [pathname.slice(0, last), pathname.slice(last)]
  const code = (name.codePointAt(0) ?? 0x61).toString(16)
  return [
    `${pathname}/`,
    `/${pathname}`,
    folder + name.toUpperCase(),
    `${folder}%${code}${name.slice(1)}`,
    `${folder};x/${name}`,
    `${pathname};x`,
    `${pathname}.json`,
    `${pathname}%20`,
  ].filter((one) => one !== pathname)
}

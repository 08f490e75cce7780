import { cookieLine, isSuccess } from '../probe/response.js'
import { onEach, type Rows } from '../row.js'
import { must, Unjudged } from '../verdict.js'
import { loginOf } from './token-response.js'

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

/** Rows about ways around a guard. */
export const bypassRows: Rows = {
  'other-spelling': {
    title: 'another spelling of a guarded path is not open without a token',
    source: 'OWASP ASVS 5, 8.3.1; RFC 3986 section 6',
    run: onEach('opened', async ({ askWith, token, send }, path) => {
      const inside = await askWith(path, await token())
      for (const pathname of spellingsOf(path.url.pathname)) {
        const response = await send(Object.assign(new URL(path.url), { pathname }))
        const isOpen = isSuccess(response) && response.body !== '' && response.body === inside.body
        must(!isOpen, `${pathname} is open without a token`)
      }
    }),
  },
  'trusted-header': {
    title: 'no header of a proxy replaces the token',
    source: 'OWASP ASVS 5, 4.1.3; OWASP ASVS 5, 8.3.1',
    run: onEach('opened', async ({ ask }, path) => {
      for (const [name, value] of Object.entries(TRUSTED)) {
        must(!isSuccess(await ask(path, { [name]: value })), `${name} opens it without a token`)
      }
    }),
  },
  'other-method': {
    title: 'another method does not open a guarded path',
    source: 'OWASP ASVS 5, 8.3.1',
    run: onEach('opened', async ({ send }, { url }) => {
      const mustRefuse = (method: string, open: boolean) => must(!open, `${method} is open without a token`)
      // Some servers send a body after HEAD, and Node then reports an error.
      mustRefuse('HEAD', await send(url, { method: 'HEAD' }).then(isSuccess, () => false))
      for (const method of ['POST', 'PUT', 'PATCH']) mustRefuse(method, isSuccess(await send(url, { method })))
    }),
  },
  'cookie-flags': {
    title: 'the cookie with the token is HttpOnly, Secure and SameSite',
    source: 'OWASP ASVS 5, 3.3.1; OWASP ASVS 5, 3.3.2; OWASP ASVS 5, 3.3.4',
    async run(probe) {
      const { wire, target } = probe
      if (wire.token.in !== 'cookie') throw new Unjudged('the token is not in a cookie')
      const line = cookieLine(await loginOf(probe), wire.token.name) ?? ''
      must(line, 'the response sets no such cookie')
      must(/;\s*HttpOnly/i.test(line), 'HttpOnly is missing')
      must(/;\s*SameSite=(Lax|Strict)/i.test(line), 'SameSite is missing')
      // Over plain http, a browser would not send back a Secure cookie.
      must(target.token.protocol === 'http:' || /;\s*Secure/i.test(line), 'Secure is missing')
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

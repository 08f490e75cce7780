import { REFRESH_COOKIE } from '../../../http/responses.js'
import { type CheckedApp, otherOf } from '../app.js'
import { cookieLine, memberIn, mustBe } from '../response.js'
import type { Rows } from '../row.js'
import type { Received } from '../send.js'
import { must, needed, Unjudged } from '../verdict.js'

/** A refresh token, and how the app gave it. */
interface Held {
  mode: 'cookie' | 'body'
  text: string
}

/** Rows about refresh tokens. They are skipped for an app whose logins give none. */
export const refreshRows: Rows = {
  refresh: {
    title: 'a refresh token gets a new token and another refresh token',
    source: 'RFC 6749 section 6; RFC 9700 section 4.14.2',
    async run(app) {
      const held = await start(app)
      must((await refreshed(app, held)).text !== held.text, 'the refresh token is the same')
    },
  },
  'refresh-foreign': {
    title: 'a refresh token of another environment is refused',
    source: 'RFC 6749 section 10.4',
    async run(app) {
      await givenIn(app)
      otherOf(app.target)
      const held = needed(heldIn(await app.responses.signedInAtOther()), 'the login at --other gives no refresh token')
      mustRefuse(await call(app, 'refresh', held), 'a refresh token of the other environment')
    },
  },
  'refresh-cookie': {
    title: 'the cookie of the refresh token is HttpOnly, Secure and SameSite=Strict, for the path of the endpoint only',
    source: 'OWASP ASVS 5, 3.3.1',
    async run(app) {
      await cookieIn(app)
      const line = cookieLine(await app.login(), REFRESH_COOKIE) ?? ''
      const attributes = line.split(';').map((part) => part.trim().toLowerCase())
      const missing = ['httponly', 'secure', 'samesite=strict'].filter((name) => !attributes.includes(name))
      must(missing.length === 0, `the cookie lacks ${missing.join(', ')}`)
      must(!attributes.some((name) => name.startsWith('domain=')), 'the cookie has a Domain')
      const path = `path=${app.target.token.pathname.toLowerCase()}`
      must(attributes.includes(path), 'the Path of the cookie is not the path of the token endpoint')
    },
  },
  'refresh-origin': {
    title: 'a page of another origin can use the cookie neither for a refresh nor for a sign-out',
    source: 'OWASP ASVS 5, 3.5.1',
    async run(app) {
      await cookieIn(app)
      const held = await start(app)
      for (const path of ['refresh', 'sign-out'] as const) {
        for (const site of ['cross-site', 'same-site']) {
          const headers = { Origin: 'https://page.invalid', 'Sec-Fetch-Site': site }
          mustRefuse(await call(app, path, held, headers), `a ${path} from a page that is ${site}`)
        }
      }
      await refreshed(app, held)
    },
  },
  'refresh-sign-out': {
    title: 'a sign-out with a refresh token ends the session',
    source: 'OWASP ASVS 5, 7.4.1',
    async run(app) {
      const held = await start(app)
      mustBe(204, await call(app, 'sign-out', held), 'the sign-out')
      app.ended()
      mustRefuse(await call(app, 'refresh', held), 'the refresh token after the sign-out')
    },
  },
}

/** Returns the refresh token in a response, or undefined. */
function heldIn(response: Received): Held | undefined {
  const cookie = cookieLine(response, REFRESH_COOKIE)
    ?.slice(REFRESH_COOKIE.length + 1)
    .split(';', 1)[0]
  if (cookie) return { mode: 'cookie', text: cookie }
  const text = memberIn(response, 'refreshToken')
  return typeof text === 'string' && text !== '' ? { mode: 'body', text } : undefined
}

/** @throws Unjudged when the login gives no refresh token */
const givenIn = async (app: CheckedApp): Promise<Held> =>
  needed(heldIn(await app.login()), 'the login gives no refresh token')

/** @throws Unjudged when the refresh token is not in a cookie */
async function cookieIn(app: CheckedApp): Promise<void> {
  if ((await givenIn(app)).mode !== 'cookie') throw new Unjudged('the refresh token is not in a cookie')
}

/** Starts another session. */
async function start(app: CheckedApp): Promise<Held> {
  await givenIn(app)
  const held = heldIn(await app.logIn(app.credentials))
  must(held, 'another login gives no refresh token')
  return held
}

/** Sends a refresh token to one of its paths. */
function call(
  { target, send }: CheckedApp,
  path: 'refresh' | 'sign-out',
  { mode, text }: Held,
  headers: Record<string, string> = {},
) {
  const url = new URL(target.token)
  url.pathname += `/${path}`
  const sent =
    mode === 'cookie'
      ? { headers: { Cookie: `${REFRESH_COOKIE}=${text}`, ...headers } }
      : { headers: { 'Content-Type': 'application/json', ...headers }, body: JSON.stringify({ refreshToken: text }) }
  return send(url, { method: 'POST', ...sent })
}

/** Refreshes a session, and returns its next refresh token. */
async function refreshed(app: CheckedApp, held: Held): Promise<Held> {
  const response = await call(app, 'refresh', held)
  mustBe(200, response, 'a refresh')
  const next = heldIn(response)
  must(next, 'the response to a refresh has no refresh token')
  return next
}

/** A proxy may change 403 into another status of the client's errors. */
function mustRefuse({ status }: Received, what: string): void {
  must(status >= 400 && status < 500, `${what} gets ${status}, not 403`)
}

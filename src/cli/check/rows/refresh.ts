import { REFRESH_COOKIE } from '../../../http/refresh-cookie-name.js'
import { type CheckedApp, otherOf } from '../app.js'
import { cookieLine, type Held, heldIn, mustBe } from '../response.js'
import type { Rows } from '../row.js'
import type { Received, Send } from '../send.js'
import { must, needed, Unjudged } from '../verdict.js'

/** Rows about refresh tokens. They are skipped for an app whose logins give none. */
export const refreshRows: Rows = {
  refresh: {
    title: 'a refresh token returns a new token and a new refresh token',
    source: 'RFC 6749 section 6; RFC 9700 section 4.14.2',
    async run(app) {
      const held = await start(app)
      must((await refreshed(app, held)).text !== held.text, 'the refresh token is the same')
    },
  },
  'refresh-foreign': {
    title: 'a refresh token from a different environment is refused',
    source: 'RFC 6749 section 10.4',
    async run(app) {
      await sendableIn(app)
      otherOf(app.target)
      const held = needed(heldIn(await app.responses.signedInAtOther()), 'the login at --other gives no refresh token')
      mustRefuse(await call(app, 'refreshToken', held), 'a refresh token of the other environment')
    },
  },
  'refresh-cookie': {
    title: 'the refresh cookie is HttpOnly and Secure, limited to its site or --origin, and has a known path',
    source: 'OWASP ASVS 5, 3.3.1',
    async run(app) {
      await cookieIn(app)
      const attributes = await attributesIn(app)
      const has = (name: string) => attributes.includes(name)
      const isOfEverySite = has(OF_EVERY_SITE)
      must(has('httponly'), 'the cookie lacks HttpOnly, so scripts can read it')
      must(has('secure'), `the cookie lacks Secure${isOfEverySite ? ', so browsers drop it with SameSite=None' : ''}`)
      must(isOfEverySite || has('samesite=strict'), 'the cookie has neither SameSite=Strict nor SameSite=None')
      must(isOfEverySite || !has('partitioned'), 'the cookie has Partitioned without SameSite=None')
      must(!attributes.some((name) => name.startsWith('domain=')), 'the cookie has a Domain')
      const paths = ['/', app.target.token.pathname.toLowerCase()]
      const hasPath = paths.some((path) => has(`path=${path}`))
      must(hasPath, 'the Path of the cookie is neither / nor the path of the token endpoint')
    },
  },
  'refresh-origin': {
    title: 'a page on a different origin cannot use the cookie to refresh or sign out',
    source: 'OWASP ASVS 5, 3.5.1',
    async run(app) {
      await cookieIn(app)
      const held = await start(app)
      for (const id of ['refreshToken', 'endSignIn']) {
        for (const site of ['cross-site', 'same-site']) {
          const headers = { Origin: 'https://page.invalid', 'Sec-Fetch-Site': site }
          mustRefuse(await call(app, id, held, headers), `${id} from a page that is ${site}`)
        }
        // A browser adds this cookie for every page, so a request that names none may be of any.
        if ((await attributesIn(app)).includes(OF_EVERY_SITE))
          mustRefuse(await call(app, id, held, {}, app.sendBare), `${id} with SameSite=None and without an Origin`)
      }
      await refreshed(app, held)
    },
  },
  'refresh-sign-out': {
    title: 'a sign-out with a refresh token ends the session',
    source: 'OWASP ASVS 5, 7.4.1',
    async run(app) {
      const held = await start(app)
      mustBe(204, await call(app, 'endSignIn', held), 'the sign-out')
      app.ended()
      mustRefuse(await call(app, 'refreshToken', held), 'the refresh token after the sign-out')
    },
  },
}

/** @throws Unjudged when the login gives no refresh token */
const givenIn = async (app: CheckedApp): Promise<Held> =>
  needed(heldIn(await app.login()), 'the login gives no refresh token')

/** @throws Unjudged when the refresh token is not in a cookie */
async function cookieIn(app: CheckedApp): Promise<void> {
  if ((await givenIn(app)).mode !== 'cookie') throw new Unjudged('the refresh token is not in a cookie')
}

const OF_EVERY_SITE = 'samesite=none'

/** Returns the attributes of the cookie in lower case. */
async function attributesIn(app: CheckedApp): Promise<string[]> {
  const line = cookieLine(await app.login(), REFRESH_COOKIE) ?? ''
  return line.split(';').map((part) => part.trim().toLowerCase())
}

/** @throws Unjudged when a refresh needs the origin of a page, which was not given */
async function sendableIn(app: CheckedApp): Promise<void> {
  await givenIn(app)
  if (app.target.origin === undefined && (await attributesIn(app)).includes(OF_EVERY_SITE))
    throw new Unjudged('the cookie has SameSite=None, and no --origin was given')
}

/** Starts another session. */
async function start(app: CheckedApp): Promise<Held> {
  await sendableIn(app)
  const held = heldIn(await app.logIn(app.credentials))
  must(held, 'another login gives no refresh token')
  return held
}

/** Sends a refresh token to one of its endpoints, by its id. */
function call(
  app: CheckedApp,
  id: string,
  { mode, text }: Held,
  headers: Record<string, string> = {},
  send: Send = app.send,
) {
  const sent =
    mode === 'cookie'
      ? { headers: { Cookie: `${REFRESH_COOKIE}=${text}`, ...headers } }
      : { headers: { 'Content-Type': 'application/json', ...headers }, body: JSON.stringify({ refreshToken: text }) }
  return send(app.urlOf(id), { method: 'POST', ...sent })
}

/** Refreshes a session, and returns its next refresh token. */
async function refreshed(app: CheckedApp, held: Held): Promise<Held> {
  const response = await call(app, 'refreshToken', held)
  mustBe(200, response, 'a refresh')
  const next = heldIn(response)
  must(next, 'the response to a refresh has no refresh token')
  return next
}

/** A proxy may change 403 into another status of the client's errors. */
function mustRefuse({ status }: Received, what: string): void {
  must(status >= 400 && status < 500, `${what} returned ${status}, not 403`)
}

import { setTimeout as wait } from 'node:timers/promises'
import { REFRESH_COOKIE } from '../../../http/responses.js'
import { otherOf, type Probe } from '../probe/probe.js'
import { cookieLine, isSuccess, mustBe, valueAt } from '../probe/response.js'
import type { Received } from '../probe/send.js'
import type { Rows } from '../row.js'
import { must, needed, Unjudged } from '../verdict.js'
import { loginRequest } from '../wire/wire.js'
import { loginOf } from './token-response.js'

/** The longest time in which a replaced refresh token may return its successor again (`grace`), and a reserve. Milliseconds. */
const LONGEST_GRACE = 65_000

/** The time between two requests with a replaced refresh token, in milliseconds. */
const PAUSE = 1000

/** A refresh token, and how the app gave it. */
interface Held {
  mode: 'cookie' | 'body'
  text: string
}

/** The rows are skipped for an app whose logins give no refresh token. */
const REFRESH = { ownOnly: 'only this package promises these paths', needs: givenIn }
const COOKIE = { ...REFRESH, needs: cookieIn }

export const refreshRows: Rows = {
  refresh: {
    title: 'a refresh token gets a new token and another refresh token',
    source: 'RFC 6749 section 6; RFC 9700 section 4.14.2',
    ...REFRESH,
    async run(probe) {
      const held = await start(probe)
      must((await refreshed(probe, held)).text !== held.text, 'the refresh token is the same')
    },
  },
  'refresh-tampered': {
    title: 'a refresh token with another session, generation or signature is refused',
    source: 'RFC 6749 section 10.4',
    ...REFRESH,
    async run(probe) {
      const held = await start(probe)
      const [id = '', generation = '', signature = ''] = held.text.split('.')
      const turned = (text: string) => (text.startsWith('0') ? '1' : '0') + text.slice(1)
      const changed = {
        'another session': [turned(id), generation, signature],
        'another generation': [id, `${generation}1`, signature],
        'another signature': [id, generation, turned(signature)],
      }
      for (const [what, parts] of Object.entries(changed)) {
        mustRefuse(await call(probe, 'refresh', { ...held, text: parts.join('.') }), `a refresh token with ${what}`)
      }
    },
  },
  'refresh-reuse': {
    title: 'the reuse of a refresh token that was replaced long ago ends its session',
    source: 'RFC 9700 section 4.14.2',
    ...REFRESH,
    async run(probe) {
      const first = await start(probe)
      const last = await refreshed(probe, await refreshed(probe, first))
      const end = performance.now() + LONGEST_GRACE
      while (isSuccess(await call(probe, 'refresh', first))) {
        must(performance.now() < end, `a refresh token that was replaced twice is accepted for ${LONGEST_GRACE} ms`)
        await wait(PAUSE)
      }
      mustRefuse(await call(probe, 'refresh', last), 'the current refresh token after the reuse of an old one')
    },
  },
  'refresh-foreign': {
    title: 'a refresh token of another environment is refused',
    source: 'RFC 6749 section 10.4',
    ...REFRESH,
    async run(probe) {
      const { token, credentials } = otherOf(probe.target)
      const response = await probe.send(token, loginRequest(probe.wire, credentials))
      const held = needed(heldIn(response), 'the login at --other gives no refresh token')
      mustRefuse(await call(probe, 'refresh', held), 'a refresh token of the other environment')
    },
  },
  'refresh-cookie': {
    title: 'the cookie of the refresh token is HttpOnly, Secure and SameSite=Strict, for the path of the endpoint only',
    source: 'OWASP ASVS 5, 3.3.1',
    ...COOKIE,
    async run(probe) {
      const line = cookieLine(await loginOf(probe), REFRESH_COOKIE) ?? ''
      const attributes = line.split(';').map((part) => part.trim().toLowerCase())
      const missing = ['httponly', 'secure', 'samesite=strict'].filter((name) => !attributes.includes(name))
      must(missing.length === 0, `the cookie lacks ${missing.join(', ')}`)
      must(!attributes.some((name) => name.startsWith('domain=')), 'the cookie has a Domain')
      const path = `path=${probe.target.token.pathname.toLowerCase()}`
      must(attributes.includes(path), 'the Path of the cookie is not the path of the token endpoint')
    },
  },
  'refresh-origin': {
    title: 'a page of another origin can use the cookie neither for a refresh nor for a sign-out',
    source: 'OWASP ASVS 5, 3.5.1',
    ...COOKIE,
    async run(probe) {
      const held = await start(probe)
      for (const path of ['refresh', 'sign-out'] as const) {
        for (const site of ['cross-site', 'same-site']) {
          const headers = { Origin: 'https://page.invalid', 'Sec-Fetch-Site': site }
          mustRefuse(await call(probe, path, held, headers), `a ${path} from a page that is ${site}`)
        }
      }
      await refreshed(probe, held)
    },
  },
  'refresh-sign-out': {
    title: 'a sign-out with a refresh token ends the session',
    source: 'OWASP ASVS 5, 7.4.1',
    ...REFRESH,
    async run(probe) {
      const held = await start(probe)
      mustBe(204, await call(probe, 'sign-out', held), 'the sign-out')
      mustRefuse(await call(probe, 'refresh', held), 'the refresh token after the sign-out')
    },
  },
}

/** Returns the refresh token in a response, or undefined. */
function heldIn(response: Received): Held | undefined {
  for (const [mode, name] of [
    ['cookie', REFRESH_COOKIE],
    ['body', 'refreshToken'],
  ] as const) {
    const text = valueAt(response, { in: mode, name })
    if (typeof text === 'string' && text !== '') return { mode, text }
  }
  return undefined
}

/** @throws Unjudged when the login gives no refresh token */
async function givenIn(probe: Probe): Promise<Held> {
  return needed(heldIn(await loginOf(probe)), 'the login gives no refresh token')
}

/** @throws Unjudged when the refresh token is not in a cookie */
async function cookieIn(probe: Probe): Promise<void> {
  if ((await givenIn(probe)).mode !== 'cookie') throw new Unjudged('the refresh token is not in a cookie')
}

/** Starts another session. */
async function start(probe: Probe): Promise<Held> {
  const held = heldIn(await probe.logIn(probe.credentials))
  must(held, 'another login gives no refresh token')
  return held
}

/** Sends a refresh token to one of its paths. */
function call(
  { target, send }: Probe,
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
async function refreshed(probe: Probe, held: Held): Promise<Held> {
  const response = await call(probe, 'refresh', held)
  mustBe(200, response, 'a refresh')
  const next = heldIn(response)
  must(next, 'the response to a refresh has no refresh token')
  return next
}

/** A proxy may change 403 into another status of the client's errors. */
function mustRefuse({ status }: Received, what: string): void {
  must(status >= 400 && status < 500, `${what} gets ${status}, not 403`)
}

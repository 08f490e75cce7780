import { type Mail, memoryStore } from 'express-token-endpoint'
import { stepAt, totpAt } from '../../../../src/factors/totp.js'
import { fromBase32 } from '../../../support/base32.js'
import { ACCOUNTS, makeStore, PASSWORD } from '../../../support/fixtures.js'
import { bearer, JSON_TYPE, login, type Sent, send, TOKEN_PATH } from '../../../support/plain-js/http-client.mjs'
import { type Guard, type Hall, load, type Verdict } from '../exhibit.js'
import { appWith } from '../ours.js'
import { APP_SECRET, BETTER_AUTH, betterAuthApp } from './better-auth.js'

const VICTIM = 'victim@example.com'
const PLANTED = 'a password of the attacker'
const OWN = 'a password of the victim'
const SIGN_UP_PATH = '/auth/account'

const verdictOf = (isIn: boolean): Verdict => (isIn ? 'admitted' : 'refused')

/** An act of one of two people who claim one address. The reader of its mailbox proves it with a mailed code or link. */
interface Act {
  who: 'attacker' | 'victim'
  does: 'sign up' | 'prove the mailbox' | 'log in' | 'use what the sign-up gave'
}

const acts = (...list: Act[]): Sent[] => list.map((act) => ({ path: '/', body: JSON.stringify(act) }))
const passwordOf = ({ who }: Act) => (who === 'victim' ? OWN : PLANTED)

/** Makes a guard of what an app does for each act. It returns true for an act that succeeds. */
const actors =
  (perform: (act: Act) => Promise<boolean> | boolean): Guard =>
  async ({ body }) =>
    verdictOf(await perform(JSON.parse(String(body))))

const signsUp = (who: Act['who']): Act => ({ who, does: 'sign up' })
const PROVES: Act = { who: 'victim', does: 'prove the mailbox' }

/** Better Auth with a sign-in by a mailed link. */
function withMagicLink(): Guard {
  const { magicLink } = load(`${BETTER_AUTH}/plugins`)
  const mailed: string[] = []
  const sendMagicLink = ({ token }: { token: string }) => void mailed.push(token)
  const { call } = betterAuthApp(BETTER_AUTH, { plugins: [magicLink({ sendMagicLink })] })
  return actors(async (act) => {
    const credentials = { email: VICTIM, password: passwordOf(act) }
    if (act.does === 'sign up') return (await call('/sign-up/email', { ...credentials, name: act.who })).ok
    if (act.does === 'log in') return (await call('/sign-in/email', credentials)).ok
    await call('/sign-in/magic-link', { email: VICTIM })
    return (await call(`/magic-link/verify?token=${mailed.at(-1)}`)).ok
  })
}

/** A model that links each sign-up with an address to the account that has it, and marks the account as verified. */
function linksByAddress(): Guard {
  const linked = new Set<Act['who']>()
  return actors(({ who, does }) => {
    if (does === 'sign up' || does === 'prove the mailbox') linked.add(who)
    return linked.has(who)
  })
}

/** Starts our app, where the victim reads the mails. The victim signs in by mail, or finishes the sign-up that a mail offers. */
async function ourMailbox() {
  const refusals: string[] = []
  const mails: Mail[] = []
  const pending: Promise<void>[] = []
  const { port } = await appWith(
    {
      accounts: makeStore([]),
      store: memoryStore(),
      signUp: true,
      signInByMail: true,
      mail: (mail) => void mails.push(mail),
      defer: (promise) => void pending.push(promise),
    },
    refusals,
  )
  const call = (path: string, body: object) =>
    send(port, { path, headers: { ...JSON_TYPE }, body: JSON.stringify(body) })
  const given = new Map<Act['who'], string>()

  async function proveMailbox(): Promise<boolean> {
    await call(`${TOKEN_PATH}/mail`, { email: VICTIM })
    while (pending.length > 0) await pending.pop()
    const { kind, code } = mails.at(-1) ?? {}
    const [path, body] = kind === 'sign-in' ? [`${TOKEN_PATH}/mail`, {}] : [SIGN_UP_PATH, { password: OWN }]
    return (await call(`${path}/confirm`, { code, ...body })).status === 200
  }

  const guard = actors(async (act) => {
    const credentials = { email: VICTIM, password: passwordOf(act) }
    if (act.does === 'prove the mailbox') return proveMailbox()
    if (act.does === 'log in') return (await call(TOKEN_PATH, credentials)).status === 200
    if (act.does === 'use what the sign-up gave') {
      const { headers = {}, ...request } = bearer(given.get(act.who) ?? '', '/')
      return (await send(port, { ...request, headers: given.has(act.who) ? headers : {} })).status === 200
    }
    const { status, body } = await call(SIGN_UP_PATH, credentials)
    if (body) given.set(act.who, JSON.parse(body).authenticationToken)
    return status === 202
  })
  return { guard, refusals }
}

const mailbox = {
  control: () => acts(signsUp('victim'), PROVES, { who: 'victim', does: 'log in' }),
  ours: ourMailbox,
}

/** Presents to the guard everything that the login gave. */
const USE: Sent = { method: 'GET', path: '/' }
const passwordOnly = (email: string) => [login(email, PASSWORD), USE]
const ALICE = ACCOUNTS.alice.email

/**
 * Better Auth with a second factor and the cache of sessions in a cookie, which the app reads before its pages. Only Alice has a second factor.
 */
function withCookieCache(): Guard {
  const { twoFactor } = load(`${BETTER_AUTH}/plugins`)
  const { getCookieCache } = load(`${BETTER_AUTH}/cookies`)
  const options = { plugins: [twoFactor()], session: { cookieCache: { enabled: true } } }
  const { call, tables } = betterAuthApp(BETTER_AUTH, options)
  const jar = new Map<string, string>()
  return async ({ path, body }) => {
    if (path === USE.path) {
      const page = new Request('http://localhost/', { headers: { Cookie: [...jar.values()].join('; ') } })
      return verdictOf((await getCookieCache(page, { secret: APP_SECRET })) !== null)
    }
    const credentials = JSON.parse(String(body))
    await call('/sign-up/email', { ...credentials, name: 'A user' })
    for (const user of tables.user) Object.assign(user, { twoFactorEnabled: user['email'] === ALICE })
    const response = await call('/sign-in/email', credentials)
    for (const cookie of response.headers.getSetCookie()) {
      const [name = ''] = cookie.split('=')
      if (cookie.includes('Max-Age=0')) jar.delete(name)
      else jar.set(name, String(cookie.split(';')[0]))
    }
    return verdictOf(response.ok)
  }
}

/** Starts our app, and switches the authenticator app of Alice on. */
async function ourSecondFactor() {
  const refusals: string[] = []
  const { port } = await appWith({ store: memoryStore(), secondFactor: true }, refusals)
  const tokenIn = ({ body }: { body: string }) => (body ? JSON.parse(body).authenticationToken : undefined)
  const headers = {
    ...JSON_TYPE,
    Authorization: `Bearer ${tokenIn(await send(port, login(ALICE, PASSWORD)))}`,
  }
  const begun = await send(port, { path: `${SIGN_UP_PATH}/totp`, headers })
  const otp = totpAt(fromBase32(JSON.parse(begun.body).secret), stepAt(Date.now()))
  await send(port, { path: `${SIGN_UP_PATH}/totp/confirm`, headers, body: JSON.stringify({ otp }) })
  let token: string | undefined
  const guard: Guard = async (request) => {
    if (request.path === USE.path) return verdictOf((await send(port, token ? bearer(token, '/') : USE)).status === 200)
    const response = await send(port, request)
    token = tokenIn(response)
    return verdictOf(response.status === 200)
  }
  return { guard, refusals }
}

/** Nobody may keep a way into an account whose owner proves the mailbox, or enter with half of a sign-in. */
export const ACCOUNT_ROUTES: Hall = {
  'GHSA-xg6x-h9c9-2m83': {
    source: 'https://github.com/better-auth/better-auth/security/advisories/GHSA-xg6x-h9c9-2m83',
    year: 2026,
    versions: 'better-auth < 1.4.9',
    fault: 'The cookie that caches a session is set after the password, and stays valid without the second factor.',
    installed: BETTER_AUTH,
    faulty: withCookieCache,
    attack: () => passwordOnly(ALICE),
    control: () => passwordOnly(ACCOUNTS.bob.email),
    ours: ourSecondFactor,
    refusal: 'missing_token',
  },
  'GHSA-qq9h-g4jm-xgf3': {
    source: 'https://github.com/advisories/GHSA-qq9h-g4jm-xgf3',
    year: 2026,
    versions: 'better-auth < 1.6.22',
    fault:
      'An attacker signs up with the address of a victim. After the victim has signed in by mail, the password of the attacker works.',
    installed: BETTER_AUTH,
    faulty: withMagicLink,
    attack: () => acts(signsUp('attacker'), PROVES, { who: 'attacker', does: 'log in' }),
    ...mailbox,
    refusal: 'invalid_credentials: wrong_password',
  },
  'CVE-2026-44166': {
    source: 'https://github.com/pocketbase/pocketbase/security/advisories/GHSA-pq7p-mc74-g65w',
    year: 2026,
    versions: 'PocketBase < 0.22.42, 0.30.0 to 0.37.3',
    fault:
      'A sign-in with a provider takes over the unverified account that an attacker has created with another provider. Both stay linked.',
    faulty: linksByAddress,
    attack: () => acts(signsUp('attacker'), PROVES, { who: 'attacker', does: 'use what the sign-up gave' }),
    ...mailbox,
    refusal: 'missing_token',
  },
}

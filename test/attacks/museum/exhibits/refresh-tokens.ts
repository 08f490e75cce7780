import { createHash } from 'node:crypto'
import { memoryStore } from 'express-token-endpoint'
import { deferred } from '../../../support/concurrency.js'
import { ACCOUNTS, PASSWORD } from '../../../support/fixtures.js'
import { FORM_TYPE, JSON_TYPE, login, type Sent, send, TOKEN_PATH } from '../../../support/plain-js/http-client.mjs'
import type { Guard, Hall, Library, Step } from '../exhibit.js'
import { appWith } from '../ours.js'
import { betterAuthApp } from './better-auth.js'

/** A server with one session, as the holders of its refresh token see it. */
interface Server {
  /** The refresh token of the sign-in. */
  first: string
  /** Refreshes the session, at the same moment as others. Returns the next refresh token, or undefined for a refusal. */
  refresh(token: string, together: number): Promise<string | undefined>
  restart(): Promise<void>
}

type Holder = 'owner' | 'thief'

const refreshBy = (...holders: Holder[]): Sent => ({ path: '/refresh', body: holders.join(' ') })
const RESTART: Sent = { path: '/restart' }
/** Longer than a replaced refresh token of ours is accepted because several tabs may present it. */
const MINUTE: Step = { wait: 60_000 }

/** Makes a guard of a server. The owner and a thief hold the refresh token of the sign-in. Each keeps the next one that it gets. */
function holders(start: () => Promise<Server>): Guard {
  let server: Promise<Server> | undefined
  const held = new Map<string, string | undefined>()
  return async ({ path, body }) => {
    server ??= start()
    const { first, refresh, restart } = await server
    if (path === RESTART.path) await restart()
    const refreshing = path === RESTART.path ? [] : String(body).split(' ')
    const next = await Promise.all(refreshing.map((who) => refresh(held.get(who) ?? first, refreshing.length)))
    for (const [i, who] of refreshing.entries()) held.set(who, next[i])
    return next.includes(undefined) ? 'refused' : 'admitted'
  }
}

/** A model that stores which token replaced which, with the start of the server as the beginning of time. A restart forgets it. */
async function forgetful(): Promise<Server> {
  let revoked = new Set<string>()
  let count = 0
  return {
    first: 'refresh token 0',
    async refresh(token) {
      if (revoked.has(token)) return undefined
      revoked.add(token)
      return `refresh token ${++count}`
    },
    async restart() {
      revoked = new Set()
    },
  }
}

/** Starts the plugin of Better Auth whose clients refresh, with a client and a refresh token in its database. */
async function betterAuthProvider({ oauthProvider }: Library): Promise<Server> {
  const first = 'the refresh token of the sign-in'
  const scopes = ['offline_access']
  const [createdAt, expiresAt] = [new Date(), new Date(Date.now() + 3_600_000)]
  const digest = (text: string) => createHash('sha256').update(text).digest('base64url')
  const user = { id: 'acc-1', email: ACCOUNTS.alice.email, emailVerified: true, name: 'Alice', createdAt }
  const client = { id: 'c1', clientId: 'client-1', public: true, redirectUris: [], scopes, createdAt }
  const stored = { id: 'r1', token: digest(first), clientId: 'client-1', userId: 'acc-1', scopes, createdAt, expiresAt }
  const { promise: all, resolve } = deferred<void>()
  const requests = { expected: 1, arrived: 0 }
  // All requests read the row before one of them changes it.
  const hash = async (text: string) => {
    if (text === first && ++requests.arrived === requests.expected) resolve()
    if (text === first) await all
    return digest(text)
  }
  const pages = { loginPage: '/sign-in', consentPage: '/consent' }
  const plugins = [oauthProvider({ disableJwtPlugin: true, ...pages, scopes, storeTokens: { hash } })]
  const rows = { user: [user], oauthClient: [client], oauthRefreshToken: [stored], oauthAccessToken: [] }
  // The override of package.json installs it for the plugin, in the version of the plugin.
  const { call } = betterAuthApp('better-auth', { plugins }, rows)
  return {
    first,
    async refresh(token, together) {
      requests.expected = together
      const form = new URLSearchParams({ grant_type: 'refresh_token', client_id: 'client-1', refresh_token: token })
      const response = await call('/oauth2/token', form.toString(), FORM_TYPE)
      return JSON.parse(await response.text()).refresh_token
    },
    async restart() {},
  }
}

/** Starts our app with a store that outlives the process. A restart creates the app again. */
async function ourHolders() {
  const store = memoryStore()
  const refusals: string[] = []
  const build = () => appWith({ refresh: 'body', store }, refusals)
  let app = await build()
  const post = async (path: string, body: object) => {
    const answer = await send(app.port, { path: TOKEN_PATH + path, headers: JSON_TYPE, body: JSON.stringify(body) })
    return answer.status === 200 ? JSON.parse(answer.body).refreshToken : undefined
  }
  const guard = holders(async () => ({
    first: JSON.parse((await send(app.port, login(ACCOUNTS.alice.email, PASSWORD))).body).refreshToken,
    refresh: (refreshToken) => post('/refresh', { refreshToken }),
    async restart() {
      app = await build()
    },
  }))
  return { guard, refusals }
}

const ours = { control: () => [refreshBy('owner'), MINUTE, refreshBy('owner')], ours: ourHolders }

/** A stolen refresh token must not work next to the one of its owner. */
export const REFRESH_TOKENS: Hall = {
  'CVE-2026-9802': {
    source: 'https://access.redhat.com/security/cve/CVE-2026-9802',
    year: 2026,
    versions: 'Keycloak 26.6 before build 26.6-6',
    fault: 'After a restart, a refresh token that was used before works again.',
    faulty: () => holders(forgetful),
    attack: () => [refreshBy('owner'), MINUTE, refreshBy('owner'), MINUTE, RESTART, refreshBy('thief')],
    ...ours,
    refusal: 'invalid_refresh_token: reused',
  },
  'CVE-2026-53517': {
    source: 'https://github.com/advisories/GHSA-392p-2q2v-4372',
    year: 2026,
    versions: '@better-auth/oauth-provider < 1.6.11',
    fault: 'Two requests with one refresh token at the same moment get two tokens, and each of them stays valid.',
    installed: '@better-auth/oauth-provider-1.6.9',
    faulty: (library) => holders(() => betterAuthProvider(library)),
    // Both refresh at the same moment. Afterwards, each has its own token, which the other one's refreshes do not revoke.
    attack: () => [
      refreshBy('owner', 'thief'),
      ...[MINUTE, refreshBy('owner'), MINUTE, refreshBy('thief')],
      ...[MINUTE, refreshBy('owner'), MINUTE, refreshBy('thief')],
    ],
    ...ours,
    refusal: 'invalid_refresh_token: ended',
  },
}

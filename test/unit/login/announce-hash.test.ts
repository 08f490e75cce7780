import type { Request, RequestHandler } from 'express'
import {
  type AccountStore,
  createPasswords,
  type Hasher,
  type MemoryAccount,
  memoryAccounts,
} from 'express-token-endpoint'
import { LoginStrategy } from 'express-token-endpoint/passport'
import passport from 'passport'
import { describe, expect, it } from 'vitest'
import { ACCOUNTS, PASSWORD } from '../../support/fixtures.js'
import { asJson, send } from '../../support/host.js'
import { listen } from '../../support/http.js'
import { membersOf, startRefreshHost } from '../../support/refresh-host.js'
import { memorySessions } from '../../support/sessions.js'

const GOOD = { email: ACCOUNTS.alice.email, password: PASSWORD }
const OLD = `old:${PASSWORD}`

/** The number of the last hash, so that two hashes of one password differ. */
let made = 0

const hasher = (name: string) =>
  ({
    accepts: (hash) => hash.startsWith(`${name}:`),
    verify: async (password, hash) => hash.endsWith(`:${password}`),
    hash: async (password) => `${name}:${++made}:${password}`,
  }) satisfies Hasher

const passwords = () => createPasswords({ hashers: [hasher('new'), hasher('old')] })

/** Starts an app that replaces outdated hashes, and a session of its user, who has an outdated hash. */
async function start(change: Partial<AccountStore> = {}) {
  const data = memoryAccounts([{ ...ACCOUNTS.alice, passwordHash: 'old:1' }])
  const row = data.findById(ACCOUNTS.alice.id) as MemoryAccount
  row.passwordHash = OLD
  const store = memorySessions()
  const accounts = { ...data, ...change }
  const keeping = createPasswords({ hashers: [hasher('old')] })
  const before = await startRefreshHost({ accounts: { ...data }, store, passwords: keeping })
  const { refreshToken } = membersOf(await before.signIn())
  const host = { accounts, store, passwords: passwords() }
  const app = await startRefreshHost(host)
  const hash = () => (data.findById(ACCOUNTS.alice.id) as MemoryAccount).passwordHash
  /** Replaces the hash by the one of another password. */
  const setPassword = () => data.replacePasswordHash(ACCOUNTS.alice.id, hash() as string, 'new:0:another password')
  return { data, host, accounts, app, refreshToken, hash, setPassword }
}

type Started = Awaited<ReturnType<typeof start>>

async function logInWithPassport(strategy: LoginStrategy): Promise<void> {
  const authenticate = new passport.Passport().authenticate(strategy, { session: false }) as RequestHandler
  const { port } = await listen((req, res) => authenticate(req as Request, res as never, () => res.end('done')))
  expect(await send(port, asJson(GOOD))).toMatchObject({ status: 200, body: 'done' })
}

/** All logins that replace a hash, and end without a session that has refresh tokens. */
const LOGINS: Record<string, (started: Started) => Promise<unknown>> = {
  async 'a sign-in without a refresh token'({ host }) {
    const { signIn } = await startRefreshHost({ ...host, refresh: () => undefined })
    expect(membersOf(await signIn()).refreshToken).toBeUndefined()
  },
  'auth.logIn, for example before a new password that the app refuses': ({ app }) => app.auth.logIn(GOOD),
  'LoginStrategy with auth.logIn': ({ app }) => logInWithPassport(new LoginStrategy({ logIn: app.auth.logIn })),
  'LoginStrategy with the accounts of the app': ({ accounts }) =>
    logInWithPassport(new LoginStrategy({ accounts, passwords: passwords() })),
  async 'a sign-in whose session cannot be stored'({ host }) {
    const store = { ...host.store, add: () => Promise.reject(new Error('down')) }
    expect(await (await startRefreshHost({ ...host, store })).signIn()).toMatchObject({ status: 503 })
  },
}

describe('a login that replaces an outdated hash', () => {
  it.each(Object.entries(LOGINS))('ends no other session: %s', async (_, logIn) => {
    const started = await start()
    await logIn(started)
    expect(started.hash()).toMatch(/^new:/)
    const { refreshToken } = membersOf(await started.app.refresh(started.refreshToken))
    await started.setPassword()
    expect(await started.app.refresh(refreshToken)).toMatchObject({ status: 403 })
  })

  it('ends no session that is refreshed just before and just after the hash is stored', async () => {
    const tokens: string[] = []
    const refresh = async ({ app }: Started) => {
      tokens.push(membersOf(await app.refresh(tokens.at(-1))).refreshToken)
    }
    const started: Started = await start({
      async replacePasswordHash(id, from, to) {
        await refresh(started)
        const isReplaced = await started.data.replacePasswordHash(id, from, to)
        await refresh(started)
        return isReplaced
      },
    })
    tokens.push(started.refreshToken)
    await started.app.auth.logIn(GOOD)
    await refresh(started)
    expect(tokens).toHaveLength(4)
  })

  it('ends no session when the account store fails, and stores the hash later', async () => {
    let storeIt = async () => false
    const started: Started = await start({
      async replacePasswordHash(...change) {
        storeIt = () => started.data.replacePasswordHash(...change)
        throw new Error('timeout')
      },
    })
    const own = membersOf(await started.app.signIn())
    const first = membersOf(await started.app.refresh(started.refreshToken))
    expect(await storeIt()).toBe(true)
    for (const { refreshToken } of [own, first]) membersOf(await started.app.refresh(refreshToken))
  })

  it('stores no hash that it could not announce, reports that, and still succeeds', async () => {
    const started = await start()
    const store = { ...started.host.store, list: () => Promise.reject(new Error('down')) }
    const { auth, events } = await startRefreshHost({ ...started.host, accounts: { ...started.data }, store })
    expect(await auth.logIn(GOOD)).toMatchObject({ account: { id: ACCOUNTS.alice.id } })
    expect(started.hash()).toBe(OLD)
    expect(events).toEqual([
      expect.objectContaining({ type: 'dependency.failed', dependency: 'sessions', refused: false }),
    ])
  })

  it('announces nothing with another password', async () => {
    const { app, host, hash } = await start()
    const before = await host.store.list(ACCOUNTS.alice.id)
    await expect(app.auth.logIn({ ...GOOD, password: 'wrong' })).rejects.toMatchObject({ code: 'invalid_credentials' })
    expect([await host.store.list(ACCOUNTS.alice.id), hash()]).toEqual([before, OLD])
  })

  it('lets all of 30 logins at once succeed, and ends no session', async () => {
    const { app, refreshToken, hash } = await start()
    await Promise.all(Array.from({ length: 30 }, () => app.auth.logIn(GOOD)))
    expect(hash()).toMatch(/^new:/)
    membersOf(await app.refresh(refreshToken))
  })
})

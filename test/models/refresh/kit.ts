import type { SessionStore } from 'express-token-endpoint'
import type { Account } from '../../../src/accounts/account.js'
import { isAuthError } from '../../../src/errors/auth-error.js'
import { firstState, nextState, writeState } from '../../../src/sessions/refresh/refresh-state.js'
import { newSession } from '../../../src/sessions/session.js'
import { type Device, earlierToken, type Network, type Sim } from './devices.js'
import { createLaw, type Facts } from './law.js'
import { createServers, ISSUER, type Request, type Settings } from './servers.js'
import { createChoices, startTime } from './time.js'

const MINUTE = 60_000

/** The release that has started a session: this one, or the earlier one, whose last response its device may have lost. */
const ORIGINS = ['this', 'earlier', 'lost'] as const

/** Starts the servers of a run, and what a user, a host and an attacker can do. */
export function start(
  numbers: readonly number[],
  settings: Settings,
  network: Network,
  sessions: Required<SessionStore>,
) {
  const choices = createChoices(numbers)
  const time = startTime<Request>()
  const law = createLaw(time, settings)
  const servers = createServers(time, choices, settings, law.observer, sessions)
  const sim: Sim = { time, choices, servers, law, network }
  const devices: Device[] = []
  let made = 0
  /** The time of the last login with an outdated hash, of each account. */
  const rehashedAt = new Map<string, number>()

  for (const id of ['acc-1', 'acc-2']) servers.accounts.set(id, { id, passwordHash: `${id} ${made++}` })

  const kit = {
    ...sim,
    devices,
    async signIn(
      kind: Device['kind'],
      accountId: string,
      origin: (typeof ORIGINS)[number] = choices.pick(ORIGINS),
    ): Promise<Device> {
      const { refreshSteps, clock } = servers.anyServer()
      const { passwordHash, disabled } = servers.accounts.get(accountId) as { passwordHash: string; disabled?: boolean }
      const id = `s${made++}`
      const { expiresAt } = refreshSteps.begin(true)
      const first = firstState({ remember: true, passwordTag: refreshSteps.tagOf(passwordHash) })
      const times = { now: clock(), presentedAt: clock(), grace: settings.grace }
      const state = (origin === 'lost' && nextState(first, 0, times)) || first
      const refresh = writeState(state)
      const terms = choices.pick([`terms-${id}`, undefined])
      const storedTerms = origin === 'this' ? terms : undefined
      const session = newSession({ id, accountId, refresh, expiresAt, terms: storedTerms }, clock())
      await servers.store.add(session)
      const { generation } = state
      const begun = { id, accountId, createdAt: session.createdAt.getTime(), terms, storedTerms, generation }
      const name = `device ${id}`
      law.begin(begun, refresh, expiresAt, name)
      // It may start after a login has announced its hash, and before that hash is stored.
      const isRehashed = time.now() - (rehashedAt.get(accountId) ?? 0) < MINUTE
      if (disabled || isRehashed) law.of(id).mayEnd = true
      const token =
        origin === 'this' ? refreshSteps.write({ sessionId: id, generation: 0 }, ISSUER) : earlierToken(id, 0, terms)
      const device: Device = { name, kind, accountId, sessionId: id, token, isBusy: false }
      devices.push(device)
      return device
    },
    /** Returns the account, or a new one in the place of a disabled one. */
    working(accountId: string): string {
      if (!servers.accounts.get(accountId)?.disabled) return accountId
      const id = `acc-${made++}`
      servers.accounts.set(id, { id, passwordHash: `${id} ${made++}` })
      return id
    },
    factsOf: (accountId: string): Facts[] => [...law.sessions.values()].filter((one) => one.accountId === accountId),
    async signOut(device: Device): Promise<void> {
      const { token, sessionId } = device
      if (token === undefined) return
      const server = servers.anyServer()
      const presented = server.refreshSteps.read(token, [ISSUER])
      if (!presented) return law.must(false, 'each process accepts the refresh tokens of the others')
      const request: Request = { kind: 'sign-out', presented, arrivedAt: time.now(), from: device.name }
      law.of(sessionId).mayEnd = true
      try {
        await servers.run(server, request, () => servers.signOut(server, request))
        law.of(sessionId).overAt = Math.min(law.of(sessionId).overAt, time.now())
      } catch {}
    },
    /** Sends a request with an access token of a session to a guarded route. */
    async use(device: Device): Promise<void> {
      const [server, facts] = [servers.anyServer(), law.of(device.sessionId)]
      const { isRemoved } = facts
      const isEnded = await servers
        .run(server, other(time.now()), () => servers.use(server, ownerOf(device)))
        .catch(() => undefined)
      if (isEnded !== undefined) law.guarded(facts, isRemoved, isEnded)
    },
    /** Sets the data of a session in such a route. */
    async update(device: Device): Promise<void> {
      const [server, facts] = [servers.anyServer(), law.of(device.sessionId)]
      const [failures, data] = [servers.failures(), { order: made++ }]
      try {
        await servers.run(server, other(time.now()), () => servers.update(server, ownerOf(device), data))
        law.must(facts.data.includes(JSON.stringify(data)), 'data that the host has set is in the store')
      } catch (error) {
        if (!isAuthError(error)) throw error
        if (error.code === 'invalid_token') law.updateRefused(facts)
        else law.must(servers.failures() > failures, `a store that works does not cause ${error.code} for data`)
      }
    },
    /** Stores a new password hash, and ends all sessions, or all but the one of the device. */
    async changePassword({ accountId, sessionId }: Device, isKept: boolean): Promise<void> {
      const server = servers.anyServer()
      const all = kit.factsOf(accountId)
      // A session that a change has ended may not change the password.
      if (law.of(sessionId).overAt <= time.now()) return
      if (all.some(({ changedAt }) => changedAt === Number.POSITIVE_INFINITY)) return
      const kept = isKept ? law.of(sessionId) : undefined
      if (kept) beginChange(kept)
      servers.accounts.set(accountId, {
        ...servers.accounts.get(accountId),
        id: accountId,
        passwordHash: `${accountId} ${made++}`,
      })
      for (const facts of all) {
        if (facts === kept) continue
        facts.mayEnd = true
        // Refused from now on, also when the store fails at the next step, and also a session that a change has kept before.
        facts.overAt = Math.min(facts.overAt, time.now())
      }
      try {
        await servers.run(server, other(time.now()), async () => {
          if (isKept) await server.refreshSteps.keepAfterChange(sessionId, accountId)
          if (kept) kept.changedAt = time.now()
          await servers.host(server, async () => {
            await servers.store.removeAll(accountId, isKept ? sessionId : undefined)
            // Also a session that has begun meanwhile.
            for (const facts of kit.factsOf(accountId)) if (facts !== kept) facts.isRemoved = facts.mayEnd = true
          })
        })
      } catch {
        if (kept?.changedAt === Number.POSITIVE_INFINITY) kept.mayEnd = true
      }
    },
    /** Stores a new password hash and ends no session, as another service does. Each refresh from now on must end its session. */
    storePassword({ accountId }: Device): void {
      const all = kit.factsOf(accountId)
      if (all.some(({ changedAt }) => changedAt === Number.POSITIVE_INFINITY)) return
      const account = servers.accounts.get(accountId) as Account
      servers.accounts.set(accountId, { ...account, passwordHash: `${accountId} ${made++}` })
      for (const facts of all) {
        facts.mayEnd = true
        facts.overAt = Math.min(facts.overAt, time.now())
      }
    },
    /** Logs in without a session, and replaces the hash by one of the same password. No session of this password ends. */
    async rehash(accountId: string): Promise<void> {
      const server = servers.anyServer()
      const account = servers.accounts.get(accountId) as Account
      const all = kit.factsOf(accountId)
      // The login comes between a change of the password and the session that it keeps.
      for (const facts of all) if (facts.changedAt === Number.POSITIVE_INFINITY) facts.mayEnd = true
      rehashedAt.set(accountId, time.now())
      const to = `${accountId} ${made++}`
      await servers.run(server, other(time.now()), () => servers.rehash(server, account, to))
    },
    /** Moves a session of the store back to an earlier state, as a replica does that has not received the last writes. */
    async rollBack({ sessionId }: Device): Promise<void> {
      const facts = law.of(sessionId)
      const stored = (await servers.store.find(sessionId))?.refresh
      const back = facts.history[facts.history.length - 1 - choices.below(4)]
      if (!stored || !back || tagOf(stored) !== tagOf(back.text) || facts.overAt < time.now()) return
      if (back.staysUntil <= time.now()) return
      const generation = Number(back.text.split('.')[1])
      if (generation >= facts.generation) return
      await servers.store.replace(sessionId, stored, {
        refresh: back.text,
        expiresAt: back.expiresAt,
        lastUsedAt: new Date(),
      })
      facts.generation = generation
      facts.received = Math.min(facts.received, generation)
      // The time at which a forgiven refresh token came again is lost too.
      facts.replacedAt.splice(0, Number.POSITIVE_INFINITY, ...back.replacedAt.slice(0, generation))
      facts.forgiven = back.forgiven
      facts.staysUntil = back.staysUntil
      facts.history.length = facts.history.indexOf(back) + 1
    },
    /** Presents a refresh token that no server has written. */
    forge(device: Device): void {
      const { token, sessionId } = device
      if (token === undefined) return
      const [id = '', generation = '', mac = ''] = token.split('.')
      const { refreshSteps } = servers.anyServer()
      const another = devices[choices.below(devices.length)]?.sessionId as string
      const forged = [
        `${another === sessionId ? 'x' : another}.${generation}.${mac}`,
        `${id}.${Number(generation) + 1}.${mac}`,
        refreshSteps.write({ sessionId, generation: Number(generation) }, 'https://staging.example.com'),
      ]
      for (const text of forged)
        law.must(refreshSteps.read(text, [ISSUER]) === undefined, 'no other token opens a session')
    },
  }
  return kit
}

export type Kit = ReturnType<typeof start>

/** Notes that a session meets a change of the password. Two at once are not promised to keep it. */
function beginChange(facts: Facts): void {
  if (facts.changedAt === Number.POSITIVE_INFINITY) facts.mayEnd = true
  facts.changedAt = Number.POSITIVE_INFINITY
}

/** Returns an access token of the session of a device. */
const ownerOf = ({ accountId, sessionId }: Device) => ({ accountId, sessionId, id: 'token', issuer: ISSUER })

/** Returns the tags of the password hashes. */
const tagOf = (text: string) => text.split('.')[3]
const other = (arrivedAt: number): Request => ({
  kind: 'other',
  presented: { sessionId: '', generation: 0 },
  arrivedAt,
  from: 'host',
})

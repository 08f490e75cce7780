import type { SessionStore } from 'express-token-endpoint'
import type { Account } from '../../../src/accounts/account.js'
import { callHost } from '../../../src/concurrency/host-call.js'
import { type Refreshed, refresh, signOut, termsOf } from '../../../src/features/refresh/refresh-steps.js'
import { type CheckedTask, noteSessionsOf, replaceOutdatedHash } from '../../../src/login/steps.js'
import { brand } from '../../../src/options/brand.js'
import type { RefreshSteps } from '../../../src/sessions/refresh/refresh-steps.js'
import type { RefreshTokenFacts } from '../../../src/sessions/refresh/refresh-token.js'
import type { FoundSession } from '../../../src/sessions/session.js'
import { createSessions, type SessionOwner, type Sessions } from '../../../src/sessions/sessions.js'
import type { Choices, Time } from './time.js'

/** The time limit for a call of the store, in milliseconds. */
export const TIMEOUT = 5000
const SECOND = 1000
/** A client gives an exchange up after this time, in milliseconds. It never sees a later response. */
export const CLIENT_TIMEOUT = 5000
/** The secrets of each step of a rotation: first all processes verify the next secret, then they sign with it. */
const STAGES: readonly (readonly Uint8Array[])[] = ['1', '12', '21', '213', '321'].map((list) =>
  [...list].map((byte) => Buffer.alloc(32, `secret ${byte}`)),
)
/** The secret of the earlier release, whose refresh tokens all processes accept. */
export const FIRST_SECRET = Buffer.alloc(32, 'secret 1')
export const ISSUER = 'https://api.example.com'

/** A request at a server process. */
export interface Request {
  readonly kind: 'refresh' | 'sign-out' | 'other'
  readonly presented: RefreshTokenFacts
  readonly arrivedAt: number
  /** The name of the one that sent it. */
  readonly from: string
}

/** The settings of a run. Times in milliseconds. */
export interface Settings {
  readonly idle: number
  readonly longest: number
  readonly grace: number
  /** The most that the clocks of two processes differ. */
  readonly skew: number
  /** The share of 1,000 calls of a store that fail in some way. */
  readonly faults: number
}

/** Called at what happens in the store, at the moment when it has happened there. */
export interface StoreObserver {
  /** Called when a process asks the store to change a session. */
  asked(id: string, from: string, to: string, request: Request): void
  replaced(id: string, from: string, to: string, expiresAt: Date, askedAt: number, request: Request | undefined): void
  removed(id: string, request: Request | undefined): void
  /** Called when the host's data was stored. */
  updated(id: string, data: string): void
  /** Called after each write of a session, with what the store then has. */
  wrote(id: string, session: FoundSession | null | undefined): void
}

/** The facts of a refresh: its time, and the terms of the access token. */
export interface Issued {
  readonly at: number
  readonly terms: string | undefined
}

/** A server process. */
export interface Server {
  readonly clock: () => number
  sessions: Sessions
  refreshSteps: RefreshSteps
  /** The number of its crashes. */
  crashes: number
  secrets: readonly Uint8Array[]
}

const FATES = ['fails', 'fails late', 'hangs', 'hangs late', 'is slow', 'crashes', 'crashes late'] as const
const LATE = ['fails late', 'hangs late', 'crashes late']

export type Servers = ReturnType<typeof createServers>

/** Starts server processes that share one store of sessions and one of accounts. */
export function createServers(
  time: Time<Request>,
  choices: Choices,
  settings: Settings,
  observer: StoreObserver,
  sessions: Required<SessionStore>,
) {
  const store = withoutTime(time, sessions)
  const accounts = new Map<string, Account>()
  let isDown = false
  /** The time until which the store executes its writes when it should, but responds to them after the time limit. */
  let silentUntil = 0
  /** The time until which writes wait for a lock, as for a backup. */
  let lockedUntil = 0
  /** The time until which each call needs seconds, so that a refresh takes longer than `grace`. */
  let slowUntil = 0
  let steps = 0
  let failures = 0
  let delayed = 0

  function delay(): number {
    const ms =
      1 +
      choices.weigh([
        [6, 0],
        [3, 30],
        [1, 900],
      ] as const) +
      choices.below(20)
    delayed += ms
    return ms
  }

  /** Calls a store of a server: with delays, and in some cases with a failure before or after the call was executed. */
  function call<T>(server: Server, run: () => T | PromiseLike<T>, isWrite = false): Promise<T> {
    const { crashes } = server
    steps++
    return new Promise<T>((resolve, reject) => {
      const fate = isDown ? 'fails' : choices.isOneOf(settings.faults) ? choices.pick(FATES) : undefined
      const isSilent = isWrite && time.now() < silentUntil
      const wait = isWrite ? Math.max(0, lockedUntil - time.now()) : 0
      const slowness = time.now() < slowUntil ? 3000 + choices.below(1000) : 0
      if (fate || isSilent || wait > 0 || slowness > 0) failures++
      time.after(wait + slowness + delay() + (fate === 'is slow' ? 3000 + choices.below(12_000) : 0), async () => {
        const isExecuted = !fate || fate === 'is slow' || LATE.includes(fate)
        const result = isExecuted ? await run() : undefined
        time.after(delay() + (isSilent ? TIMEOUT + SECOND : 0), () => {
          if (fate?.startsWith('crashes')) crash(server)
          if (server.crashes !== crashes) return
          if (fate?.startsWith('fails')) reject(new Error('the store is down'))
          else if (!fate || fate === 'is slow') resolve(result as T)
        })
      })
    })
  }

  const wrote = async (id: string) => observer.wrote(id, await store.find(id))

  function storeOf(server: Server): SessionStore {
    return {
      ...store,
      find: (id) => call(server, () => store.find(id)),
      list: (accountId) => call(server, () => store.list(accountId)),
      remove(id, accountId) {
        const request = time.cause()
        return call(
          server,
          async () => {
            const isRemoved = await store.remove(id, accountId)
            if (isRemoved) observer.removed(id, request)
            return isRemoved
          },
          true,
        )
      },
      touch: (id, lastUsedAt) =>
        call(
          server,
          async () => {
            await store.touch(id, lastUsedAt)
            await wrote(id)
          },
          true,
        ),
      update: (id, data) =>
        call(
          server,
          async () => {
            const isUpdated = await store.update(id, data)
            if (isUpdated) observer.updated(id, data)
            await wrote(id)
            return isUpdated
          },
          true,
        ),
      replace(id, from, to) {
        const [request, askedAt] = [time.cause(), time.now()]
        if (request) observer.asked(id, from, to.refresh, request)
        return call(
          server,
          async () => {
            const isReplaced = await store.replace(id, from, to)
            if (isReplaced) observer.replaced(id, from, to.refresh, to.expiresAt, askedAt, request)
            await wrote(id)
            return isReplaced
          },
          true,
        )
      },
    }
  }

  function start(server: Server): void {
    const { secrets, clock: now } = server
    const { idle, longest, grace } = settings
    const hashOf = (id: string) =>
      callHost('accounts', () => call(server, () => accounts.get(id)?.passwordHash), { timeout: TIMEOUT })
    const refresh = { secrets, idle, unremembered: idle, longest, grace, hashOf }
    const [store, emit] = [storeOf(server), () => {}]
    const options = { store, issuers: [ISSUER], maxPerAccount: 100, timeout: TIMEOUT, emit, now, refresh }
    Object.assign(server, createSessions(options))
  }

  function crash(server: Server): void {
    server.crashes++
    start(server)
  }

  const servers = [0, 1, 2].map((number) => {
    const ahead = number === 0 ? 0 : number === 1 ? settings.skew : choices.below(settings.skew + 1)
    const server = { clock: () => time.now() + ahead, crashes: 0, secrets: STAGES[0] } as unknown as Server
    start(server)
    return server
  })
  let stage = 1

  return {
    store,
    accounts,
    servers,
    anyServer: () => choices.pick(servers as [Server, ...Server[]]),
    steps: () => steps,
    failures: () => failures,
    /** Returns the milliseconds that calls have needed without a failure. */
    delayed: () => delayed,
    crash,
    setDown: (value: boolean) => {
      isDown = value
    },
    isDown: () => isDown,
    /** Lets the store respond to its writes too late for a while. */
    silence: () => {
      silentUntil = time.now() + 20 * SECOND
    },
    /** Lets all calls take seconds for a while. */
    slow: () => {
      slowUntil = time.now() + 20 * SECOND
    },
    /** Lets the writes of the store wait for a while. */
    lock: () => {
      lockedUntil = time.now() + 17 * SECOND
    },
    /** Runs steps of a process. Their end is not seen when the process crashes. */
    async run<T>(server: Server, request: Request, task: () => Promise<T>): Promise<T> {
      const { crashes } = server
      const result = await time.because(request, task).then(
        (value) => ({ value }),
        (error) => ({ error }),
      )
      if (server.crashes !== crashes) return new Promise(() => {})
      if ('error' in result) throw result.error
      return result.value
    },
    refresh(server: Server, request: Request, isWanted: () => boolean): Promise<Refreshed<Issued>> {
      const { refreshSteps, clock } = server
      return refresh({
        refreshSteps,
        findById: (id) => call(server, () => accounts.get(id)),
        timeout: TIMEOUT,
        presented: [request.presented],
        address: undefined,
        issue: (live) =>
          callHost('internal', () => call(server, () => ({ at: clock(), terms: termsOf(live) })), { timeout: TIMEOUT }),
        isWanted,
      } as Parameters<typeof refresh<Issued>>[0])
    },
    /** Admits a request with the access token of a session, as a guard does. Returns whether the session has ended. */
    use: ({ sessions }: Server, owner: SessionOwner) => sessions.isEnded(owner),
    /** Sets the data of a session, in a guarded request. */
    update: ({ sessions }: Server, owner: SessionOwner, data: Readonly<Record<string, unknown>>) =>
      sessions.update({ auth: brand('VerifiedToken', owner) }, data),
    signOut: ({ refreshSteps }: Server, { presented }: Request) =>
      signOut({ refreshSteps, address: undefined }, presented),
    /** Calls the session store of a process, as the host does. */
    host: <T>(server: Server, run: () => PromiseLike<T>) => call(server, run),
    /** Replaces an outdated hash at a login, as `auth.logIn` does. The account store may fail, store the hash late, or both. */
    async rehash(server: Server, { id, passwordHash }: Account, to: string): Promise<void> {
      const store = {
        async replacePasswordHash(_id: string, from: string) {
          const replace = () => {
            const account = accounts.get(id) as Account
            const isReplaced = account.passwordHash === from
            if (isReplaced) accounts.set(id, { ...account, passwordHash: to })
            return isReplaced
          }
          return call(server, replace, true)
        },
      }
      noteSessionsOf(store, server.refreshSteps)
      const [passwords, slot] = [{ needsRehash: () => true }, { hash: async () => to }]
      const task = { accounts: store, passwords, slot, password: '', timeout: TIMEOUT, dependencyFailed() {} }
      await replaceOutdatedHash(task as unknown as CheckedTask, { id, passwordHash })
    },
    /** Deploys the next step of a rotation of the secrets in one process. */
    deploySecrets(): void {
      const list = STAGES[stage]
      const behind = servers.find(({ secrets }) => secrets !== list)
      if (!list) return
      if (!behind) {
        stage++
        return
      }
      behind.secrets = list
      start(behind)
    },
  }
}

/** Returns a store whose calls need no time of the run, also when they need some of the machine. */
function withoutTime(time: Time<Request>, sessions: Required<SessionStore>): Required<SessionStore> {
  const methods = Object.entries(sessions).map(([name, method]) => [
    name,
    (...args: unknown[]) => time.outside((method as (...args: unknown[]) => unknown)(...args)),
  ])
  return Object.fromEntries(methods)
}

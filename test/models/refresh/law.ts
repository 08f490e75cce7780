import { readState } from '../../../src/sessions/refresh/refresh-state.js'
import { CLIENT_TIMEOUT, type Issued, type Request, type Settings, type StoreObserver } from './servers.js'
import type { Time } from './time.js'

/** The longest time from a request until its effect in the store. */
const SLOWEST = 40_000

/** Prints what happens in a run that is repeated with `MODEL_TRACE`. */
export function trace({ now }: { now(): number }, ...what: unknown[]): void {
  if (process.env['MODEL_TRACE']) process.stdout.write(`${new Date(now()).toISOString()} ${JSON.stringify(what)}\n`)
}

/** The facts of a session that decide whether it may end, must end or must stay. Times are of the real clock, in milliseconds. */
export interface Facts {
  readonly id: string
  readonly accountId: string
  readonly createdAt: number
  /** The terms of the sign-in. */
  readonly terms: string | undefined
  /** The terms in the store. A session of the earlier release has them in its refresh tokens until its first refresh. */
  storedTerms: string | undefined
  /** The host's data in the store, oldest first. */
  readonly data: (string | null)[]
  /** The generation in the store. */
  generation: number
  /** The time of each generation at which a process asked the store to replace it. */
  readonly replacedAt: number[]
  /** The time at which each replaced generation last came within `grace`. */
  readonly recentAt: number[]
  /** The replaced generation that was forgiven last, until its successor is presented. */
  forgiven: number | undefined
  /** The newest generation that its device has received. */
  received: number
  /** The time until which only the user or the host ends the session. */
  staysUntil: number
  /** True when it may end: because of the user, the host or a thief. */
  mayEnd: boolean
  /** Requests that arrived before this time met a change of the password half-way. */
  changedAt: number
  /** The time from which no request may be granted. */
  overAt: number
  isRemoved: boolean
  /** The name of the one who moved each generation on. */
  readonly movedBy: (string | undefined)[]
  /** Earlier states of the store. */
  readonly history: (Pick<Facts, 'staysUntil' | 'forgiven' | 'replacedAt'> & {
    readonly text: string
    readonly expiresAt: Date
  })[]
}

export type Law = ReturnType<typeof createLaw>

/** Follows all sessions, and notes each broken promise. */
export function createLaw(time: Time<Request>, settings: Settings) {
  const { idle, longest, grace, skew } = settings
  const sessions = new Map<string, Facts>()
  const broken: string[] = []
  const of = (id: string) => sessions.get(id) as Facts

  function must(fits: boolean, promise: string): void {
    if (!fits) broken.push(promise)
  }

  const hasExpired = ({ staysUntil }: Facts) => time.now() >= staysUntil - skew

  /** Requests that came when one process may have said that their session has expired, and another not. */
  const hadExpired = new WeakSet<Request>()

  /** Requests that came after the end of their session, by the clock of each process. */
  const late = new WeakSet<Request>()

  /** Requests that have asked the store to move a session on. */
  const movers = new WeakSet<Request>()

  /** Requests whose refresh has ended, also at its time limit. */
  const ended = new WeakSet<Request>()

  const mayBeOver = (facts: Facts, request: Request) =>
    facts.mayEnd ||
    hadExpired.has(request) ||
    hasExpired(facts) ||
    request.arrivedAt < facts.changedAt ||
    time.now() >= facts.overAt

  const observer: StoreObserver = {
    asked(id, from, to, request) {
      if (request.kind !== 'refresh') return
      movers.add(request)
      must(!ended.has(request), 'a refresh that has ended writes nothing more')
      const { replacedAt } = of(id)
      const { generation } = readState(from)
      if (readState(to).generation !== generation) replacedAt[generation] ??= time.now()
    },
    replaced(id, from, to, expiresAt, askedAt, request) {
      const facts = of(id)
      const [before, after] = [readState(from).generation, readState(to).generation]
      must(expiresAt.getTime() <= facts.createdAt + longest, 'no refresh moves the end of a session past `longest`')
      must(!facts.isRemoved, 'a session that has ended is not stored again')
      if (request?.kind !== 'refresh') return
      const { presented, from: party } = request
      if (from === to) return must(presented.terms !== undefined, 'without a rotation, a refresh only stores terms')
      trace(time, 'moved', request, before, after, to)
      const isAgain = after === before
      if (isAgain)
        must(presented.generation === facts.forgiven, 'only a forgiven refresh token returns its successor later')
      else facts.forgiven = presented.generation < before ? presented.generation : undefined
      for (let i = Math.min(presented.generation, before); i < (isAgain ? presented.generation + 1 : after); i++) {
        facts.replacedAt[i] = askedAt
        facts.movedBy[i] = party
      }
      facts.generation = after
      facts.staysUntil = Math.min(askedAt + idle, facts.createdAt + longest)
      const { staysUntil, forgiven, replacedAt } = facts
      facts.history.push({ text: to, staysUntil, forgiven, replacedAt: [...replacedAt], expiresAt })
    },
    removed(id, request) {
      trace(time, 'removed', request)
      const facts = of(id)
      // Ended by the host, which has noted that.
      if (!request) return
      must(mayBeOver(facts, request), 'no honest client is signed out')
      facts.mayEnd = true
      facts.isRemoved = true
      facts.overAt = Math.min(facts.overAt, time.now())
    },
    updated: (id, data) => void of(id).data.push(data),
    wrote(id, session) {
      if (!session) return
      const facts = of(id)
      must(!facts.isRemoved, 'a session that has ended is not stored again')
      must((session.data ?? null) === facts.data.at(-1), 'a session keeps the data that the host has set last')
      const terms = session.terms ?? undefined
      const isMoved = facts.storedTerms === undefined && terms === facts.terms
      must(isMoved || terms === facts.storedTerms, 'a session keeps the terms of its sign-in')
      facts.storedTerms = terms
    },
  }

  return {
    broken,
    must,
    of,
    sessions,
    observer,
    begin(
      facts: Pick<Facts, 'id' | 'accountId' | 'createdAt' | 'terms' | 'storedTerms' | 'generation'>,
      text: string,
      expiresAt: Date,
      name: string,
    ): void {
      const staysUntil = time.now() + Math.min(idle, longest)
      const replacedAt: number[] = Array(facts.generation).fill(time.now())
      sessions.set(facts.id, {
        ...facts,
        data: [null],
        replacedAt,
        recentAt: [],
        forgiven: undefined,
        received: 0,
        staysUntil,
        mayEnd: false,
        changedAt: 0,
        overAt: Number.POSITIVE_INFINITY,
        isRemoved: false,
        movedBy: Array(facts.generation).fill(name),
        history: [{ text, staysUntil, forgiven: undefined, replacedAt: [...replacedAt], expiresAt }],
      })
      must(expiresAt.getTime() <= facts.createdAt + longest, 'no session begins with an end past `longest`')
    },
    /** Notes a request of an honest client, which may lose any number of responses. */
    arrived(request: Request): void {
      const { sessionId, generation } = request.presented
      const facts = of(sessionId)
      if (hasExpired(facts)) hadExpired.add(request)
      if (time.now() > facts.staysUntil + skew + SLOWEST) late.add(request)
      trace(time, 'arrived', sessionId, generation, facts)
      const replacedAt = facts.replacedAt[generation]
      if (grace === 0 && replacedAt !== undefined) facts.mayEnd = true
      const age = time.now() - (replacedAt ?? time.now())
      if (age <= grace - skew) {
        facts.recentAt[generation] = time.now()
        return
      }
      // Processes may disagree whether it is late.
      const isUnclear = skew > 0 && age <= grace + skew
      // A tab that came just before may have got the successor that is skipped now.
      const isSplit = time.now() - (facts.recentAt[generation] ?? 0) < CLIENT_TIMEOUT
      // An older response came after a newer one.
      const wentBack = generation < facts.received
      if (isUnclear || isSplit || wentBack) facts.mayEnd = true
    },
    ended: (request: Request) => void ended.add(request),
    received(sessionId: string, generation: number): void {
      const facts = of(sessionId)
      facts.received = Math.max(facts.received, generation)
    },
    granted(request: Request, { at, terms }: Issued, generation: number): void {
      const facts = of(request.presented.sessionId)
      must(request.arrivedAt < facts.overAt, 'a session that has ended grants nothing')
      must(!late.has(request), 'an expired session grants nothing')
      must(at - SLOWEST < facts.createdAt + longest, 'no access token is issued after `longest`')
      must(terms === facts.terms, 'each access token has the terms of its sign-in')
      must(
        facts.movedBy[generation - 1] !== undefined || generation === 0,
        'a refresh token is sent only after the store has its generation',
      )
    },
    /** Notes what a guard said about the session of an access token. */
    guarded(facts: Facts, wasRemoved: boolean, isEnded: boolean): void {
      must(isEnded || !wasRemoved, 'a guard refuses the access tokens of a session that has ended')
      must(!isEnded || facts.isRemoved || hasExpired(facts), 'a guard accepts the access tokens of a session')
    },
    /** Notes that the host may not set the data of a session. */
    updateRefused(facts: Facts): void {
      must(facts.isRemoved || hasExpired(facts), 'the host can set the data of each session that has not ended')
    },
    failed(request: Request, dependency: unknown): void {
      const isEarly = dependency === 'accounts' || dependency === 'internal'
      must(
        !(isEarly && movers.has(request)),
        'a failure of the account store or of the signer uses up no refresh token',
      )
    },
    refused(request: Request): void {
      must(mayBeOver(of(request.presented.sessionId), request), 'no honest client is refused')
    },
  }
}

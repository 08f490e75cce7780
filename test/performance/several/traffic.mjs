import { setTimeout as sleep } from 'node:timers/promises'
import { bearer, login } from '../../support/plain-js/http-client.mjs'
import { decodePayload, withOtherSignature } from '../../support/plain-js/token-forger.mjs'
import { must } from '../harness/report.mjs'

const SIGN_OUT_PATH = '/api/v2013/sign-out'
export const REPORT_PATH = '/api/v2013/reports/daily-totals'
const STATEMENTS_PATH = '/api/v2013/houses/north/statements'
const KEPT_EXAMPLES = 5

/** Returns a function that returns the items in turn, again and again. */
export function inTurn(items) {
  let at = 0
  return () => items[at++ % items.length]
}

/*
 * Each of these functions creates a request with its kind. `check` returns what is wrong with a 200, without a secret.
 */

/** Requests an account's statements. The response must contain exactly its own statements. */
export const statements = ({ token: own, statements: expected }, token = own, kind = 'statements') => ({
  kind,
  request: bearer(token, STATEMENTS_PATH),
  check: ({ body }) => (body.endsWith(`"statements":${expected}}`) ? undefined : "not this account's statements"),
})

/** Sends a request to another service. The response must name the account. */
export const report = ({ token: own, id }, token = own, kind = 'report') => ({
  kind,
  request: bearer(token, REPORT_PATH),
  check: ({ body }) => (JSON.parse(body).account === id ? undefined : 'another account'),
})

/** Signs in. The request has a forged `X-Forwarded-For`, which nginx replaces with the client's address. */
export const signIn = ({ id, email, password }, onToken = () => {}) => ({
  kind: 'login',
  request: login(email, password),
  check(answer) {
    const token = tokenOf(answer)
    if (decodePayload(token).sub !== id) return "another account's token"
    onToken(token)
  },
})

export const guess = ({ email }) => ({ kind: 'wrong password', request: login(email, 'a guess') })

/** Creates functions for the requests that a guard must refuse. The last one of `people` has no scope. */
export function refusals(people, { ended, path = STATEMENTS_PATH } = {}) {
  const [person, scopeless] = [inTurn(people), people.at(-1).token]
  const invalid = {
    'no token': () => ({ method: 'GET', path }),
    forged: () => bearer(withOtherSignature(person().token), path),
    'no scope': () => bearer(scopeless, path),
    ...(ended && { 'signed out': () => bearer(ended, path) }),
  }
  return Object.entries(invalid).map(([kind, request]) => () => ({ kind, request: request() }))
}

/** The status of each kind without an outage. A limit on failed logins may refuse a guess. */
export const UP = {
  statements: [200],
  report: [200],
  login: [200],
  'wrong password': [403, 429],
  'no token': [401],
  forged: [401],
  'no scope': [403],
  'signed out': [401],
}

export const tokenOf = ({ body }) => JSON.parse(body).authenticationToken

/** Signs a person in and out again. Returns the ended token. */
export async function endedToken(send, person) {
  const token = tokenOf(await send(signIn(person).request))
  await send(signOut(token))
  return token
}

export const signOut = (token) => ({ ...bearer(token, SIGN_OUT_PATH), method: 'POST' })

function createTally() {
  const counts = new Map()
  const examples = new Set()
  let [total, wrong] = [0, 0]
  return {
    add(kind, status, fault) {
      total++
      counts.set(`${kind} ${status}`, (counts.get(`${kind} ${status}`) ?? 0) + 1)
      if (!fault) return
      wrong++
      if (examples.size < KEPT_EXAMPLES) examples.add(`${kind}: ${fault}`)
    },
    /**
     * Returns a check that there were responses and none was wrong. `kinds` names kinds and statuses that must have occurred, as in
     * `login 503`.
     */
    verdict(what, ...kinds) {
      const seen = kinds.map((kind) => `, ${kind}: ${counts.get(kind) ?? 0}`).join('')
      const shown = `${wrong} of ${total}${seen}${wrong > 0 ? ` (${[...examples].join('; ')})` : ''}`
      return must(
        `${what}: wrong responses`,
        shown,
        wrong === 0 && total > 0 && kinds.every((kind) => counts.has(kind)),
      )
    },
  }
}

/**
 * Sends requests through phases, until `stop` or until `next` returns undefined. A response must be allowed in the phase of its request.
 * When the phase has changed in between, the response must be allowed in the phase `changing`. A 200 must also have the right body.
 * @param options `next` returns a request with its `send`, and `allowed(kind, phase)` the allowed statuses. `clients` is the number of
 *   clients that each send one request after the other, with `pauseMs` in between
 */
export function startTraffic({ clients, next, allowed, pauseMs = 0, phase: first = 'changing' }) {
  let phase = first
  let running = true
  let tally = createTally()
  const all = createTally()

  async function faultOf({ kind, request, send, check }, asked) {
    let status
    let fault
    try {
      const answer = await send(request)
      status = answer.status
      const statuses = allowed(kind, asked === phase ? phase : 'changing')
      if (!statuses.includes(status)) fault = `${status} instead of ${statuses.join(' or ')}`
      else if (status === 200) fault = check?.(answer)
    } catch (error) {
      status = 'failed'
      fault = error.code ?? error.message
    }
    all.add(kind, status, fault && `${asked}: ${fault}`)
    if (asked === phase) tally.add(kind, status, fault)
  }
  async function one() {
    for (let asked = next(); asked && running; asked = next()) {
      await faultOf(asked, phase)
      if (pauseMs > 0) await sleep(pauseMs)
    }
  }
  const over = Promise.all(Array.from({ length: clients }, one)).then(() => all)
  const enter = (name) => {
    phase = name
    tally = createTally()
    return tally
  }
  return {
    /** The tally of all responses, when `next` has returned undefined for each client. */
    over,
    /** Starts a phase. Returns the tally of its responses. */
    enter,
    /** Runs a phase for a time. Returns the tally of its responses. */
    async during(name, milliseconds) {
      const found = enter(name)
      await sleep(milliseconds)
      enter('changing')
      return found
    },
    stop() {
      running = false
      return over
    },
  }
}

/** Waits until a condition is true. Returns the duration in seconds. */
export async function untilTrue(what, isTrue) {
  const started = performance.now()
  while (!(await isTrue())) {
    if (performance.now() - started > 30_000) throw new Error(`not within 30 s: ${what}`)
    await sleep(50)
  }
  return (performance.now() - started) / 1000
}

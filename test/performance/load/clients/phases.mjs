import { setTimeout as sleep } from 'node:timers/promises'
import { ask, createTally } from './crowd.mjs'

/**
 * Sends requests through several phases. A response must be allowed in the phase of its request.
 * When the phase has changed in between, the response must be allowed in the phase `changing`.
 * @param next returns the next request
 * @param allowed returns the allowed statuses for a request's `kind` and a phase
 */
export function loadThrough({ size, next, allowed, pauseMs }) {
  let phase = 'changing'
  let running = true
  let tally = createTally()
  const all = createTally()

  const judge = (asked, answer) => {
    const now = asked.phase === phase ? phase : 'changing'
    if (now !== 'changing') tally.add(asked.kind, answer.status)
    const fault = faultOf(asked, answer, allowed(asked.kind, now))
    if (fault && now !== 'changing') tally.blame(asked.kind, fault)
    return fault && `${now}: ${fault}`
  }
  const one = async () => {
    while (running) {
      const asked = { ...next(), phase }
      await ask(asked, asked.send, all, judge)
      await sleep(pauseMs)
    }
  }
  const over = Promise.all(Array.from({ length: size }, one))
  const enter = (name) => {
    tally = createTally()
    phase = name
    return tally
  }
  return {
    /** Starts a phase. Returns the tally of its responses. */
    enter,
    /** Runs a phase for a time. Returns the tally of its responses. */
    async during(name, forMs) {
      const found = enter(name)
      await sleep(forMs)
      enter('changing')
      return found
    },
    async stop() {
      running = false
      await over
      return all
    },
  }
}

/** Returns what is wrong with a response. A 200 must also have the right body. */
function faultOf(asked, answer, statuses) {
  if (!statuses.includes(answer.status)) return `${answer.status} instead of ${statuses.join(' or ')}`
  return answer.status === 200 ? asked.check(answer) : undefined
}

/** Waits until the condition is true. Returns the duration in seconds. */
export async function untilTrue(what, isTrue, patienceMs = 30_000) {
  const started = performance.now()
  while (!(await isTrue())) {
    if (performance.now() - started > patienceMs) throw new Error(`not within ${patienceMs / 1000} s: ${what}`)
    await sleep(50)
  }
  return (performance.now() - started) / 1000
}

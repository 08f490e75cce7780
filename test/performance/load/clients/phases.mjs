import { setTimeout as sleep } from 'node:timers/promises'
import { ask, createTally } from './crowd.mjs'

/**
 * A load that goes on through several phases. An answer is judged by the phase that it was asked and answered in; by what may be
 * at any time where another phase began meanwhile.
 * @param next gives what to ask; `allowed(kind, phase)` what may be answered; both by a request's `kind`
 * @returns what changes the phase, each time with a tally of its own, and what ends the load
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
    /** @returns the tally of what is asked and answered from now on, until the next phase */
    enter,
    /** @returns the answers to what was asked and answered within the phase */
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

/** A `200` must also be the right one. */
function faultOf(asked, answer, statuses) {
  if (!statuses.includes(answer.status)) return `${answer.status} instead of ${statuses.join(' or ')}`
  return answer.status === 200 ? asked.check(answer) : undefined
}

/** How long until something is so, in seconds. */
export async function untilTrue(what, isTrue, patienceMs = 30_000) {
  const started = performance.now()
  while (!(await isTrue())) {
    if (performance.now() - started > patienceMs) throw new Error(`not within ${patienceMs / 1000} s: ${what}`)
    await sleep(50)
  }
  return (performance.now() - started) / 1000
}

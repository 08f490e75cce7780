import { startLoad } from '../servers/load.mjs'
import { inRounds } from './rounds.mjs'
import { median, medianWithInterval } from './stats.mjs'

/** Milliseconds that each question is asked for when its server is new. */
const WARM_UP = 150
/** Short, so that what slows the machine down for a while meets both of a pair. */
const SLICE = 35
/** With fewer, slices differ more: now the requests come one by one, and now in bursts. */
const CONNECTIONS = 64

/**
 * Measures variants that are two questions each, put to one server process in turn: two processes of one program differ by more
 * than a guard takes.
 * @param pairs how many a turn has, the same for all: a process that wakes is slow at first. An even number, so that either question is
 *   as often the first
 * @param variants each with a name and its servers, which have a turn each in every round. A server has `questions`, the base and
 *   what is held against it, `lists` of what they ask with, and a `server` to `ask`, which tells the processor time that it has used
 * @returns the pairs of all rounds by the variants' names; of each question the answers per second, and microseconds of the server's
 *   processor time for each
 */
export async function inPairs(rounds, pairs, variants) {
  const turns = variants.flatMap(({ name, servers, warmUp = WARM_UP }) =>
    servers.map((server, copy) => ({ ...server, name: `${name}, copy ${copy}`, of: name, warmUp })),
  )
  const load = await startLoad(
    turns.map(({ port }) => port),
    CONNECTIONS,
  )
  for (const { lists, questions, warmUp } of turns) {
    for (const [list, tokens] of lists) await load.remember(list, tokens)
    for (const question of questions) await load.run(question, warmUp)
  }

  async function slice(server, question) {
    const before = await server.ask({})
    const { perSecond, total } = await load.run(question, SLICE)
    const after = await server.ask({})
    return { perSecond, processor: (after.user + after.system - before.user - before.system) / total }
  }

  const measured = await inRounds(rounds, turns, async ({ server, questions }) => {
    const taken = []
    while (taken.length < pairs) {
      const pair = []
      for (const at of taken.length % 2 ? [1, 0] : [0, 1]) pair[at] = await slice(server, questions[at])
      taken.push({ base: pair[0], held: pair[1] })
    }
    return taken
  })
  load.stop()
  for (const { server } of turns) server.child.disconnect()

  return Object.fromEntries(
    variants.map(({ name }) => [
      name,
      turns.filter(({ of }) => of === name).flatMap((turn) => measured[turn.name].flat()),
    ]),
  )
}

/** What pairs come to: the median of what `value` takes of each, and the interval that holds the true one at 95 %. */
export const ofPairs = (pairs, value) => medianWithInterval(pairs.map(value))

/** How many times the one is the other; at worst and at best where both are at the ends of their intervals. */
export const quotientOf = (one, other) => ({
  median: one.median / other.median,
  low: one.low / other.high,
  high: one.high / other.low,
})

export const medianOf = (pairs, value) => median(pairs.map(value))

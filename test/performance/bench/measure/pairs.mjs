import { median, medianWithInterval } from '../../stats.mjs'
import { startLoad } from '../servers/load.mjs'
import { inRounds } from './rounds.mjs'

/** Milliseconds of warm-up for each request kind on a new server. */
const WARM_UP = 150
/** Short slices, so that a disturbance of the machine affects both slices of a pair. */
const SLICE = 35
/** The number of connections. Fewer connections make slices differ more, because requests come now one by one and now in bursts. */
const CONNECTIONS = 64

/**
 * Measures variants of two request kinds each, in turn, on the same server process. Two processes of one program differ by more than
 * a guard costs.
 * @param pairs number of pairs for each server and round, equal for all variants, because a process is slow after a pause. An even number, so that
 *   each request kind is equally often the first
 * @param variants each with a name and its servers. Each server runs once in a round. A server has `questions` (the base, and the
 *   request kind to compare), `lists` of their tokens, and a `server` to `ask` for its processor time
 * @returns the pairs of all rounds by the names of the variants. Each pair has, for both request kinds, the responses per second and
 *   the microseconds of processor time for each response
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

/** Returns the median of a value over all pairs, and its 95 % confidence interval. */
export const ofPairs = (pairs, value) => medianWithInterval(pairs.map(value))

/** Returns the ratio of two medians, and its bounds from the ends of both intervals. */
export const quotientOf = (one, other) => ({
  median: one.median / other.median,
  low: one.low / other.high,
  high: one.high / other.low,
})

export const medianOf = (pairs, value) => median(pairs.map(value))

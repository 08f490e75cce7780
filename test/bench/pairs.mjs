import { startLoad } from './load.mjs'
import { inRounds } from './rounds.mjs'
import { median, summary } from './stats.mjs'

const WARM_UP = 200
/** Short, so that what slows the machine down for a while meets both of a pair. */
const SLICE = 40

/**
 * Measures variants that are two questions each, put to one server process in turn: two processes of one program differ by more
 * than a guard takes.
 * @param variants each with a name, its servers, and how many pairs a round has for each of them. A server has `questions`, the base
 *   and what is held against it, and `ask`, which tells the processor time that it has used
 * @returns the pairs by the variants' names, round by round; of each question the answers per second, and microseconds of the server's
 *   processor time for each
 */
export async function inPairs(rounds, variants) {
  const turns = variants.flatMap(({ name, servers, pairs }) =>
    servers.map((server, copy) => ({ ...server, name: `${name}, copy ${copy}`, of: name, pairs })),
  )
  const load = await startLoad(...new Set(turns.map(({ port }) => port)))
  for (const turn of turns) {
    for (const [list, tokens] of turn.lists) await load.remember(list, tokens)
    for (const question of turn.questions) await load.run(question, WARM_UP)
  }

  async function slice(server, question) {
    const before = await server.ask({})
    const { perSecond, total } = await load.run(question, SLICE)
    const after = await server.ask({})
    return { perSecond, processor: (after.user + after.system - before.user - before.system) / total }
  }

  const measured = await inRounds(rounds, turns, async ({ server, questions: [base, held], pairs }) => {
    const taken = []
    for (let i = 0; i < pairs; i++) {
      // Neither is always the one that comes second.
      const first = await slice(server, i % 2 ? held : base)
      const second = await slice(server, i % 2 ? base : held)
      taken.push(i % 2 ? { base: second, held: first } : { base: first, held: second })
    }
    return taken
  })
  load.stop()
  for (const { server } of turns) server.child.disconnect()

  const roundOf = (name, round) => turns.filter(({ of }) => of === name).flatMap((turn) => measured[turn.name][round])
  return Object.fromEntries(
    variants.map(({ name }) => [name, Array.from({ length: rounds }, (_, round) => roundOf(name, round))]),
  )
}

/**
 * What pairs come to: the median of all of them, and the middle half of the rounds as the spread.
 * @param value what is taken of a pair
 */
export function ofPairs(rounds, value) {
  const byRound = rounds.map((pairs) => median(pairs.map(value)))
  return { ...summary(byRound), median: median(rounds.flat().map(value)), byRound }
}

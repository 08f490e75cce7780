const KEPT_EXAMPLES = 5

/** Counts answers by their kind and status, and remembers the first ways in which any was wrong. */
export function createTally() {
  const counts = new Map()
  const examples = []
  let wrong = 0
  let total = 0
  return {
    add(kind, status) {
      total++
      const key = `${kind} ${status}`
      counts.set(key, (counts.get(key) ?? 0) + 1)
    },
    blame(kind, fault) {
      wrong++
      const example = `${kind}: ${fault}`
      if (examples.length < KEPT_EXAMPLES && !examples.includes(example)) examples.push(example)
    },
    total: () => total,
    wrong: () => wrong,
    examples: () => examples,
    counts: () => Object.fromEntries([...counts].sort()),
    /** How many answers there were of a kind, with one status or with any. */
    of: (kind, status = '') =>
      [...counts].reduce((sum, [key, count]) => (key.startsWith(`${kind} ${status}`) ? sum + count : sum), 0),
  }
}

const ownCheck = (asked, answer) => asked.check(answer)

/**
 * Sends one request, counts its answer, and blames what is wrong with it.
 * @param asked as `requests.mjs` makes it
 * @param judge looks at the answer; by default the request's own check
 */
export async function ask(asked, send, tally, judge = ownCheck) {
  const { kind, request } = asked
  try {
    const answer = await send(request)
    tally.add(kind, answer.status)
    const fault = judge(asked, answer)
    if (fault) tally.blame(kind, fault)
    return answer
  } catch (error) {
    tally.add(kind, error.code ?? 'failed')
    tally.blame(kind, error.code ?? error.message)
  }
}

/**
 * Has as many at work at a time as are told, each with a request after the other, until there is no next one.
 * @param next gives what to ask, and `send` for it where not all are sent by the same client; undefined ends it
 */
export async function crowd({ size, send, next, tally, judge }) {
  async function one() {
    for (let asked = next(); asked; asked = next()) await ask(asked, asked.send ?? send, tally, judge)
  }
  await Promise.all(Array.from({ length: size }, one))
}

/** One after the other, from the start again at the end. */
export function inTurn(items) {
  let at = 0
  return () => items[at++ % items.length]
}

/** So many of what `make` gives. */
export function times(count, make) {
  let left = count
  return () => (left-- > 0 ? make() : undefined)
}

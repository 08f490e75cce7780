const KEPT_EXAMPLES = 5

/** Counts responses by kind and status, and keeps the first examples of wrong ones. */
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
    /** Returns the number of responses of a kind, with one status or with any. */
    of: (kind, status = '') =>
      [...counts].reduce((sum, [key, count]) => (key.startsWith(`${kind} ${status}`) ? sum + count : sum), 0),
  }
}

const ownCheck = (asked, answer) => asked.check(answer)

/**
 * Sends one request, counts its response, and records a wrong one.
 * @param asked a request from `requests.mjs`
 * @param judge returns what is wrong with the response. Default: the request's own check
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
 * Runs this many clients. Each sends one request after the other until `next` returns undefined.
 * @param next returns the next request, with its own `send` if it needs another client
 */
export async function crowd({ size, send, next, tally, judge }) {
  async function one() {
    for (let asked = next(); asked; asked = next()) await ask(asked, asked.send ?? send, tally, judge)
  }
  await Promise.all(Array.from({ length: size }, one))
}

/** Returns a function that returns the items in turn, again and again. */
export function inTurn(items) {
  let at = 0
  return () => items[at++ % items.length]
}

/** Returns a function that calls `make` this many times, and then returns undefined. */
export function times(count, make) {
  let left = count
  return () => (left-- > 0 ? make() : undefined)
}

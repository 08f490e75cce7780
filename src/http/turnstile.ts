/**
 * Lets so many through in one turn of the event loop, and has the others wait for the next ones, in their order. A flood then
 * takes a share of each turn instead of a whole one, and the app's other routes go on in between.
 */
export function createTurnstile(perTurn: number): () => Promise<void> | undefined {
  const waiting: (() => void)[] = []
  let passed = 0

  function nextTurn(): void {
    const through = waiting.splice(0, perTurn)
    passed = through.length
    for (const pass of through) pass()
    if (passed > 0) setImmediate(nextTurn)
  }

  return () => {
    if (passed === 0) setImmediate(nextTurn)
    if (passed < perTurn && waiting.length === 0) {
      passed++
      return undefined
    }
    return new Promise((resolve) => waiting.push(resolve))
  }
}

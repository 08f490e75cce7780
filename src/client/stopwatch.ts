/** Returns the milliseconds since its creation. */
export type Stopwatch = () => number

/**
 * Starts a stopwatch. Of two clocks it takes the one that has moved more: the steady clock stops while some machines sleep, and the
 * other clock can be set back.
 */
export function startStopwatch(): Stopwatch {
  const [wall, steady] = [Date.now(), performance.now()]
  return () => Math.max(Date.now() - wall, performance.now() - steady)
}

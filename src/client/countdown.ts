/** The longest time of `setTimeout`, 24 days. */
export const LONGEST_TIMER = 2 ** 31 - 1

/** Returns the milliseconds that are left. Negative after the end. */
export type Countdown = () => number

/**
 * Starts a countdown. Of two clocks it takes the one that has moved more: the steady clock stops while some machines sleep, and the
 * other clock can be set back.
 */
export function startCountdown(ms: number): Countdown {
  const wall = Date.now()
  const steady = performance.now()
  return () => ms - Math.max(Date.now() - wall, performance.now() - steady)
}

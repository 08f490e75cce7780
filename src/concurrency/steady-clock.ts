/** Creates a clock that stops when the given clock is set back, and continues from the next reading. */
export function steadyClock(clock: () => number): () => number {
  let last = Number.NEGATIVE_INFINITY
  let lost = 0
  return () => {
    const read = clock()
    lost += Math.max(0, last - read)
    last = read
    return read + lost
  }
}

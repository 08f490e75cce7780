/**
 * Tells how long an answer is to wait, in milliseconds, so that answers do not follow each other faster than `every` once
 * there have been `burst` at a stretch. Who asks again as soon as it is answered is slowed down by that. No answer waits
 * for longer than `most`.
 */
export function createPacer(every: number, burst: number, most: number, now = () => performance.now()): () => number {
  let last = -Infinity
  return () => {
    const time = now()
    last = Math.min(Math.max(last, time - burst * every) + every, time + most)
    return Math.max(0, last - time)
  }
}

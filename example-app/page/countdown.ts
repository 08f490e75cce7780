const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

const pad = (value: number) => String(value).padStart(2, '0')

/** Formats the time left with its two largest units. Rounds up, so that zero means that no time is left. */
export function timeLeftText(ms: number): string {
  const left = Math.max(0, Math.ceil(ms / SECOND)) * SECOND
  const [days, hours] = [Math.floor(left / DAY), Math.floor((left % DAY) / HOUR)]
  const [minutes, seconds] = [Math.floor((left % HOUR) / MINUTE), (left % MINUTE) / SECOND]
  if (days > 0) return `${days} d ${pad(hours)} h`
  if (hours > 0) return `${hours} h ${pad(minutes)} min`
  return minutes > 0 ? `${minutes} min ${pad(seconds)} s` : `${seconds} s`
}

export interface Countdown {
  tick: (leftMs: number) => void
  end: () => void
}

/**
 * Counts down by the clock, so that the time is correct after the machine has slept.
 * @returns a function that stops the countdown
 */
export function runDown(endsAt: number, { tick, end }: Countdown): () => void {
  let timer: ReturnType<typeof setTimeout>
  const step = () => {
    const left = endsAt - Date.now()
    if (left <= 0) return end()
    tick(left)
    timer = setTimeout(step, left % SECOND || SECOND)
  }
  step()
  return () => clearTimeout(timer)
}

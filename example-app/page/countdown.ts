const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

const pad = (value: number) => String(value).padStart(2, '0')

/** The two greatest units: seconds are not counted beside days. Zero only when nothing is left. */
export function timeLeftText(ms: number): string {
  const left = Math.max(0, Math.ceil(ms / SECOND)) * SECOND
  const [days, hours] = [Math.floor(left / DAY), Math.floor((left % DAY) / HOUR)]
  const [minutes, seconds] = [Math.floor((left % HOUR) / MINUTE), (left % MINUTE) / SECOND]
  if (days > 0) return `${days} d ${pad(hours)} h`
  if (hours > 0) return `${hours} h ${pad(minutes)} min`
  return minutes > 0 ? `${minutes} min ${pad(seconds)} s` : `${seconds} s`
}

/** The last one is when the page shows that the end is near. */
export const SOON_MS = MINUTE

const MILESTONES = [
  { at: 5 * MINUTE, text: 'Five minutes left until the token expires.' },
  { at: SOON_MS, text: 'One minute left until the token expires.' },
]

/** What is worth interrupting a listener for, between two moments. Of several, the last. */
export function milestoneText(leftBefore: number, leftNow: number): string | undefined {
  return MILESTONES.findLast(({ at }) => leftBefore > at && leftNow <= at)?.text
}

export interface Countdown {
  tick: (leftMs: number) => void
  milestone: (text: string) => void
  end: () => void
}

/**
 * Counts down by the clock, so that a machine that slept in between is right at once when it wakes.
 * @returns stops it
 */
export function runDown(endsAt: number, { tick, milestone, end }: Countdown): () => void {
  let before = endsAt - Date.now()
  let timer: ReturnType<typeof setTimeout>
  const step = () => {
    const left = endsAt - Date.now()
    if (left <= 0) return end()
    tick(left)
    const text = milestoneText(before, left)
    if (text !== undefined) milestone(text)
    before = left
    timer = setTimeout(step, left % SECOND || SECOND)
  }
  step()
  return () => clearTimeout(timer)
}

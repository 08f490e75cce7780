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

/** Announcements before the end. At the last one, the page highlights the countdown. */
export const SOON_MS = MINUTE

const MILESTONES = [
  { at: 5 * MINUTE, text: 'Five minutes left until the token expires.' },
  { at: SOON_MS, text: 'One minute left until the token expires.' },
]

/** Returns the last announcement between two times. Screen readers interrupt the user to read it. */
export function milestoneText(leftBefore: number, leftNow: number): string | undefined {
  return MILESTONES.findLast(({ at }) => leftBefore > at && leftNow <= at)?.text
}

export interface Countdown {
  tick: (leftMs: number) => void
  milestone: (text: string) => void
  end: () => void
}

/**
 * Counts down by the clock, so that the time is correct after the machine has slept.
 * @returns a function that stops the countdown
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

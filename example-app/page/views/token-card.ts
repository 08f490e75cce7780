import { runDown, timeLeftText } from '../countdown.js'
import { claimRows, claimsOf } from '../token-claims.js'
import { byId, element } from './dom.js'

/** Shows the claims of the token. Never shows the token. */
export function showClaims(token: string): void {
  const rows = claimRows(claimsOf(token)).map(({ name, meaning, text }) =>
    element(
      'div',
      {},
      element('dt', {}, ...(meaning ? [`${meaning} `] : []), element('code', {}, name)),
      element('dd', {}, text),
    ),
  )
  byId('claims', HTMLDListElement).replaceChildren(...rows)
}

/**
 * Shows the time left.
 * @param endsAt the expiration by this machine's clock, in milliseconds
 * @returns a function that stops the countdown
 */
export function showTimeLeft(endsAt: number, onExpired: () => void): () => void {
  const countdown = byId('countdown', HTMLSpanElement)
  const bar = byId('time-left', HTMLProgressElement)
  const clock = byId('expires-at', HTMLTimeElement)
  const end = new Date(endsAt)
  clock.dateTime = end.toISOString()
  clock.textContent = end.toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'medium' })
  bar.max = endsAt - Date.now()
  return runDown(endsAt, {
    tick(left) {
      countdown.textContent = timeLeftText(left)
      bar.value = left
    },
    end: onExpired,
  })
}

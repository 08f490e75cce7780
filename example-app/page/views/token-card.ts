import { runDown, SOON_MS, timeLeftText } from '../countdown.js'
import type { Session } from '../session.js'
import { claimRows } from '../token-claims.js'
import { announce } from './announcer.js'
import { byId, element } from './dom.js'

/**
 * Shows the claims of the token and the time left. Never shows the token.
 * @returns a function that stops the countdown
 */
export function showToken(session: Session, onExpired: () => void): () => void {
  const { claims, expiration, lifetimeMs, endsAt } = session
  const countdown = byId('countdown', HTMLSpanElement)
  const bar = byId('time-left', HTMLProgressElement)
  const clock = byId('expires-at', HTMLTimeElement)
  clock.dateTime = expiration
  // Uses this machine's clock, which the user sees.
  clock.textContent = new Date(endsAt).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'medium' })
  bar.max = lifetimeMs
  const rows = claimRows(claims).map(({ name, meaning, text }) =>
    element(
      'div',
      {},
      element('dt', {}, ...(meaning ? [`${meaning} `] : []), element('code', {}, name)),
      element('dd', {}, text),
    ),
  )
  byId('claims', HTMLDListElement).replaceChildren(...rows)

  return runDown(endsAt, {
    tick(left) {
      countdown.textContent = timeLeftText(left)
      countdown.classList.toggle('soon', left <= SOON_MS)
      bar.value = left
    },
    milestone: announce,
    end: onExpired,
  })
}

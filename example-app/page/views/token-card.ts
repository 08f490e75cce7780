import { claimRows } from '../claims.js'
import { runDown, SOON_MS, timeLeftText } from '../countdown.js'
import type { Session } from '../session.js'
import { announce } from './announcer.js'
import { byId, element } from './dom.js'

/**
 * Shows what the token says, and its time running down. Never the token.
 * @returns stops the time
 */
export function showToken(session: Session, onExpired: () => void): () => void {
  const { claims, expiration, lifetimeMs, endsAt } = session
  const countdown = byId('countdown', HTMLSpanElement)
  const bar = byId('time-left', HTMLProgressElement)
  const clock = byId('expires-at', HTMLTimeElement)
  clock.dateTime = expiration
  // By this machine's clock, which is the one that its owner looks at.
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

import { byId, element } from './dom.js'

/** The number of announcements in the page. Screen readers must read both of two that appear together. */
const KEPT = 8

/** Announces an event of the page to screen readers. */
export function announce(text: string): void {
  const region = byId('announcements', HTMLDivElement)
  region.append(element('p', {}, text))
  while (region.childElementCount > KEPT) region.firstElementChild?.remove()
}

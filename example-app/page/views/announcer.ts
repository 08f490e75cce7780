import { byId, element } from './dom.js'

/** How many are kept: two that come at the same moment are both to be read out. */
const KEPT = 4

/** Tells those who listen to the page what others see happen. */
export function announce(text: string): void {
  const region = byId('announcements', HTMLDivElement)
  region.append(element('p', {}, text))
  while (region.childElementCount > KEPT) region.firstElementChild?.remove()
}

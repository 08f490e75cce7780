import { byId } from './dom.js'

const NAME = document.title

const parts = (ids: readonly string[]) => ids.map((id) => byId(id, HTMLElement))
const SIGNED_OUT = parts(['sign-in'])
const SIGNED_IN = parts(['account', 'who'])

function toggle(signedIn: boolean): void {
  for (const part of SIGNED_OUT) part.hidden = signedIn
  for (const part of SIGNED_IN) part.hidden = !signedIn
}

export function showSignedIn(email: string): void {
  byId('who-email', HTMLElement).textContent = email
  toggle(true)
  document.title = `Your account – ${NAME}`
  byId('account-title', HTMLHeadingElement).focus()
}

/** Shows neither the form nor an account. */
export function showOpening(): void {
  for (const part of SIGNED_OUT) part.hidden = true
}

/** Removes the data of the session. The caller moves the focus. */
export function showSignedOut(): void {
  byId('who-email', HTMLElement).textContent = ''
  byId('claims', HTMLDListElement).replaceChildren()
  byId('announcements', HTMLDivElement).replaceChildren()
  toggle(false)
  document.title = NAME
}

import { byId } from './dom.js'

const NAME = document.title

/** The parts of the page, of which one is shown. */
const VIEWS = ['sign-in', 'card', 'account'] as const

function show(view?: (typeof VIEWS)[number]): void {
  for (const id of VIEWS) byId(id, HTMLElement).hidden = id !== view
  byId('who', HTMLElement).hidden = view !== 'account'
}

/** Shows the account. */
export function showSignedIn(email: string, message = ''): void {
  clearCard()
  byId('who-email', HTMLElement).textContent = email
  byId('account-message', HTMLElement).textContent = message
  show('account')
  document.title = `Your account – ${NAME}`
  byId('account-title', HTMLHeadingElement).focus()
}

/** Shows neither the form nor an account. */
export const showOpening = (): void => show()

/** Shows a part of the page that is made for the moment. The caller moves the focus. */
export function showCard(title: string, ...nodes: Node[]): void {
  byId('card-title', HTMLHeadingElement).textContent = title
  byId('card-body', HTMLDivElement).replaceChildren(...nodes)
  show('card')
  document.title = `${title} – ${NAME}`
}

function clearCard(): void {
  byId('card-title', HTMLHeadingElement).textContent = 'Your mail'
  byId('card-body', HTMLDivElement).replaceChildren()
}

/** Removes the data of the session. The caller moves the focus. */
export function showSignedOut(): void {
  clearCard()
  for (const id of ['who-email', 'account-message']) byId(id, HTMLElement).textContent = ''
  byId('claims', HTMLDListElement).replaceChildren()
  byId('announcements', HTMLDivElement).replaceChildren()
  show('sign-in')
  document.title = NAME
}

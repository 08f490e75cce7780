import { askForMail, followLink, type MailKind } from '../account-calls.js'
import type { PageClient } from '../client.js'
import type { Link, LinkKind } from '../links.js'
import { problemOf } from '../problems.js'
import { element } from './dom.js'
import { createForm, type Field } from './form.js'
import { showCard } from './views.js'

const EMAIL: Field = {
  name: 'email',
  label: 'Email',
  type: 'email',
  autocomplete: 'username',
  missing: 'Enter your email address.',
}

/** The input of a new password. */
export const NEW_PASSWORD: Field = {
  name: 'newPassword',
  label: 'New password',
  type: 'password',
  autocomplete: 'new-password',
  missing: 'Enter a new password.',
  hint: 'At least 15 characters, for example four words.',
}

const MAIL_TITLES: Readonly<Record<MailKind, string>> = {
  'sign-up': 'Create an account',
  'password-reset': 'Choose a new password',
  'sign-in': 'Email me a link',
}

/** The title, the text and the button of the card that a link opens. */
const LINK_TEXTS: Readonly<Record<LinkKind, readonly [title: string, text: string, button: string]>> = {
  'sign-up': ['Create your account', 'Choose a password. Then you are signed in.', 'Create the account'],
  'password-reset': ['Choose a new password', 'A new password signs out all your devices.', 'Set the password'],
  'sign-in': ['Welcome back', 'Your mail signs you in on this device.', 'Continue'],
  'new-address': ['Confirm your new address', 'Then you sign in with the new address.', 'Confirm the address'],
}

/** Says where the mails of the demo are. */
export const mailBoxHint = (): HTMLElement =>
  element(
    'p',
    { class: 'quiet' },
    'The demo sends no mail. Read it in the ',
    element('a', { href: 'mailbox' }, 'mailbox'),
    '.',
  )

function backButton(back: () => void): HTMLButtonElement {
  const button = element('button', { type: 'button' }, 'Back')
  button.addEventListener('click', back)
  return button
}

/** Shows the form that asks for a mail. */
export function showMailCard(client: PageClient, kind: MailKind, back: () => void): void {
  const form = createForm({
    id: 'mail',
    fields: [EMAIL],
    button: 'Send the mail',
    busy: 'Sending …',
    async submit({ email = '' }) {
      try {
        await askForMail(client, kind, email)
      } catch (error) {
        return problemOf(error)
      }
      form.say(
        kind === 'sign-up'
          ? `A mail to ${email} is on its way. Open its link.`
          : `If ${email} has an account, a mail is on its way. Open its link.`,
        'done',
      )
      return undefined
    },
  })
  showCard(MAIL_TITLES[kind], form.node, mailBoxHint(), backButton(back))
  form.reset()
}

/**
 * Shows what the link of a mail is for. Only a press of its button uses the code up, because scanners of mails open links too.
 * @param done called after a success
 */
export function showLinkCard(client: PageClient, link: Link, done: () => Promise<void>, back: () => void): void {
  const [title, text, button] = LINK_TEXTS[link.kind]
  const setsPassword = link.kind === 'sign-up' || link.kind === 'password-reset'
  const form = createForm({
    id: 'link',
    fields: setsPassword ? [NEW_PASSWORD] : [],
    button,
    busy: 'One moment …',
    async submit({ newPassword = '' }) {
      try {
        await followLink(client, link, newPassword)
        await done()
        return undefined
      } catch (error) {
        // The question for a code has replaced the card.
        open()
        return problemOf(error)
      }
    },
  })
  const open = () => showCard(title, element('p', {}, text), form.node, backButton(back))
  open()
  form.reset()
}

import type { Tone } from '../messages.js'
import type { Problem } from '../problems.js'
import { byId } from './dom.js'
import { wireForm } from './form.js'

export interface SignInForm {
  /** Shows the form again after a session, with or without the email address. */
  open(message: string, tone: Tone, email?: string): void
  /** Returns whether the user wants to stay signed in on this device. */
  remembers(): boolean
}

/** Shows a message in place of the sign-in. */
export function closeSignInForm(text: string): void {
  const message = byId('sign-in-message', HTMLParagraphElement)
  message.dataset['tone'] = 'problem'
  message.textContent = text
  // A disabled button also keeps the Enter key from sending the form.
  byId('sign-in-button', HTMLButtonElement).disabled = true
}

/** @param submit resolves with the problem, or with undefined after a sign-in */
export function createSignInForm(
  submit: (email: string, password: string, remember: boolean) => Promise<Problem | undefined>,
): SignInForm {
  const remember = byId('remember', HTMLInputElement)
  const form = wireForm(
    {
      form: byId('sign-in-form', HTMLFormElement),
      message: byId('sign-in-message', HTMLParagraphElement),
      button: byId('sign-in-button', HTMLButtonElement),
    },
    {
      busy: 'Signing in …',
      missing: { email: 'Enter your email address.', password: 'Enter your password.' },
      submit: ({ email = '', password = '' }) => submit(email, password, remember.checked),
    },
  )
  return {
    remembers: () => remember.checked,
    open(text, tone, email = '') {
      form.say(text, tone)
      form.reset({ email }, email === '' ? 'email' : 'password')
    },
  }
}

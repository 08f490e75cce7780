import type { Tone } from '../messages.js'
import { byId } from './dom.js'

export interface SignInForm {
  /** Shows the form again after a session, with or without the e-mail address. */
  open(message: string, tone: Tone, email?: string): void
}

export interface Problem {
  text: string
  /** True when the user has to change the input. */
  isMistake: boolean
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
  const form = byId('sign-in-form', HTMLFormElement)
  const email = byId('email', HTMLInputElement)
  const password = byId('password', HTMLInputElement)
  const remember = byId('remember', HTMLInputElement)
  const button = byId('sign-in-button', HTMLButtonElement)
  const message = byId('sign-in-message', HTMLParagraphElement)

  const say = (text: string, tone: Tone) => {
    message.dataset['tone'] = tone
    message.textContent = text
  }
  const complainAbout = (input: HTMLInputElement, text: string) => {
    say(text, 'problem')
    input.ariaInvalid = 'true'
    input.focus()
  }
  const setBusy = (busy: boolean) => {
    // Does not disable the button, because a disabled button loses the focus.
    button.ariaDisabled = String(busy)
    button.textContent = busy ? 'Signing in …' : 'Sign in'
  }

  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    if (button.ariaDisabled === 'true') return
    for (const input of [email, password]) input.ariaInvalid = 'false'
    if (email.value === '') return complainAbout(email, 'Enter your e-mail address.')
    if (password.value === '') return complainAbout(password, 'Enter your password.')
    say('', 'note')
    setBusy(true)
    const problem = await submit(email.value, password.value, remember.checked)
    setBusy(false)
    if (problem === undefined) {
      password.value = ''
      return
    }
    if (!problem.isMistake) return say(problem.text, 'problem')
    complainAbout(password, problem.text)
    password.select()
  })

  return {
    open(text, tone, kept = '') {
      say(text, tone)
      email.value = kept
      password.value = ''
      for (const input of [email, password]) input.ariaInvalid = 'false'
      if (kept === '') email.focus()
      else password.focus()
    },
  }
}

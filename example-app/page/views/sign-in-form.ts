import type { Tone } from '../messages.js'
import { byId } from './dom.js'

export interface SignInForm {
  /** Shown again to whoever was signed in, with the address kept or not. */
  open(message: string, tone: Tone, email?: string): void
}

export interface Problem {
  text: string
  /** Whether what was typed in is to be changed. */
  isMistake: boolean
}

/** @param submit gives what went wrong; undefined when nothing did */
export function createSignInForm(
  submit: (email: string, password: string) => Promise<Problem | undefined>,
): SignInForm {
  const form = byId('sign-in-form', HTMLFormElement)
  const email = byId('email', HTMLInputElement)
  const password = byId('password', HTMLInputElement)
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
    // Not disabled: that would take the focus away from whoever pressed it.
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
    const problem = await submit(email.value, password.value)
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

import { CallError } from '../call-failure.js'
import type { CodeRequest } from '../client.js'
import { element } from './dom.js'
import { createForm, type Field } from './form.js'
import { showCard } from './views.js'

/** The input of a code of the authenticator app. */
export const OTP: Field = {
  name: 'otp',
  label: 'Code',
  type: 'text',
  autocomplete: 'one-time-code',
  missing: 'Enter the code of your authenticator app.',
}

/** The same input for a sign-in, which takes recovery codes too. */
export const OTP_OR_RECOVERY: Field = {
  ...OTP,
  hint: 'The six digits of your authenticator app. If you have lost it, enter a recovery code.',
}

/**
 * Asks for the code of the authenticator app. The caller replaces the view after the sign-in.
 * @throws CallError when the user cancels, or the sign-in is over
 */
export function askForCode({ refused, signal }: CodeRequest): Promise<{ otp: string }> {
  return new Promise((resolve, reject) => {
    const cancel = () => reject(new CallError({ kind: 'cancelled' }))
    signal?.addEventListener('abort', cancel, { once: true })
    const form = createForm({
      id: 'code',
      fields: [OTP_OR_RECOVERY],
      button: 'Continue',
      busy: 'Checking …',
      submit: ({ otp = '' }) => {
        resolve({ otp: otp.trim() })
        // The view is replaced by the account, or by this question again.
        return new Promise<undefined>(() => {})
      },
    })
    const back = element('button', { type: 'button' }, 'Back')
    back.addEventListener('click', cancel)
    showCard('Enter your code', form.node, back)
    form.reset()
    if (refused.code === 'wrong_code') form.say('The code is wrong. Each code works once.', 'problem')
  })
}

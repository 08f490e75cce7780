import type { CredentialsRequest, StepUpFields } from 'express-token-endpoint/client'
import { byId, element } from './dom.js'
import { createForm } from './form.js'

/** Creates the dialog that asks for the password again, for what needs a recent sign-in: `onStepUp` of the client. */
export function createStepUp() {
  const dialog = byId('step-up', HTMLDialogElement)
  const body = byId('step-up-body', HTMLDivElement)
  let answer = (_: StepUpFields | false) => {}
  // Without an earlier response, the user has cancelled, or the session is over.
  dialog.addEventListener('close', () => {
    body.replaceChildren()
    answer(false)
  })

  return function askAgain(_response: Response, { refused, signal }: CredentialsRequest) {
    return new Promise<StepUpFields | false>((resolve) => {
      answer = resolve
      signal.addEventListener('abort', () => dialog.close(), { once: true })
      const form = createForm({
        id: 'step-up',
        fields: [
          {
            name: 'password',
            label: 'Your password',
            type: 'password',
            autocomplete: 'current-password',
            missing: 'Enter your password.',
          },
        ],
        button: 'Confirm',
        busy: 'Confirming …',
        async submit({ password = '' }) {
          answer({ password })
          dialog.close()
          return undefined
        },
      })
      const cancel = element('button', { type: 'button' }, 'Cancel')
      cancel.addEventListener('click', () => dialog.close())
      body.replaceChildren(form.node, cancel)
      dialog.showModal()
      form.reset()
      if (refused) form.say('The password is wrong.', 'problem')
    })
  }
}

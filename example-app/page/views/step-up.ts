import type { CredentialsRequest, StepUpFields } from 'express-token-endpoint/client'
import { asksForCode } from '../call-failure.js'
import { problemOf } from '../problems.js'
import { OTP_OR_RECOVERY } from './code-form.js'
import { byId, element } from './dom.js'
import { createForm, type Field } from './form.js'

const PASSWORD: Field = {
  name: 'password',
  label: 'Your password',
  type: 'password',
  autocomplete: 'current-password',
  missing: 'Enter your password.',
}

/**
 * Creates the dialog that asks for the password again, for what needs a recent sign-in. `ask` is `onStepUp` of the client.
 * @param usePasskey asks for a passkey in place of the password. Undefined: the page has none
 */
export function createStepUp(usePasskey?: () => Promise<Credential | null>) {
  const dialog = byId('step-up', HTMLDialogElement)
  const body = byId('step-up-body', HTMLDivElement)
  let answer = (_: StepUpFields | false) => {}
  const wrong = usePasskey ? 'The password or the passkey is wrong.' : 'The password is wrong.'
  /** The password that waits for the code of the authenticator app. */
  let typed = ''
  // Without an earlier response, the user has cancelled, or the session is over.
  dialog.addEventListener('close', () => {
    body.replaceChildren()
    answer(false)
  })

  function ask(_response: Response, { refused, signal }: CredentialsRequest) {
    const needsCode = refused && asksForCode(refused)
    if (!needsCode) typed = ''
    return new Promise<StepUpFields | false>((resolve) => {
      answer = resolve
      signal.addEventListener('abort', () => dialog.close(), { once: true })
      const form = createForm({
        id: 'step-up',
        fields: [needsCode ? OTP_OR_RECOVERY : PASSWORD],
        button: 'Confirm',
        busy: 'Confirming …',
        async submit({ password = typed, otp }) {
          typed = password
          answer({ password, ...(otp !== undefined && { otp: otp.trim() }) })
          dialog.close()
          return undefined
        },
      })
      const cancel = element('button', { type: 'button' }, 'Cancel')
      cancel.addEventListener('click', () => dialog.close())
      const passkey = element('button', { type: 'button' }, 'Use a passkey')
      passkey.addEventListener('click', async () => {
        try {
          resolve({ passkey: await usePasskey?.() })
          dialog.close()
        } catch (error) {
          form.say(problemOf(error).text, 'problem')
        }
      })
      body.replaceChildren(form.node, ...(usePasskey && !needsCode ? [passkey] : []), cancel)
      dialog.showModal()
      form.reset()
      if (refused && refused.code !== 'code_required')
        form.say(needsCode ? 'The code is wrong. Each code works once.' : wrong, 'problem')
    })
  }

  const forget = () => {
    typed = ''
  }
  return { ask, forget }
}

import { TokenClientError } from 'express-token-endpoint/client'
import { CallError, failureOfError } from './call-failure.js'
import { callFailureText, tryAgain } from './messages.js'

/** A failure of what a form has sent. */
export interface Problem {
  text: string
  /** The name of the input that the user has to change. Undefined: another try may succeed with the same input. */
  at?: string
}

/** The problems that the routes of the account name by a code. */
const PROBLEMS: Readonly<Record<string, Problem>> = {
  invalid_code: { text: 'This link does not work any more. Ask for another mail.' },
  invalid_credentials: { text: 'This link does not work any more. Ask for another mail.' },
  invalid_email: { text: 'This is not a valid email address.', at: 'email' },
  address_taken: { text: 'Another account already uses this email address.' },
  wrong_code: { text: 'The code is wrong.', at: 'otp' },
  last_sign_in_method: { text: 'You need this passkey to sign in. Choose a password first.' },
  too_many_passkeys: { text: 'You have too many passkeys. Remove one first.' },
  too_many_api_keys: { text: 'You have 20 keys. Remove one first.' },
  insufficient_user_authentication: { text: 'Nothing has changed, because you did not confirm your password.' },
}

/**
 * Returns the problem for an error of the client.
 * @param own problems of one form, by the code of the server
 */
export function problemOf(error: unknown, own: Readonly<Record<string, Problem>> = {}): Problem {
  const { code = '', detail } =
    ((error instanceof TokenClientError || error instanceof CallError) && error.refused) || {}
  // The server names the number of characters.
  if (code === 'weak_password')
    return { text: detail ?? 'This password cannot be used. Choose a different password.', at: 'newPassword' }
  return own[code] ?? PROBLEMS[code] ?? { text: failureText(error) }
}

function failureText(error: unknown): string {
  if (error instanceof DOMException && error.name === 'InvalidStateError')
    return 'This device has a passkey of your account already.'
  if (error instanceof DOMException) return 'No passkey was used.'
  const failure = failureOfError(error)
  switch (failure.kind) {
    case 'throttled':
      return `Too many attempts. ${tryAgain(failure.seconds)}`
    case 'token-refused':
      return 'Sign in again. Your session has ended.'
    case 'unexpected':
      return `The clearing-house API sent an unexpected response (status ${failure.status}).`
    default:
      return callFailureText(failure, { what: 'account', api: 'clearing-house API' })
  }
}

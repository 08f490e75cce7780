import type { CallFailure } from './call-failure.js'

/** The reason why the page asks for a sign-in. */
export type End = 'refused' | 'signed-out' | 'forgotten' | 'removed' | 'reset' | 'must-confirm'

/** The style of a message: a failure, a success, or a note. */
export type Tone = 'problem' | 'done' | 'note'

export const END_TEXTS: Readonly<Record<End, string>> = {
  refused: 'Sign in again. Your session has ended, or your password has changed.',
  'signed-out': 'You are signed out. Your session has ended.',
  forgotten:
    'You are signed out here, but the page could not reach the server. It ends your session when you open it again.',
  removed: 'Your account is deleted.',
  reset: 'Your password is changed. Sign in with the new one.',
  'must-confirm': 'Sign in to confirm your new address.',
}

/** The message when the browser would send the password or the token over plain http. */
export const INSECURE_TEXT = 'This page needs https. With http it works only on the server’s own machine.'

export function signInFailureText(failure: CallFailure): string {
  switch (failure.kind) {
    case 'wrong-credentials':
      return 'Email or password is wrong.'
    case 'wrong-code':
      return 'Too many wrong codes. Sign in again.'
    case 'cancelled':
      return 'You are not signed in.'
    case 'throttled':
      return `Too many failed attempts. ${tryAgain(failure.seconds)}`
    case 'unavailable':
      return `You cannot sign in at the moment. ${tryAgain(failure.seconds)}`
    default:
      return callFailureText(failure, { what: 'token', api: 'clearing-house API' })
  }
}

export const END_TONES: Readonly<Record<End, Tone>> = {
  refused: 'note',
  'signed-out': 'done',
  forgotten: 'problem',
  removed: 'done',
  reset: 'done',
  'must-confirm': 'note',
}

export interface Call {
  /** The requested data, as in "Cannot load the …". */
  what: string
  api: string
}

export function callFailureText(failure: CallFailure, { what, api }: Call): string {
  switch (failure.kind) {
    case 'scope-missing':
      return `You may not see the ${what}${failure.scope ? `. Your token lacks the scope ${failure.scope}` : ''}.`
    case 'throttled':
    case 'unavailable':
      return `The ${api} is not available at the moment. ${tryAgain(failure.seconds)}`
    case 'unreachable':
      return `Cannot reach the ${api}. Check your connection. ${tryAgain(failure.seconds)}`
    case 'unexpected':
      return `Cannot load the ${what}. The ${api} sent an unexpected response (status ${failure.status}).`
    case 'wrong-credentials':
    case 'wrong-code':
    case 'cancelled':
    case 'token-refused':
      return `Cannot load the ${what}. The ${api} refused the request.`
  }
}

/** Returns a sentence with the time to wait, rounded up. */
export function tryAgain(seconds: number | undefined): string {
  if (seconds === undefined) return 'Try again later.'
  if (seconds <= 1) return 'Try again in a second.'
  if (seconds < 100) return `Try again in ${seconds} seconds.`
  return `Try again in ${Math.ceil(seconds / 60)} minutes.`
}

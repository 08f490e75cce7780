import type { Failure } from './failure.js'

/** Why somebody who was signed in is so no longer. */
export type End = 'expired' | 'refused' | 'signed-out' | 'forgotten'

/** How a message looks: something failed, something was done, or something is to be known. */
export type Tone = 'problem' | 'done' | 'note'

export const END_TEXTS: Readonly<Record<End, string>> = {
  expired: 'Your token has expired. Enter your password to go on.',
  refused:
    'Your token is no longer valid: it was signed out elsewhere, or the password is another by now. Sign in again.',
  'signed-out': 'You are signed out. The token works no more.',
  forgotten:
    'This page has forgotten your token, but the server could not be told: whoever has a copy can use it until it expires.',
}

export function signInFailureText(failure: Failure): string {
  switch (failure.kind) {
    case 'wrong-credentials':
      return 'E-mail or password is wrong.'
    case 'throttled':
      return `Too many failed attempts. ${tryAgain(failure.seconds)}`
    case 'unavailable':
      return `Signing in is not possible at the moment. ${tryAgain(failure.seconds)}`
    default:
      return callFailureText(failure, { what: 'token', api: 'clearing-house API' })
  }
}

export const END_TONES: Readonly<Record<End, Tone>> = {
  expired: 'note',
  refused: 'note',
  'signed-out': 'done',
  forgotten: 'problem',
}

export interface Call {
  /** What it was to bring, as in "there are no …". */
  what: string
  api: string
}

export function callFailureText(failure: Failure, { what, api }: Call): string {
  switch (failure.kind) {
    case 'scope-missing':
      return `This account has no permission for ${what}${failure.scope ? `: its token lacks the scope ${failure.scope}` : ''}.`
    case 'throttled':
    case 'unavailable':
      return `The ${api} cannot answer at the moment. ${tryAgain(failure.seconds)}`
    case 'unreachable':
      return `The ${api} cannot be reached. Check the connection, and try again.`
    case 'unexpected':
      return `No ${what}: the ${api} gave an answer that this page does not understand (status ${failure.status}).`
    case 'wrong-credentials':
    case 'token-refused':
      return `No ${what}: the ${api} refused.`
  }
}

/** Never too early: rounded up. */
export function tryAgain(seconds: number | undefined): string {
  if (seconds === undefined) return 'Try again later.'
  if (seconds <= 1) return 'Try again in a second.'
  if (seconds < 100) return `Try again in ${seconds} seconds.`
  return `Try again in ${Math.ceil(seconds / 60)} minutes.`
}

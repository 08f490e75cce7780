import { type AuthError, asRefusal, problemWith, withHeaders } from './auth-error.js'
import { type Part, REFUSALS, type Refusal } from './codes.js'
import { copyOfRefusal, isSignInRefusal, type SignInRefusal } from './sign-in-refusal.js'

/** The refusal of a token call: of this package, or of `beforeSignIn`. */
export type CallRefusal = AuthError | SignInRefusal

/** Returns the description of a refusal, from the table of codes where it has a row. */
export function rowOf(refusal: CallRefusal): Refusal {
  if (!isSignInRefusal(refusal)) return REFUSALS[refusal.code]
  const { status, message } = refusal
  return { status, message, by: ['token'] }
}

/** Returns the refusal of a token call that was thrown, see `asRefusal`. */
export const asCallRefusal = (part: Part, thrown: unknown): CallRefusal =>
  isSignInRefusal(thrown) ? thrown : asRefusal(part, thrown)

/** Returns the problem document of a refusal, which may be from another copy of this package. */
export const problemIn = (refusal: CallRefusal) => problemWith(rowOf(refusal).status, refusal.code, refusal.message)

/** Returns a copy of a refusal with other response headers. */
export const withOtherHeaders = <R extends CallRefusal>(refusal: R, headers: R['headers']): R =>
  (isSignInRefusal(refusal) ? copyOfRefusal(refusal, { headers }) : withHeaders(refusal, headers)) as R

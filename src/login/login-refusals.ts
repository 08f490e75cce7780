import { REFUSALS } from '../errors/codes.js'
import { anyBody, refusalsOf } from '../http/declaration.js'

/** The refusals of a login, by status. */
export const LOGIN_RESPONSES = {
  403: 'invalid_credentials',
  429: 'too_many_attempts',
  503: ['overloaded', 'unavailable'],
} as const

/** The refusals of a sign-in, also of one that has no endpoint of this package. */
export const LOGIN_REFUSALS = refusalsOf({
  responses: LOGIN_RESPONSES,
  body: anyBody({}, REFUSALS.invalid_body.message),
  origin: 'own with cookie',
  ofHost: true,
  events: 'token',
})

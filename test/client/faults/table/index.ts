import type { Fault } from '../fault.js'
import { api, callers } from './calls.js'
import { limits, malformed, refusals, retries, sharing } from './sign-in.js'

/** All faults by group. */
export const FAULTS: Readonly<Record<string, readonly Fault[]>> = {
  'One sign-in, before the token expires': sharing,
  'Try again later': retries,
  'Failed-login limits of accounts': limits,
  'Refused credentials': refusals,
  'Refusals of an API': api,
  'Malformed responses and broken connections': malformed,
  'Callers and apps': callers,
}

import type { Fault } from '../fault.js'
import { api } from './api.js'
import { callers } from './callers.js'
import { malformed } from './malformed.js'
import { refusals } from './refusals.js'
import { retries } from './retries.js'
import { sharing } from './sharing.js'

/** All faults by group. */
export const FAULTS: Readonly<Record<string, readonly Fault[]>> = {
  'One sign-in, before the token expires': sharing,
  'Try again later': retries,
  'Refused credentials': refusals,
  'Refusals of an API': api,
  'Malformed responses and broken connections': malformed,
  'Callers and apps': callers,
}

import type { Exhibit } from '../exhibit.js'
import { ALGORITHMS } from './algorithms.js'
import { CACHE } from './cache.js'
import { CLAIMS } from './claims.js'
import { ENUMERATION } from './enumeration.js'
import { KEYS } from './keys.js'
import { LOGIC } from './logic.js'
import { LOGIN } from './login.js'
import { PARSING } from './parsing.js'
import { REMOTE_KEYS } from './remote-keys.js'
import { THROTTLE } from './throttle.js'
import { UNSIGNED } from './unsigned.js'

/** The exhibits by family. */
export const HALLS: Record<string, Exhibit[]> = {
  'Algorithm confusion': ALGORITHMS,
  'Missing signatures': UNSIGNED,
  'Key handling': KEYS,
  'Remote keys': REMOTE_KEYS,
  'Claims and headers': CLAIMS,
  Parsing: PARSING,
  'Guard logic': LOGIC,
  'Caches and revocation': CACHE,
  Login: LOGIN,
  'User enumeration': ENUMERATION,
  'Failed-login limits': THROTTLE,
}

export const EXHIBITS = Object.values(HALLS).flat()

import type { Hall } from '../exhibit.js'
import { ACCOUNT_ROUTES } from './accounts.js'
import { CLAIMS } from './claims.js'
import { CACHE, LOGIC } from './guards.js'
import { KEYS, REMOTE_KEYS } from './keys.js'
import { ENUMERATION, LIMITS, LOGIN } from './logins.js'
import { REFRESH_TOKENS } from './refresh-tokens.js'
import { ALGORITHMS, PARSING, UNSIGNED } from './signatures.js'

/** The exhibits by family. */
export const HALLS: Record<string, Hall> = {
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
  'Failed-login limits': LIMITS,
  'Account routes': ACCOUNT_ROUTES,
  'Refresh tokens': REFRESH_TOKENS,
}

export const EXHIBITS = Object.values(HALLS).flatMap((exhibits) => Object.entries(exhibits))

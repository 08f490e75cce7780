import { brandOf } from '../options/brand.js'
import { checkThat } from '../options/read-options.js'
import { isPlainObject } from '../options/values.js'
import type { Sessions } from './sessions.js'

/** The option `sessions`. A copy has no marks, so it could not tell which issuers its tokens may have. */
export const sessionsOption = checkThat<Sessions>(
  'what createSessions() returned',
  (value) => brandOf('Sessions', value as object) !== undefined,
  (value) => (isPlainObject(value) && 'touch' in value ? 'Pass the store to createSessions() first' : ''),
)

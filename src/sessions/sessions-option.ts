import { checkThat } from '../options/read-options.js'
import { isPlainObject } from '../options/values.js'
import { isSessions } from './internals.js'
import type { Sessions } from './sessions.js'

/** The option `sessions`. */
export const sessionsOption = checkThat<Sessions>('what createSessions() returned', isSessions, (value) =>
  isPlainObject(value) && 'touch' in value ? 'Pass the store to createSessions() first' : '',
)

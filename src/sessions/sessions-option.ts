import { withMethods } from '../options/checks.js'
import { isPlainObject } from '../options/values.js'
import type { Sessions } from './sessions.js'

/** The option `sessions`: what `createSessions` returned. */
export const sessionsOption = withMethods<Sessions>(
  'what createSessions() returned',
  ['start', 'isEnded', 'list', 'end', 'endOthers', 'useFor'],
  (value) => (isPlainObject(value) && 'touch' in value ? 'Pass the store to createSessions() first' : ''),
)

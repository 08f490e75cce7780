import { withMethods } from '../shared/options/checks.js'
import { isPlainObject } from '../shared/values.js'
import type { Sessions } from './sessions.js'

/** The option `sessions`: what `createSessions` returned. */
export const sessionsOption = withMethods<Sessions>(
  'what createSessions() returned',
  ['start', 'isEnded', 'list', 'end', 'endOthers'],
  (value) => (isPlainObject(value) && 'touch' in value ? 'Pass the store to createSessions() first' : ''),
)

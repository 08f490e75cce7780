import { memoryCodes } from '../codes/memory-codes.js'
import { memoryFactors } from '../factors/memory-factors.js'
import { memorySessions } from '../sessions/memory-sessions.js'
import type { WholeStore } from './store.js'

/**
 * Creates a store in the memory of this process, for one process, tests and demos. A restart ends all sessions, codes
 * and factors. Expired ones leave it while new ones come.
 * @throws never
 */
export const memoryStore = (): WholeStore => ({
  sessions: memorySessions(),
  codes: memoryCodes(),
  factors: memoryFactors(),
})

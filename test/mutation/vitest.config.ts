import { defineConfig } from 'vitest/config'
import base from '../vitest.config.js'
import { ROOMS } from './rooms.mjs'

const room = ROOMS[process.env['MUTATION_ROOM'] ?? '']

/** The tests of one room, without the projects of the full run, because Stryker starts Vitest once for each mutant. */
export default defineConfig({
  ...base,
  test: {
    include: room?.tests ?? [],
    execArgv: base.test?.execArgv ?? [],
    pool: 'threads',
    reporters: [{}],
    testTimeout: 30_000,
  },
})

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { countLine, leaveCounts, leftCounts } from '../../support/runner/counts.mjs'

it('what several runs have counted is added up, and told in one line', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'counts-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const file = join(folder, 'counts')
  leaveCounts(file, { passed: 1, failed: 20, skipped: 300 })
  leaveCounts(file, { passed: 4000, failed: 0, skipped: 3 })
  expect(leftCounts(file)).toEqual({ passed: 4001, failed: 20, skipped: 303 })
  expect(countLine(leftCounts(file))).toBe('4001 passed, 20 failed, 303 skipped')
})

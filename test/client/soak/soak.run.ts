import { expect, it } from 'vitest'
import { soak } from './soak.js'

it('50 callers, tokens of two seconds', async () => {
  const result = await soak(Number(process.env['SECONDS_OF_SOAK'] ?? 600))
  process.stdout.write(`${JSON.stringify(result, null, 2)}\n`)
  expect(Object.keys(result.statuses)).toEqual(['200'])
  expect(result.signInsPerLifetime).toBeLessThanOrEqual(1.05)
})

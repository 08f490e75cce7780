import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { withFigures } from './page.mjs'

const read = (path) => readFile(new URL(path, import.meta.url), 'utf8')

it('the figures of the page are those of the last measurement', async () => {
  const page = await read('../../../docs/explanation/sizing.md')
  expect(page).toBe(withFigures(page, JSON.parse(await read('results.json'))))
})

it('the sums of the example are those of its features', async () => {
  const cost = (median) => ({ median, low: median, high: median })
  const both = { api: cost(60), postgres: cost(30) }
  const costs = {
    guard: { api: cost(120) },
    accounts: both,
    'revocation-redis': { api: cost(60), redis: cost(6) },
    'revocation-database': both,
    'accounts-and-revocation': { ...both, redis: cost(6) },
    queries: both,
    login: both,
    hash: { api: cost(6000) },
    'throttle-redis': { api: cost(60), redis: cost(60) },
  }
  const results = JSON.parse(await read('results.json'))
  results.sizing.figures = { ...results.sizing.figures, costs, memory: { idle: 50, used: 60, most: 70 } }
  const page = withFigures(await read('../../../docs/explanation/sizing.md'), results)
  expect(page).toContain('| **sum** |  | **5.3** | **1.0** | **0.10** |')
  expect(page).toContain('6 cores with one process each, and 6 × 70 MB')
  expect(page).toContain('100,000 logins take at least 1.7 minutes on 6 cores')
})

it('a page without the marks is not changed', () => {
  expect(() => withFigures('# Title', {})).toThrow('no marks for short, costs, example, others')
})

import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { withTables } from './page.mjs'

const read = (path) => readFile(new URL(path, import.meta.url), 'utf8')

it('the figures of the page are those of the last measurement', async () => {
  const page = await read('../../../../docs/explanation/performance.md')
  expect(page).toBe(withTables(page, JSON.parse(await read('../results/bench.json'))))
})

it('a demand has a column for each Node line, and a dash where it was not measured', () => {
  const measured = (...demands) => ({ memory: { node: '24.1.0', demands } })
  const size = { demand: 'size', measured: '3 MB' }
  const page = withTables('<!-- bench: npm run bench -->\n<!-- /bench -->', {
    20: measured({ ...size, holds: false }),
    24: measured({ ...size, holds: true }, { demand: 'time', measured: '1 s' }),
  })
  expect(page).toContain('| demand | Node 24 | Node 20 |')
  expect(page).toContain('| size | 3 MB yes | 3 MB **no** |')
  expect(page).toContain('| time | 1 s | – |')
})

it('a page without the marks is not changed', () => {
  expect(() => withTables('# Title', {})).toThrow('no marks for the tables')
})

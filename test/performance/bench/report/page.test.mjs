import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { withTables } from './page.mjs'

const read = (path) => readFile(new URL(path, import.meta.url), 'utf8')

it('the figures of the page are those of the last measurement', async () => {
  const page = await read('../../../../docs/explanation/performance.md')
  const { parts } = JSON.parse(await read('../results/bench.json'))
  expect(page).toBe(withTables(page, parts))
})

it('a page without the marks is not changed', () => {
  expect(() => withTables('# Title', {})).toThrow('no marks for the tables')
})

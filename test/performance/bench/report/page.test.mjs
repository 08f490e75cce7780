import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { withAttacks } from './attacks.mjs'
import { putBetween, withTables } from './page.mjs'

const read = (path) => readFile(new URL(path, import.meta.url), 'utf8')

it.each([
  ['performance', withTables],
  ['under-attack', withAttacks],
])('the figures of the page %s are those of the last measurement', async (name, write) => {
  const page = await read(`../../../../docs/explanation/${name}.md`)
  const { parts } = JSON.parse(await read('../results/bench.json'))
  expect(page).toBe(write(page, parts))
})

it('a page without the marks is not changed', () => {
  expect(() => putBetween('# Title', 'npm run bench', [])).toThrow('no marks for the tables of npm run bench')
})

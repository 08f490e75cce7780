import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { withTables } from './readme.mjs'

const read = (path) => readFile(new URL(path, import.meta.url), 'utf8')

it('the README’s figures are those of the last measurement', async () => {
  const readme = await read('../../../../README.md')
  const { parts } = JSON.parse(await read('../results/bench.json'))
  expect(readme).toBe(withTables(readme, parts))
})

it('a README without the marks is left alone', () => {
  expect(() => withTables('# Title', {})).toThrow('no place for the tables')
})

import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { llmsTexts } from './llms.mjs'

const ROOT = new URL('../../../../', import.meta.url)
const texts = await llmsTexts(ROOT)

it.each([...texts])('%s is what `npm run docs:llms` makes of the pages', async (path, text) => {
  expect(await readFile(new URL(path, ROOT), 'utf8')).toBe(text)
})

it('the index names every page, with a title and a sentence', () => {
  const rows = (texts.get('llms.txt') ?? '').split('\n').filter((line) => /^- \[.+\]\(.+\.md\)/.test(line))
  expect(rows.length).toBeGreaterThan(25)
  for (const row of rows) expect(row).toMatch(/^- \[[^\]]+\]\([^)]+\): \S.+\.$/)
})

// Tests README.md, whose tables are those of subjects/*.mjs
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { SUBJECTS } from './subjects/index.mjs'

const PAGE = fileURLToPath(new URL('README.md', import.meta.url))

const tableOf = (classes) => {
  const rows = classes.map(({ name, reason, reference }) => `| ${name} | ${reason} | ${reference} |`)
  return ['| class | reason | reference |', '|---|---|---|', ...rows].join('\n')
}

const sectionOf = ({ title, stricter, lenient }) =>
  [`## ${title}`, tableOf(stricter), 'A peer is stricter here:', tableOf(lenient)].join('\n\n')

it('the page has the classes of each subject, with their reasons and references', async () => {
  const [intro] = readFileSync(PAGE, 'utf8').split('\n\n## ')
  const sections = SUBJECTS.filter(({ title }) => title !== undefined).map(sectionOf)
  const page = `${[intro, ...sections].join('\n\n')}\n`
  await expect(page, 'Write the tables with: npm run docs:tables').toMatchFileSnapshot(PAGE)
})

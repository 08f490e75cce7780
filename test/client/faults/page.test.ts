// Tests README.md, whose lists are those of table/*.ts
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import type { Fault } from './fault.js'
import { FAULTS } from './table/index.js'

const PAGE = fileURLToPath(new URL('README.md', import.meta.url))

const sectionOf = ([group, faults]: [string, readonly Fault[]]) =>
  `## ${group}\n\n${faults.map(({ name }) => `- ${name}`).join('\n')}`

it('the page lists each fault by its group', async () => {
  const [intro] = readFileSync(PAGE, 'utf8').split('\n\n## ')
  const page = `${[intro, ...Object.entries(FAULTS).map(sectionOf)].join('\n\n')}\n`
  await expect(page, 'Write the lists with: npm run docs:tables').toMatchFileSnapshot(PAGE)
})

// Tests README.md, whose tables are those of exhibits/*.ts
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import type { Exhibit, Hall } from './exhibit.js'
import { EXHIBITS, HALLS } from './exhibits/index.js'

const PAGE = fileURLToPath(new URL('README.md', import.meta.url))
const HEAD = '| id | year | project, versions | fault | runs on |\n|---|---|---|---|---|'

function rowOf([id, { source, year, versions, fault, installed }]: [string, Exhibit]): string {
  const runsOn = installed ? `\`${installed.replace(/-(?=[\d.]+$)/, '@')}\`` : 'a model'
  return `| [${id}](${source}) | ${year} | ${versions} | ${fault} | ${runsOn} |`
}

const sectionOf = ([title, hall]: [string, Hall]) =>
  `### ${title}\n\n${[HEAD, ...Object.entries(hall).map(rowOf)].join('\n')}`

it('the page has a row for each exhibit, and counts them', async () => {
  const [intro = ''] = readFileSync(PAGE, 'utf8').split('\n\n### ')
  const installed = EXHIBITS.filter((exhibit) => exhibit[1].installed)
  const counted = intro.replace(/\d+ attacks\. \d+ of/, `${EXHIBITS.length} attacks. ${installed.length} of`)
  const page = `${[counted, ...Object.entries(HALLS).map(sectionOf)].join('\n\n')}\n`
  await expect(page, 'Write the tables with: npm run docs:tables').toMatchFileSnapshot(PAGE)
})

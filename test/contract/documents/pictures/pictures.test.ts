import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { pagesBelow, readPage } from '../../../support/documents/pages.js'
import { documents, filesBelow, root } from '../../../support/documents/repository.js'

const FOLDER = `${root}test/contract/documents/pictures`
const RENDERED = `${FOLDER}/rendered.json`
const SETTINGS = "{ startOnLoad: false, securityLevel: 'strict', deterministicIds: true }"

const diagrams = pagesBelow('docs').flatMap((path) =>
  readPage(path)
    .blocks.filter(({ language }) => language === 'mermaid')
    .map(({ code }, index) => ({ name: `${path.replace('docs/', '')} ${index + 1}`, code })),
)
const digests = Object.fromEntries(
  diagrams.map(({ name, code }) => [name, createHash('sha256').update(code).digest('hex')]),
)

async function render(): Promise<void> {
  const { startBrowser } = await import('../../../support/services/chromium.js')
  const page = await (await startBrowser()).newPage()
  await page.addScriptTag({ path: `${FOLDER}/renderer/node_modules/mermaid/dist/mermaid.min.js` })
  for (const { code } of diagrams) {
    await page.evaluate(`mermaid.initialize(${SETTINGS}), mermaid.render('picture', ${JSON.stringify(code)})`)
  }
  writeFileSync(RENDERED, `${JSON.stringify(digests, null, 2)}\n`)
}

it('the diagrams of the pages are those that mermaid rendered', async () => {
  // `npm run docs:pictures` sets this variable.
  if (process.env['UPDATE_DIAGRAMS']) await render()
  expect(JSON.parse(readFileSync(RENDERED, 'utf8')), 'run `npm run docs:pictures`').toEqual(digests)
  expect(diagrams.length).toBeGreaterThanOrEqual(3)
})

it.each(filesBelow('docs/assets').filter((path) => path.endsWith('.svg')))(
  '%s is for dark pages and screen readers too, and is on a page with a text that says the same',
  (path) => {
    const picture = readFileSync(root + path, 'utf8')
    expect(picture).toContain('@media (prefers-color-scheme: dark)')
    expect(picture).toMatch(/<title>.+<\/title>\s*<desc>.+<\/desc>/)
    const images = documents().flatMap((page) => readPage(page).prose.match(/!\[[^\]]*\]\([^)]*\.svg\)/g) ?? [])
    expect(images.find((image) => image.includes(path.replace('docs/', '')))?.length).toBeGreaterThan(100)
  },
)

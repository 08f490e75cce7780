import { writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'
import { diagrams, digestOf, RENDERED } from './sources.mjs'

/** Checks that each diagram of the pages can be rendered. */

const MERMAID = fileURLToPath(new URL('renderer/node_modules/mermaid/dist/mermaid.min.js', import.meta.url))
const EXECUTABLE = process.env['CHROMIUM'] || '/usr/bin/chromium'

const THEME = { startOnLoad: false, securityLevel: 'strict', deterministicIds: true }

const browser = await chromium.launch({
  executablePath: EXECUTABLE,
  args: ['--headless', '--no-sandbox', '--disable-gpu'],
})
try {
  const page = await browser.newPage({ viewport: { width: 1200, height: 900 } })
  await page.setContent('<body></body>')
  await page.addScriptTag({ path: MERMAID })
  const render = (name, code) =>
    page.evaluate(
      async ([id, text, theme]) => {
        globalThis.mermaid.initialize(theme)
        return (await globalThis.mermaid.render(id, text)).svg
      },
      [`picture-${digestOf(name).slice(0, 8)}`, code, THEME],
    )
  const rendered = {}
  for (const { name, code } of diagrams()) {
    await render(name, code)
    rendered[name] = digestOf(code)
  }
  await writeFile(RENDERED, `${JSON.stringify(rendered, null, 2)}\n`)
  process.stdout.write(`${Object.keys(rendered).length} diagrams can be rendered\n`)
} finally {
  await browser.close()
}

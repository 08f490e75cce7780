import { writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'
import { DOCS, diagrams, digestOf, RENDERED, sources } from './sources.mjs'

/** Renders each picture of `docs/assets`, and checks that each diagram of the pages can be rendered. */

const MERMAID = fileURLToPath(new URL('renderer/node_modules/mermaid/dist/mermaid.min.js', import.meta.url))
const EXECUTABLE = process.env['CHROMIUM'] || '/usr/bin/chromium'

const THEME = {
  startOnLoad: false,
  securityLevel: 'strict',
  htmlLabels: false,
  flowchart: { htmlLabels: false, wrappingWidth: 300 },
  fontFamily: 'system-ui, sans-serif',
  deterministicIds: true,
}

/** Colours for both schemes of the reader's system. */
const COLOURS = `
  .picture .node :is(rect, path, polygon, circle) { fill: #f6f8fa !important; stroke: #57606a !important }
  .picture text, .picture tspan { fill: #1f2328 !important }
  .picture .edgeLabel rect { fill: #ffffff !important; opacity: 1 !important }
  .picture .flowchart-link, .picture marker path { stroke: #57606a !important }
  .picture marker path { fill: #57606a !important }
  @media (prefers-color-scheme: dark) {
    .picture { background: #0d1117 !important }
    .picture .node :is(rect, path, polygon, circle) { fill: #161b22 !important; stroke: #8b949e !important }
    .picture text, .picture tspan { fill: #e6edf3 !important }
    .picture .edgeLabel rect { fill: #0d1117 !important }
    .picture .flowchart-link, .picture marker path { stroke: #8b949e !important }
    .picture marker path { fill: #8b949e !important }
  }`

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
  for (const { path, svg, code } of sources()) {
    await writeFile(new URL(svg, DOCS), decorated(await render(path, code), code))
    process.stdout.write(`docs/${svg}\n`)
  }
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

/** Adds the title, the description, the colours and the digest of its source to a picture. */
function decorated(svg, code) {
  const [title, description] = ['title', 'description'].map(
    (name) => new RegExp(`^%% ${name}: (.+)$`, 'm').exec(code)?.[1],
  )
  const [, attributes, content] = /^<svg([^>]*)>([\s\S]*)$/.exec(svg) ?? []
  const plain = attributes.replace(/ (class|style|aria-roledescription)="[^"]*"/g, '')
  const head = `<title>${title}</title><desc>${description}</desc><style>${COLOURS}</style>`
  return `<svg${plain} class="picture flowchart">\n<!-- source: SHA-256 ${digestOf(code)} -->\n${head}${content}\n`
}

import { readFile, writeFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { withFigures } from './page.mjs'

const RESULTS = new URL('results.json', import.meta.url)
const PAGE = new URL('../../../docs/explanation/sizing.md', import.meta.url)

/** Writes the figures of a part to the results, and all results to the page. Returns the written files. */
export async function saveFigures(name, figures, { rounds, scale }) {
  const results = JSON.parse(await readFile(RESULTS, 'utf8'))
  const date = new Date().toISOString().slice(0, 10)
  results[name] = { date, node: process.version, cores: availableParallelism(), rounds, scale, figures }
  await writeFile(RESULTS, `${JSON.stringify(results, null, 2)}\n`)
  const page = await readFile(PAGE, 'utf8')
  await writeFile(PAGE, withFigures(page, results))
  return [RESULTS, PAGE].map((file) => relative('', fileURLToPath(file)))
}

import { readFile, writeFile } from 'node:fs/promises'
import { availableParallelism, cpus } from 'node:os'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { withAttacks } from './attacks.mjs'
import { guardChart } from './guard-chart.mjs'
import { PAGE_LINE, withTables } from './page.mjs'
import { withSummary } from './summary.mjs'

const JSON_FILE = new URL('../results/bench.json', import.meta.url)
const ROOT = new URL('../../../../', import.meta.url)
const CHART_FILE = new URL('docs/assets/guard.svg', ROOT)
const PAGES = [
  [
    new URL('docs/explanation/performance.md', ROOT),
    (page, results) => withSummary(withTables(page, results), results),
  ],
  [new URL('docs/explanation/under-attack.md', ROOT), withAttacks],
]

const readJson = async (url) => JSON.parse(await readFile(url, 'utf8'))

async function packages() {
  const own = await readJson(new URL('package.json', ROOT))
  const express = await readJson(new URL('node_modules/express/package.json', ROOT))
  const { dependencies } = await readJson(new URL('../peers/package.json', import.meta.url))
  const versions = Object.entries({ [own.name]: own.version, express: express.version, ...dependencies })
  return versions.map((version) => version.join(' ')).join(' · ')
}

const rounded = (_key, value) => (typeof value === 'number' ? Number(value.toPrecision(4)) : value)

/** Writes each part on its own line. */
function textOf(results) {
  const objectOf = (entries) => `{\n${entries.map(([key, text]) => `"${key}": ${text}`).join(',\n')}\n}`
  const lineOf = (parts) => objectOf(Object.entries(parts).map(([name, part]) => [name, JSON.stringify(part, rounded)]))
  return `${objectOf(Object.entries(results).map(([line, parts]) => [line, lineOf(parts)]))}\n`
}

/**
 * Writes the measured parts of a Node line over the same parts of earlier runs, and draws the pages' tables and the chart again.
 * @returns the files
 */
export async function saveResults(line, node, measured) {
  const where = {
    node,
    machine: `${availableParallelism()} × ${cpus()[0].model}`,
    date: new Date().toISOString().slice(0, 10),
    packages: await packages(),
  }
  const results = await readJson(JSON_FILE)
  const parts = Object.entries(measured).map(([name, part]) => [name, { ...where, ...part }])
  results[line] = { ...results[line], ...Object.fromEntries(parts) }
  // The pages have the numbers of the file, which are rounded.
  const text = textOf(results)
  const files = [[JSON_FILE, text]]
  for (const [page, write] of PAGES) files.push([page, write(await readFile(page, 'utf8'), JSON.parse(text))])
  const { guard, http } = results[PAGE_LINE] ?? {}
  if (guard || http) files.push([CHART_FILE, guardChart({ guard, http })])
  for (const [file, content] of files) await writeFile(file, content)
  return files.map(([file]) => relative('', fileURLToPath(file)))
}

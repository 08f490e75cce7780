import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { availableParallelism, cpus } from 'node:os'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { withAttacks } from './attacks.mjs'
import { guardChart } from './guard-chart.mjs'
import { withTables } from './page.mjs'

const FOLDER = new URL('../results/', import.meta.url)
const JSON_FILE = new URL('bench.json', FOLDER)
const DOCS = new URL('../../../../docs/', import.meta.url)
const CHART_FILE = new URL('assets/guard.svg', DOCS)
const PAGE = new URL('explanation/performance.md', DOCS)
const ATTACKS_PAGE = new URL('explanation/under-attack.md', DOCS)

const readJson = async (url) => JSON.parse(await readFile(url, 'utf8'))

async function versions() {
  const own = await readJson(new URL('../../../../package.json', import.meta.url))
  const express = await readJson(new URL('../../../../node_modules/express/package.json', import.meta.url))
  const peers = await readJson(new URL('../peers/package.json', import.meta.url))
  return { [own.name]: own.version, express: express.version, ...peers.dependencies }
}

async function before() {
  try {
    return await readJson(JSON_FILE)
  } catch (error) {
    if (error.code === 'ENOENT') return { parts: {} }
    throw error
  }
}

/**
 * Writes what was measured over what was measured before; each part says where and when it was.
 * @returns the files
 */
export async function saveResults(results, { rounds }) {
  const where = {
    date: new Date().toISOString(),
    node: process.version,
    cpu: `${availableParallelism()} × ${cpus()[0].model}`,
    rounds,
    versions: await versions(),
  }
  const { parts } = await before()
  for (const [name, result] of Object.entries(results)) parts[name] = { ...where, ...result }
  const files = new Map([[JSON_FILE, `${JSON.stringify({ parts }, null, 2)}\n`]])
  const picture = guardChart(parts)
  if (picture) files.set(CHART_FILE, picture)
  if (parts.guard && parts.http) files.set(PAGE, withTables(await readFile(PAGE, 'utf8'), parts))
  if (parts.attacks && parts.settings) {
    files.set(ATTACKS_PAGE, withAttacks(await readFile(ATTACKS_PAGE, 'utf8'), parts))
  }
  await mkdir(FOLDER, { recursive: true })
  for (const [file, content] of files) await writeFile(file, content)
  return [...files.keys()].map((file) => relative('', fileURLToPath(file)))
}

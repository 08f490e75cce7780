import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { root } from '../support/documents/repository.js'

const map = readFileSync(`${root}src/README.md`, 'utf8')

it('the map of src states how many functions a login and a guarded request run', async () => {
  const script = `${root}test/performance/programs/functions.mjs`
  const { stdout } = await promisify(execFile)(process.execPath, ['--no-lazy-feedback-allocation', script])
  const flows: Record<string, string[]>[] = Object.values(JSON.parse(stdout))
  const [login, first, cached] = flows.map((files) => Object.values(files).flat().length)
  const stated = [...map.matchAll(/runs (\d+) functions|a cached token (\d+)/g)].map(([, one, other]) =>
    Number(one ?? other),
  )
  expect(stated).toEqual([login, first, cached])
  // The list names modules of src, not the few files that the build makes of them.
  expect(Object.keys(flows[0] ?? {}).length).toBeGreaterThan(20)
  // Limits, so that the flows stay readable.
  expect([Number(login) < 109, Number(first) < 60, Number(cached) < 18]).toEqual([true, true, true])
})

it('every file and function of the two flows exists', () => {
  const flows = map.slice(map.indexOf('## A login'), map.indexOf('## Where do I add'))
  const names = [...flows.matchAll(/`([\w/-]+\.ts)`(?: `(\w+)`)?/g)]
  expect(names.length).toBeGreaterThan(15)
  for (const [, file = '', name] of names) {
    expect(existsSync(`${root}src/${file}`), file).toBe(true)
    if (name) expect(readFileSync(`${root}src/${file}`, 'utf8'), `${file} ${name}`).toMatch(new RegExp(`\\b${name}\\b`))
  }
})

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { apiReports, REPORTS } from './api-reports.mjs'

const reports = [...apiReports()]
const HOW_TO_ACCEPT =
  'The public types changed. To accept the change, run npm run api:report and commit what it writes.'

it.each(reports)('%s is what src exports', (file, text) => {
  const path = join(REPORTS, file)
  const accepted = existsSync(path) ? readFileSync(path, 'utf8') : ''
  expect(text, HOW_TO_ACCEPT).toBe(accepted)
})

it.each(reports)('%s has every value that the entry exports', async (file, text) => {
  const [exported = ''] = text.split('## Used by them')
  const values = [...exported.matchAll(/^(?:function|class|const) (\w+)/gm)].map(([, name]) => name)
  const entry = await import(/* @vite-ignore */ `../../../src/${file.replace('.api.md', '.js')}`)
  expect(Object.keys(entry).sort()).toEqual([...new Set(values)].sort())
})

it('each report is of an entry of package.json', () => {
  const files = readdirSync(REPORTS).filter((file) => file.endsWith('.api.md'))
  expect(files.sort(), HOW_TO_ACCEPT).toEqual(reports.map(([file]) => file).sort())
})

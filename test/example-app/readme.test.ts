import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { FOLDER } from './support.js'

const read = (path: string) => readFileSync(join(FOLDER, path), 'utf8')
const readme = read('README.md')
const all = (pattern: RegExp, text = readme) => [...new Set([...text.matchAll(pattern)].map(([, found = '']) => found))]

test('the table has the variables that config.ts reads', () => {
  const documented = all(/^\| `([A-Z_]+)` \|/gm)
  expect(documented.sort()).toEqual(all(/(?:env\['|^ {2})([A-Z_]+)(?:'\]|:)/gm, read('config.ts')).sort())
})

test('every script and every file in the text exists', () => {
  const { scripts } = JSON.parse(read('../package.json'))
  for (const script of all(/npm run ([\w:-]+)/g)) expect(scripts).toHaveProperty([script])
  const files = all(/`((?:web|data|page|processes|commands|test)\/[\w/.-]+|\w+\.ts)`/g)
  expect(files.length).toBeGreaterThan(20)
  for (const file of files)
    expect(existsSync(join(FOLDER, file.startsWith('test/') ? `../${file}` : file)), file).toBe(true)
})

test('the flows name functions of the files', () => {
  const pairs = [...readme.matchAll(/`(\w+)` (?:in|of) `([\w/.-]+\.ts)`/g)]
  expect(pairs.length).toBeGreaterThan(8)
  for (const [, name = '', file = ''] of pairs) expect(read(file)).toContain(name)
})

test('the deployment files list the ports in the text', () => {
  const ports = ['3000', '3001', '3010', '3011']
  expect(all(/@?(?:clearing-house|reporting):(\d+)/g).sort()).toEqual(ports)
  expect(all(/server 127\.0\.0\.1:(\d+)/g, read('deploy/nginx.conf'))).toEqual(ports)
  expect(all(/(?:clearing-house|reporting):(\d+)/g, read('deploy/compose.yaml'))).toEqual(ports)
})

import { execFile } from 'node:child_process'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readPage } from '../../support/documents/pages.js'
import { counts } from './count.mjs'

const run = promisify(execFile)
const here = (path) => fileURLToPath(new URL(path, import.meta.url))
const env = { PATH: process.env.PATH, NODE_ENV: 'testing' }

const apps = {}
beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'moved-'))
  Object.assign(apps, { folder, before: join(folder, 'before'), after: join(folder, 'after') })
  for (const copy of [apps.before, apps.after]) await cp(here('aichbauer'), copy, { recursive: true })
  await run('git', ['apply', here('patches/aichbauer.diff')], { cwd: apps.after })
})
afterAll(() => rm(apps.folder, { recursive: true }))

describe.each(['before', 'after'])('express-rest-api-boilerplate, %s its move to this package', (state) => {
  it('passes its own tests', async () => {
    const files = ['test/controllers/UserController.test.js', 'test/models/User.test.js']
    const args = ['--require', here('stand-ins.cjs'), '--test', '--test-reporter=tap', ...files]
    const { stdout } = await run(process.execPath, args, { cwd: apps[state], env })
    expect(stdout).toMatch(/^# pass 5$/m)
  })
})

const wireOf = async (state) =>
  (await run(process.execPath, [here('wire.cjs')], { cwd: apps[state], env })).stdout.trim().split('\n')

it('has the same responses after its move, except for the texts about a bad token', async () => {
  const [before, after] = await Promise.all([wireOf('before'), wireOf('after')])
  expect(after).toHaveLength(18)
  const different = after.filter((line, index) => line !== before[index])
  const err = (message) => JSON.stringify({ err: { name: 'JsonWebTokenError', message } })
  expect(different).toEqual([
    `another scheme: 401 ${err('The access token is not valid.')}`,
    `forged token: 401 ${err('The access token is not valid.')}`,
    `expired token: 401 ${err('The access token expired.')}`,
  ])
})

it('has the numbers of lines that the guide prints', () => {
  const { text } = readPage('docs/guides/fit-your-app.md')
  const rows = counts()
  const sum = (state) => rows.reduce((total, row) => total + row[state], 0)
  for (const { before, after } of [...rows, { before: sum('before'), after: sum('after') }])
    expect(text).toContain(`| ${before} → ${after} |`)
})

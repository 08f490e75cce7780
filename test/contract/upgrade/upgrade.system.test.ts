import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'
import { root } from '../../support/documents/repository.js'
import { createApp } from './apps/after.mjs'
import { drive, newKey } from './apps/drive.mjs'

const FOLDER = `${root}test/contract/upgrade/`
const run = promisify(execFile)

/**
 * Installs 0.1 next to its app. The tarball is in the repository, because a shallow clone lacks the commit, and tests use no network. The other
 * packages are those of this repository.
 */
async function install(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'upgrade-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const modules = join(folder, 'node_modules')
  const own = join(modules, 'express-token-endpoint')
  mkdirSync(own, { recursive: true })
  for (const name of readdirSync(`${root}node_modules`)) symlinkSync(`${root}node_modules/${name}`, join(modules, name))
  // 0.1 depends on ipaddr.js, which this release does not need.
  symlinkSync(`${root}node_modules/proxy-addr/node_modules/ipaddr.js`, join(modules, 'ipaddr.js'))
  await run('tar', ['xzf', `${FOLDER}express-token-endpoint-0.1.0.tgz`, '-C', own, '--strip-components=1'])
  cpSync(`${FOLDER}apps`, folder, { recursive: true })
  writeFileSync(
    join(folder, 'main.mjs'),
    `import { createApp } from './before.mjs'
import { drive } from './drive.mjs'
console.log(JSON.stringify(await drive(createApp, process.env.PRIVATE_KEY, process.env.TOKEN)))`,
  )
  return folder
}

it('an app of 0.1 runs on its tarball, and each release accepts the tokens of the other', async () => {
  const privateKey = newKey()
  const folder = await install()
  const before = async (token = '') => {
    const env = { ...process.env, PRIVATE_KEY: String(privateKey), TOKEN: token }
    return JSON.parse((await run(process.execPath, ['main.mjs'], { cwd: folder, env })).stdout)
  }
  const { seen, token } = await before()
  const frozen = JSON.parse(readFileSync(`${FOLDER}seen.json`, 'utf8'))
  expect(seen).toEqual(frozen)
  const accepted = { ...frozen, earlier: [200, { id: 'acc-2', email: 'bob@example.com' }] }
  const after = await drive(createApp, privateKey, token)
  expect(after.seen).toEqual(accepted)
  expect((await before(after.token)).seen).toEqual(accepted)
})

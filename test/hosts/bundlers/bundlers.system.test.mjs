import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, mkdtemp, realpath, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { root } from '../../support/documents/repository.js'
import { ACCOUNTS, ISSUER, PASSWORD, SECRET } from '../../support/fixtures.js'
import { expectHost } from '../expect-host.js'
import { NO_HOSTS, SCOPE } from '../kit.js'

const HOST = JSON.stringify({
  issuer: ISSUER,
  secret: SECRET,
  email: ACCOUNTS.alice.email,
  password: PASSWORD,
  scope: SCOPE,
})

/** Runs a bundle until the test ends, and returns its address. */
async function run(program) {
  const child = spawn(process.execPath, [program], {
    env: { PATH: process.env.PATH, HOST },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  onTestFinished(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  })
  const errors = text(child.stderr)
  for await (const port of createInterface({ input: child.stdout })) return `http://127.0.0.1:${port}`
  return expect.fail(`${program} has not started: ${await errors}`)
}

describe.skipIf(NO_HOSTS)('a bundle with the hashers beside it', () => {
  let folder
  beforeAll(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'bundles-')))
    const link = async (from, to) => {
      await mkdir(dirname(join(folder, to)), { recursive: true })
      await symlink(await realpath(from), join(folder, to), 'junction')
    }
    await link(root, 'project/node_modules/express-token-endpoint')
    await link(join(root, 'node_modules/express'), 'project/node_modules/express')
    await link(join(root, 'node_modules/@node-rs'), 'bundles/node_modules/@node-rs')
    await cp(fileURLToPath(new URL('host.mjs', import.meta.url)), join(folder, 'project/host.mjs'))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  it.each(['esbuildToEsm', 'esbuildToCommonJs', 'tsup', 'ncc', 'vite'])('works after %s', async (name) => {
    const bundlers = await import('./bundlers.mjs')
    const program = await bundlers[name](join(folder, 'project'))
    await expectHost(await run(program))
  })
})

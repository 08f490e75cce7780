import { execFile } from 'node:child_process'
import { cp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { CONSUMER_ENV, differences, expectWorks, start } from '../contract/packed/consumer.js'
import { install, moduleNames, type Packed, pack, tempFolder } from '../contract/packed/pack.js'
import { WIRE_ENV, wireTests } from '../contract/packed/wire.js'
import { readPage } from '../support/documents/pages.js'
import { rejectionOf } from '../support/failures.js'
import { ACCOUNTS, issueNow, makeIssuer, PASSWORD, SECRET } from '../support/fixtures.js'
import { bearer, sendBytes } from '../support/http.js'
import { send } from '../support/plain-js/http-client.mjs'
import { ONLY_EXPRESS, ONLY_RUNTIME } from '../support/runner/only.js'

const runtime = ONLY_RUNTIME ?? expect.fail('`npm run test:matrix -- bun` sets TEST_RUNTIME')
const CONSUMERS = fileURLToPath(new URL('../contract/packed/consumers', import.meta.url))

const PAGE = readPage('docs/reference/compatibility.md').section('## Bun and Deno')
const SOUND = / \d+ hold, 0 fail, 10 skipped\n$/

let packed: Packed
let project: Awaited<ReturnType<typeof tempFolder>>
beforeAll(async () => {
  project = await tempFolder('runtime')
  packed = await pack(project.folder)
  await writeFile(join(project.folder, 'package.json'), '{ "private": true }')
  await install(project.folder, [packed.tarball, `express@${ONLY_EXPRESS?.version}`])
  await cp(CONSUMERS, project.folder, { recursive: true })
}, 180_000)
afterAll(() => project.remove())

const inProject = (path: string) => join(project.folder, path)

/** Runs a program in the project to its end, and returns its output. */
async function output(command: string, args: readonly string[], env: Record<string, string> = {}): Promise<string> {
  const { stdout } = await promisify(execFile)(command, args, { cwd: project.folder, env: { ...process.env, ...env } })
  return stdout
}
const outputOf = (...args: string[]) => output(runtime.program, [...runtime.args, ...args])

/** The differences from Node that the page names. */
const DIFFERENCES: Record<string, () => void> = {
  Bun() {
    it('bunx --bun: finds the command', async () => {
      expect(PAGE).toContain('`bunx --bun express-token-endpoint`')
      expect(await outputOf('x', '--bun', 'express-token-endpoint', '--version')).toBe(`${packed.manifest.version}\n`)
    })

    const [, most = ''] = /more than (\d+) header lines/.exec(PAGE) ?? []
    const lines = (count: number) =>
      `GET /me HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${'a: b\r\n'.repeat(count - 2)}\r\n`

    it('refuses requests with more header lines than the page says with 431', async () => {
      const { port, stop } = await start(inProject('wire/verifier.mjs'), { command: runtime })
      onTestFinished(stop)
      expect(await sendBytes(port, lines(Number(most)))).toMatch(/^HTTP\/1\.1 401 /)
      expect(await sendBytes(port, lines(Number(most) + 1))).toMatch(/^HTTP\/1\.1 431 /)
    })
  },
  Deno() {
    const withoutNative = runtime.args.filter((arg) => arg !== '--allow-ffi')

    it('is started with the permissions on the page', () => {
      const permissions = runtime.args.filter((arg) => arg.startsWith('--allow')).join(' ')
      expect(PAGE).toContain(`\`deno run ${permissions} app.mjs\``)
    })

    it('without --allow-ffi, hashes no password', async () => {
      const error = await rejectionOf(output(runtime.program, [...withoutNative, 'esm/main.mjs'], CONSUMER_ENV))
      expect(error).toMatchObject({ stderr: expect.stringContaining('@node-rs/argon2 cannot be loaded') })
    })

    it('without --allow-ffi, verifies tokens', async () => {
      const command = { ...runtime, args: withoutNative }
      const { port, stop } = await start(inProject('wire/verifier.mjs'), { command })
      onTestFinished(stop)
      const { token } = issueNow(makeIssuer({ keys: { alg: 'HS256', secret: SECRET } }), { accountId: 'acc-1' })
      expect(await send(port, bearer(token, '/me'))).toMatchObject({ status: 200, body: '{"account":"acc-1"}' })
    })
  },
}

describe(`${runtime.name} ${runtime.version}`, () => {
  it.each(['esm/main.mjs', 'commonjs/main.cjs'])('%s: gets a token, and through its guard', async (program) => {
    await expectWorks(inProject(program), runtime)
  })

  it('has one copy of each entry in a process, by import and by require', async () => {
    const names = moduleNames(packed.manifest)
    await writeFile(inProject('all.cjs'), differences(names))
    expect(JSON.parse(await outputOf('all.cjs'))).toEqual(names.map(() => []))
  })

  const host = wireTests(() => start(inProject('wire/main.mjs'), { command: runtime, env: WIRE_ENV }))

  it('is the runtime of the host', async () => {
    const { body } = await send(host().port, { method: 'GET', path: '/versions' })
    expect(JSON.parse(body)[runtime.name.toLowerCase()]).toBe(runtime.version)
  })

  describe('npx express-token-endpoint', () => {
    const BIN = 'node_modules/express-token-endpoint/dist/cli.cjs'
    const check = () => ['check', host().url, '--email', ACCOUNTS.alice.email, '--guarded', '/me']
    const env = { CHECK_PASSWORD: PASSWORD }

    it('check: finds nothing wrong', async () => {
      const printed = await output('npx', ['--no', '--', 'express-token-endpoint', ...check()], env)
      expect(printed).toMatch(SOUND)
    })

    it('check: works on the runtime', async () => {
      const printed = await output(runtime.program, [...runtime.args, BIN, ...check()], env)
      expect(printed).toMatch(SOUND)
    })

    it('keygen: works on the runtime', async () => {
      expect(await outputOf(BIN, 'keygen', '--alg', 'ES256')).toMatch(/^-----BEGIN PRIVATE KEY-----\n/)
    })
  })

  DIFFERENCES[runtime.name]?.()
})

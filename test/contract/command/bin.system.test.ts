// Tests cli.ts cli/io.ts

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { createPasswords, createTokenIssuer } from 'express-token-endpoint'
import { describe, expect, test } from 'vitest'
import { signingKey } from '../../../example-app/data/signing-keys.js'
import { ROWS } from '../../../src/cli/check/rows.js'
import {
  ALICE,
  type Env,
  finish,
  launch,
  NORTH,
  REPORT,
  SOUTH,
  start,
  startBoth,
  tempDir,
} from '../../example-app/support.js'
import { issueNow } from '../../support/fixtures.js'
import { isMissing } from '../../support/services/missing.js'

const root = new URL('../../../', import.meta.url)
const { bin } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'))
const program = fileURLToPath(new URL(bin['express-token-endpoint'], root))

/** Runs what is built, with pipes around it. */
const run = (args: readonly string[], env: Env = {}, input = '') =>
  finish(launch(process.execPath, [program, ...args], env), input)

test('of the example app every row holds: two APIs, and another environment', async () => {
  const [dataDir, otherDir] = [await tempDir(), await tempDir()]
  const { url, reporting } = await startBoth({ DATA_DIR: dataDir })
  const other = await start({ DATA_DIR: otherDir })
  const keys = signingKey(dataDir)
  const yesterday = () => Date.now() - 86_400_000
  const expired = issueNow(createTokenIssuer({ issuer: url, keys, clock: yesterday }), { accountId: 'x' }).token
  const guarded = [NORTH, SOUTH, reporting + REPORT].flatMap((path) => ['--guarded', path])
  // The example has no route that needs a recent sign-in, and it signs with a key pair.
  const skipped = ['--skip', 'recent-refused']
  const args = ['check', url, '--email', ALICE.email, ...guarded, '--other', other.url, ...skipped]
  const { code, stdout, stderr } = await run(args, { CHECK_PASSWORD: ALICE.password, CHECK_EXPIRED_TOKEN: expired })
  const lines = stdout.split('\n')
  expect(lines.filter((line) => /^(fails|skipped) /.test(line)).map((line) => line.split(/ +/)[1])).toEqual([
    'recent-refused',
    'guessable-secret',
  ])
  expect(lines.at(-2)).toMatch(/: \d\d hold, 0 fail, 2 skipped$/)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  // In a pipe there are plain lines: no colour, no progress.
  expect(stdout).not.toContain('\u001b')
  for (const secret of [ALICE.password, expired, 'eyJ']) expect(stdout).not.toContain(secret)
})

test('a reader that goes away takes no stack with it', async () => {
  const child = launch(process.execPath, [program, '--help'], {})
  child.stdout?.destroy()
  const [stderr, [code]] = await Promise.all([text(child.stderr as NodeJS.ReadableStream), once(child, 'close')])
  expect({ stderr, code }).toEqual({ stderr: '', code: 0 })
})

/** Linux's disk that is always full. */
const FULL = '/dev/full'

test.skipIf(!existsSync(FULL)).each([['keygen', '--alg', 'HS256'], ['hash'], ['--help']])(
  'what could not be written down was not done: %s',
  async (...args) => {
    const full = openSync(FULL, 'w')
    const child = spawn(process.execPath, [program, ...args], { stdio: ['pipe', full, 'pipe'] })
    closeSync(full)
    child.stdin?.end('correct horse')
    const [stderr, [code]] = await Promise.all([text(child.stderr as NodeJS.ReadableStream), once(child, 'close')])
    expect(code).toBe(1)
    expect(stderr).toMatch(/^express-token-endpoint: standard output: ENOSPC.+$/m)
  },
)

test('exit statuses reach the shell', async () => {
  expect(await run(['hash'], {}, '')).toMatchObject({ code: 1, stdout: '' })
  expect(await run(['hash', 'x'])).toMatchObject({ code: 2, stdout: '' })
  expect(await run(['hash'], {}, 'correct horse')).toMatchObject({ code: 0, stderr: '' })
})

const SCRIPT = '/usr/bin/script'
const NO_TERMINAL = isMissing(
  process.platform === 'linux' && existsSync(SCRIPT),
  'script(1) of util-linux',
  'apt-get install bsdutils',
)

/** Runs a Node program on its own terminal. Types or calls the next reply when the output ends with a question. */
async function onTerminal(
  program: readonly string[],
  question: RegExp,
  answers: readonly (string | ((shown: string) => void))[],
  env: Record<string, string> = {},
): Promise<{ code: number; shown: string }> {
  const line = [process.execPath, ...program].map((word) => `'${word}'`).join(' ')
  const child = launch(SCRIPT, ['--quiet', '--return', '--command', line, '/dev/null'], { TERM: 'xterm', ...env })
  const left = [...answers]
  let shown = ''
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    shown += chunk
    if (!question.test(shown)) return
    const reply = left.shift()
    if (typeof reply === 'function') reply(shown)
    else if (reply !== undefined) child.stdin?.write(`${reply}\r`)
  })
  const [code] = (await once(child, 'close')) as [number]
  return { code, shown }
}

describe.skipIf(NO_TERMINAL)('on a terminal', () => {
  const typing = (args: readonly string[], answers: readonly string[], env?: Env) =>
    onTerminal([program, ...args], /(Password|Repeat the password): $/, answers, env)

  test('hash asks twice, and echoes nothing', async () => {
    const { code, shown } = await typing(['hash'], ['correct horse', 'correct horse'])
    expect(code).toBe(0)
    const [, hash = ''] = /^Password: \r\nRepeat the password: \r\n(\$argon2id\S+)\r\n$/.exec(shown) ?? []
    expect(await createPasswords().verify('correct horse', hash)).toBe(true)
  })

  /** Runs `hash`, then prints the state of the terminal. */
  const HASH_THEN_STTY = `const { spawn, spawnSync } = require("node:child_process")
const child = spawn(process.execPath, [process.argv[1], "hash"], { stdio: "inherit" })
console.log("pid " + child.pid)
child.on("exit", (_code, signal) => {
  console.log(signal)
  spawnSync("stty", ["-a"], { stdio: "inherit" })
})`

  test.each(['SIGHUP', 'SIGINT', 'SIGTERM'] as const)('hash leaves a terminal that echoes after %s', async (signal) => {
    const kill = (shown: string) => process.kill(Number(/pid (\d+)/.exec(shown)?.[1]), signal)
    const { shown } = await onTerminal(['-e', HASH_THEN_STTY, program], /Password: $/, [kill])
    expect(shown).toMatch(new RegExp(`${signal}\r\n[\\s\\S]+ icanon [\\s\\S]+ echo `))
  })

  test('keygen shows no key', async () => {
    const { code, shown } = await typing(['keygen'], [])
    expect(code).toBe(2)
    expect(shown).toMatch(/^express-token-endpoint: keygen does not write keys to a terminal.+\r\n$/)
  })

  test('check asks for the password, has colours and tells how far it is; not with NO_COLOR', async () => {
    const { url } = await start({ DATA_DIR: await tempDir() })
    const args = ['check', url, '--email', ALICE.email, '--guarded', NORTH]
    const { code, shown } = await typing(args, [ALICE.password])
    expect(code).toBe(0)
    expect(shown).toContain('\u001b[32mholds   \u001b[39mlogin')
    expect(shown).toContain(`\r\u001b[K1/${ROWS.length} the correct email`)
    expect(shown).not.toContain(ALICE.password)
    const plain = await typing(args, [ALICE.password], { NO_COLOR: '1' })
    expect(plain.shown).toContain('holds   login')
    expect(plain.shown).not.toContain('\u001b[32m')
  })
})

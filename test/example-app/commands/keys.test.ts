import { chmod, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readCommand } from '../../../example-app/commands/key-arguments.js'
import { signingKey } from '../../../example-app/data/signing-keys.js'
import { UsageError } from '../../../example-app/errors.js'
import { ALICE, NORTH, REPORT, run, startBoth, statusOf, tempDir, tokenFrom } from '../support.js'

const KID = /[\w-]{43}/

describe('arguments', () => {
  const hyphens = `-${'a'.repeat(42)}`
  test.each<[string[], object]>([
    [['list'], { name: 'list' }],
    [['add'], { name: 'add' }],
    [['promote', 'x'], { name: 'promote', kid: 'x' }],
    [['remove', hyphens], { name: 'remove', kid: hyphens }],
    [['promote', '--', '-x'], { name: 'promote', kid: '-x' }],
    [['--help'], { name: 'help' }],
    [['remove', '-h'], { name: 'help' }],
  ])('%j', (args, command) => {
    expect(readCommand(args)).toEqual(command)
  })

  test.each<[string[], RegExp]>([
    [[], /^Unknown command\. /],
    [['rotate'], /^Unknown command\. /],
    [['list', 'x'], /has no further arguments/],
    [['add', '--', 'x'], /has no further arguments/],
    [['promote'], /^Pass the id of one key/],
    [['remove', 'x', 'y'], /^Pass the id of one key/],
    [['remove', '--force', 'x'], /^Unknown option\. Pass only --help\.$/],
  ])('refuses %j', (args, message) => {
    expect(() => readCommand(args)).toThrow(UsageError)
    expect(() => readCommand(args)).toThrow(message)
  })
})

const keys = (dataDir: string, ...args: string[]) => run('commands/keys', args, { DATA_DIR: dataDir })

test('prints ids and states, and never a key', async () => {
  const dataDir = await tempDir()
  signingKey(dataDir)
  const outputs = [await keys(dataDir, 'list'), await keys(dataDir, 'add')]
  const [first = ''] = KID.exec(outputs[0]?.stdout ?? '') ?? []
  const [added = ''] = KID.exec(outputs[1]?.stdout ?? '') ?? []
  outputs.push(await keys(dataDir, 'promote', added), await keys(dataDir, 'list'))
  expect(outputs.at(-1)?.stdout).toMatch(
    new RegExp(`^${added}  signs {5}since \\d{4}-\\S+Z\n${first}  verifies  since \\d{4}-\\S+Z\n$`),
  )
  outputs.push(await keys(dataDir, 'remove', added))
  expect(outputs.at(-1)).toMatchObject({
    code: 1,
    stdout: '',
    stderr: `${added} is the signing key. Promote another key first.\n`,
  })
  outputs.push(await keys(dataDir, 'remove', first))
  expect(outputs.at(-1)).toMatchObject({ code: 0, stderr: '' })
  outputs.push(await keys(dataDir, 'promote', first))
  expect(outputs.at(-1)).toMatchObject({
    code: 1,
    stderr: `No key has the id ${first}. List all keys: npm run example -- keys list\n`,
  })
  const pems = [join(dataDir, 'signing-key.pem'), join(dataDir, 'keys', `${added}.pem`)]
  for (const pem of pems) {
    const [, secret = ''] = (await readFile(pem, 'utf8')).split('\n')
    expect(secret).toMatch(/^MIG/)
    for (const { stdout, stderr } of outputs) expect(stdout + stderr).not.toContain(secret)
  }
})

test('exits with 2 and the usage for wrong arguments, and with 1 for a key that other users can read', async () => {
  const dataDir = await tempDir()
  const wrong = await keys(dataDir, 'rotate')
  expect(wrong).toMatchObject({ code: 2, stdout: '' })
  expect(wrong.stderr).toMatch(/^Unknown command\. .+\n\nUsage:\n/)
  expect(await keys(dataDir, '--help')).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Usage:/) })
  for (const args of [['list'], ['add'], ['promote', 'x'], ['remove', 'x']]) {
    const { code, stderr } = await keys(dataDir, ...args)
    expect(code).toBe(1)
    expect(stderr).toMatch(/^\S+ has no key\. .+\n$/)
  }
  expect(await readdir(dataDir)).toEqual([])
  signingKey(dataDir)
  await chmod(join(dataDir, 'signing-key.pem'), 0o644)
  const { code, stderr } = await keys(dataDir, 'list')
  expect(code).toBe(1)
  expect(stderr).toMatch(/^\S+signing-key\.pem: other users can read .+\n$/)
})

test('several commands at once: one key signs, and every added key exists', async () => {
  const dataDir = await tempDir()
  signingKey(dataDir)
  const outputs = await Promise.all([1, 2, 3, 4].map(() => keys(dataDir, 'add')))
  const added = outputs.map(({ stdout }) => KID.exec(stdout)?.[0])
  const { stdout } = await keys(dataDir, 'list')
  expect(stdout.match(/ signs /g)).toHaveLength(1)
  expect(stdout.match(/ verifies /g)).toHaveLength(4)
  for (const kid of added) expect(stdout).toContain(kid)
})

test('rotation, step by step: no valid token is refused, and no token of the removed key is accepted', async () => {
  const env = { DATA_DIR: await tempDir(), BASE_URL: 'http://localhost:3000' }
  let app = await startBoth(env)
  const restart = async () => {
    app.kill('SIGTERM')
    expect(await app.exit).toEqual({ code: 0, signal: null })
    app = await startBoth(env)
  }
  const statuses = async (token: string) => [
    await statusOf(app.url + NORTH, token),
    await statusOf(app.reporting + REPORT, token),
  ]
  const kidOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()).kid
  const old = await tokenFrom(app.url, ALICE)
  expect(await statuses(old)).toEqual([200, 200])

  const [added = ''] = KID.exec((await keys(env.DATA_DIR, 'add')).stdout) ?? []
  await restart()
  const between = await tokenFrom(app.url, ALICE)
  expect(kidOf(between)).toBe(kidOf(old))
  for (const token of [old, between]) expect(await statuses(token)).toEqual([200, 200])

  await keys(env.DATA_DIR, 'promote', added)
  await restart()
  const fresh = await tokenFrom(app.url, ALICE)
  expect(kidOf(fresh)).toBe(added)
  for (const token of [old, between, fresh]) expect(await statuses(token)).toEqual([200, 200])

  expect(await keys(env.DATA_DIR, 'remove', kidOf(old))).toMatchObject({ code: 0 })
  await restart()
  for (const token of [old, between]) expect(await statuses(token)).toEqual([401, 401])
  expect(await statuses(fresh)).toEqual([200, 200])
})

import { chmod, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { signingKey } from '../../../example-app/data/signing-keys.js'
import { run, tempDir } from '../support.js'

const KID = /[\w-]{43}/

const keys = (dataDir: string, ...args: string[]) => run('commands/keys', args, { DATA_DIR: dataDir })

test('several commands at once: one key signs, every added key exists, and no output shows a key', async () => {
  const dataDir = await tempDir()
  signingKey(dataDir)
  const outputs = await Promise.all([1, 2, 3].map(() => keys(dataDir, 'add')))
  const [kid = '', ...others] = outputs.map(({ stdout }) => KID.exec(stdout)?.[0] ?? '')
  outputs.push(await keys(dataDir, 'promote', kid), await keys(dataDir, 'list'))
  const lines = outputs.at(-1)?.stdout.split('\n') ?? []
  expect(lines).toHaveLength(5)
  expect(lines[0]).toMatch(new RegExp(`^${kid}  signs {5}since \\d{4}-\\S+Z$`))
  for (const other of others) expect(lines).toContainEqual(expect.stringContaining(`${other}  verifies  since `))
  const [, secret = ''] = (await readFile(join(dataDir, 'signing-key.pem'), 'utf8')).split('\n')
  expect(secret).toMatch(/^MIG/)
  for (const { stdout, stderr } of outputs) expect(stdout + stderr).not.toMatch(new RegExp(`PRIVATE|MIG|${secret}`))
})

test('exits with 2 and the usage for wrong arguments, and with 1 without a key, or with one that others can read', async () => {
  const dataDir = await tempDir()
  const wrong = await keys(dataDir, 'rotate')
  expect(wrong).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringMatching(/^Unknown command\. .+\n\nUsage:\n/),
  })
  expect(await keys(dataDir, '--help')).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Usage:/) })
  const missing = { code: 1, stderr: expect.stringMatching(/^\S+ has no key\. .+\n$/) }
  for (const args of [['list'], ['add'], ['promote', 'x']]) expect(await keys(dataDir, ...args)).toMatchObject(missing)
  expect(await readdir(dataDir)).toEqual([])
  const { kid = '' } = signingKey(dataDir)
  const stderr = `${kid} is the signing key. Promote another key first.\n`
  expect(await keys(dataDir, 'remove', kid)).toMatchObject({ code: 1, stdout: '', stderr })
  await chmod(join(dataDir, 'signing-key.pem'), 0o644)
  const readable = { code: 1, stderr: expect.stringMatching(/^\S+signing-key\.pem: other users can read .+\n$/) }
  expect(await keys(dataDir, 'list')).toMatchObject(readable)
})

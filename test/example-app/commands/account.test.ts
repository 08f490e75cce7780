import { readdir } from 'node:fs/promises'
import { beforeEach, expect, test } from 'vitest'
import { login, NORTH, run, start, statusOf, tempDir, tokenFrom } from '../support.js'

const CAROL = { email: 'carol@example.com', password: 'first password' }
const SECRET = 'hunter2-hunter2'
let dataDir: string
beforeEach(async () => {
  dataDir = await tempDir()
})

/** Runs the command with a password from a pipe. */
const account = (args: readonly string[], input: string) => run('commands/account', args, { DATA_DIR: dataDir }, input)

test('adds an account, and sets its password while the server runs, which revokes its tokens', async () => {
  const args = ['add', 'Carol@Example.com', '--scope', 'statements:read', '--scope', 'reports:read']
  const added = await account(args, `${CAROL.password}\n`)
  expect(added).toMatchObject({ code: 0, stdout: 'Added Carol@Example.com.\n', stderr: '' })
  const { url } = await start({ DATA_DIR: dataDir })
  const token = await tokenFrom(url, CAROL)
  expect(await statusOf(url + NORTH, token)).toBe(200)
  const done = await account(['password', CAROL.email], 'second password\n')
  expect(done).toMatchObject({ code: 0, stdout: 'Set the password of carol@example.com.\n', stderr: '' })
  expect((await login(url, CAROL)).status).toBe(403)
  expect((await login(url, { ...CAROL, password: 'second password' })).status).toBe(200)
  expect(await statusOf(url + NORTH, token)).toBe(401)
})

test('refuses a short password, an unknown address, and one that is taken, in any letter case', async () => {
  const short = await account(['add', CAROL.email], 'short\n')
  expect(short).toMatchObject({ code: 1, stdout: '' })
  expect(short.stderr).toMatch(/must have at least 8 characters, but has 5\nNo account was changed\.\n$/)
  const unknown = await account(['password', CAROL.email], CAROL.password)
  expect(unknown).toMatchObject({ code: 1, stdout: '', stderr: 'No account has the address carol@example.com.\n' })
  expect(await account(['add', CAROL.email], CAROL.password)).toMatchObject({ code: 0 })
  const again = await account(['add', 'CAROL@example.com'], 'another password')
  expect(again).toMatchObject({ code: 1, stdout: '', stderr: 'The account CAROL@example.com exists already.\n' })
})

test('refuses a password as an argument, never repeats it, and creates no file', async () => {
  const { code, stdout, stderr } = await account(['add', CAROL.email, SECRET], CAROL.password)
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toMatch(/^A password is never an argument.+\n\nUsage:\n/)
  expect(stderr).not.toContain(SECRET)
  expect(await readdir(dataDir)).toEqual([])
})

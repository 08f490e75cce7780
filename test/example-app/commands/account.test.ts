import { readdir } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { type Command, readCommand } from '../../../example-app/commands/account-arguments.js'
import { UsageError } from '../../../example-app/errors.js'
import { login, NORTH, run, start, statusOf, tempDir, tokenFrom } from '../support.js'

const CAROL = { email: 'carol@example.com', password: 'first password' }
const SECRET = 'hunter2-hunter2'

const account = async (dataDir: string, args: readonly string[], input = '') =>
  run('commands/account', args, { DATA_DIR: dataDir }, input)

describe('add', () => {
  test.each(['\n', '\r\n', ''])('adds an account with a password from a pipe (end of line: %j)', async (end) => {
    const dataDir = await tempDir()
    const args = ['add', 'Carol@Example.com', '--scope', 'statements:read', '--scope', 'reports:read']
    const done = await account(dataDir, args, CAROL.password + end)
    expect(done).toMatchObject({ code: 0, stdout: 'Added Carol@Example.com.\n', stderr: '' })
    const { url } = await start({ DATA_DIR: dataDir })
    expect(await statusOf(url + NORTH, await tokenFrom(url, CAROL))).toBe(200)
  })

  test('refuses an address that is taken, in any letter case', async () => {
    const dataDir = await tempDir()
    await account(dataDir, ['add', CAROL.email], CAROL.password)
    const again = await account(dataDir, ['add', 'CAROL@example.com'], 'another password')
    expect(again).toMatchObject({ code: 1, stdout: '', stderr: 'The account CAROL@example.com exists already.\n' })
  })
})

describe('password', () => {
  test('sets a password while the server runs, and revokes the tokens issued before', async () => {
    const dataDir = await tempDir()
    await account(dataDir, ['add', CAROL.email, '--scope', 'statements:read'], CAROL.password)
    const { url } = await start({ DATA_DIR: dataDir })
    const token = await tokenFrom(url, CAROL)
    const done = await account(dataDir, ['password', CAROL.email], 'second password\n')
    expect(done).toMatchObject({ code: 0, stdout: 'Set the password of carol@example.com.\n', stderr: '' })
    expect((await login(url, CAROL)).status).toBe(403)
    expect((await login(url, { ...CAROL, password: 'second password' })).status).toBe(200)
    expect(await statusOf(url + NORTH, token)).toBe(401)
  })

  test('refuses an unknown address', async () => {
    const done = await account(await tempDir(), ['password', CAROL.email], CAROL.password)
    expect(done).toMatchObject({ code: 1, stdout: '', stderr: 'No account has the address carol@example.com.\n' })
  })
})

const TOO_SHORT =
  'express-token-endpoint: The password must have at least 8 characters, but has 5\nNo account was changed.\n'

test('refuses a short password and adds no account', async () => {
  const dataDir = await tempDir()
  const done = await account(dataDir, ['add', CAROL.email], 'short\n')
  expect(done).toMatchObject({ code: 1, stdout: '', stderr: TOO_SHORT })
  expect(await account(dataDir, ['add', CAROL.email], CAROL.password)).toMatchObject({ code: 0 })
})

test('refuses a password as an argument, never repeats it, and creates no file', async () => {
  const dataDir = await tempDir()
  const { code, stdout, stderr } = await account(dataDir, ['add', CAROL.email, SECRET], CAROL.password)
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toMatch(/^A password is never an argument.+\n\nUsage:\n/)
  expect(stderr).not.toContain(SECRET)
  expect(await readdir(dataDir)).toEqual([])
})

describe('the arguments', () => {
  test.each<[string[], Command]>([
    [['add', CAROL.email], { name: 'add', email: CAROL.email, scopes: [] }],
    [['add', '--scope', 'a', CAROL.email, '--scope=b:c'], { name: 'add', email: CAROL.email, scopes: ['a', 'b:c'] }],
    [['password', CAROL.email], { name: 'password', email: CAROL.email }],
    [['--help'], { name: 'help' }],
    [['add', '-h'], { name: 'help' }],
  ])('reads %j', (args, command) => {
    expect(readCommand(args)).toEqual(command)
  })

  test.each<[string[], RegExp]>([
    ...[
      ['add', CAROL.email, SECRET],
      ['password', CAROL.email, SECRET],
      ['add', CAROL.email, '--password', SECRET],
      ['add', CAROL.email, `--password=${SECRET}`],
      ['password', CAROL.email, `-p${SECRET}`],
    ].map((args): [string[], RegExp] => [args, /^A password is never an argument/]),
    ...['--password', `--pass=${SECRET}`, `--${SECRET}`, '--scope'].map((option): [string[], RegExp] => [
      ['add', CAROL.email, option],
      /^Unknown option\./,
    ]),
    [['add', CAROL.email, '--scope', 'two words'], /^A scope is one word/],
    [['add', CAROL.email, '--scope', ''], /^A scope is one word/],
    [['password', CAROL.email, '--scope', 'a'], /^"password" has no option --scope/],
    [['add', SECRET], /^Pass an e-mail address to "add"/],
    [['add', 'two words@example.com'], /^Pass an e-mail address to "add"/],
    [['add'], /^Pass an e-mail address to "add"/],
    [['password'], /^Pass an e-mail address to "password"/],
    [[SECRET], /^Unknown command\./],
    [[], /^Unknown command\./],
  ])('throws a UsageError that repeats no argument: %j', (args, says) => {
    expect(() => readCommand(args)).toThrow(UsageError)
    expect(() => readCommand(args)).toThrow(says)
    expect(() => readCommand(args)).not.toThrow(SECRET)
  })
})

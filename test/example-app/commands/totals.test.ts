import { expect, test } from 'vitest'
import { type Command, readCommand } from '../../../example-app/commands/totals-arguments.js'
import { UsageError } from '../../../example-app/errors.js'
import { freePort } from '../../support/services/servers/free-port.mjs'
import { ALICE, run, startBoth, tempDir } from '../support.js'

interface Setup {
  env?: Record<string, string>
  account?: { email: string; password: string }
  args?: readonly string[]
}

/** Runs the command against both APIs. Expects that it never prints the password. */
async function totals({ env, account = ALICE, args = [] }: Setup = {}) {
  const { url, reporting } = await startBoth({ DATA_DIR: await tempDir() })
  const service = { SERVICE_EMAIL: account.email, SERVICE_PASSWORD: account.password }
  const done = await run('commands/totals', args, { BASE_URL: url, REPORTING_URL: reporting, ...service, ...env })
  expect(done.stdout + done.stderr).not.toContain(account.password)
  return done
}

const NORTH = 'north  2013-05-02  1237.50\nnorth  2013-05-03  899.90\nnorth  2013-05-06  400.05\n'
const SOUTH = 'south  2013-05-02  3100.00\nsouth  2013-05-03  0.09\nsouth  2013-05-06  -425.00\n'

test('prints the totals of all houses', async () => {
  expect(await totals()).toMatchObject({ code: 0, stdout: NORTH + SOUTH, stderr: '' })
})

test('prints the totals of one house', async () => {
  expect(await totals({ args: ['--house', 'south'] })).toMatchObject({ code: 0, stdout: SOUTH, stderr: '' })
})

test.each<[string, Setup, RegExp]>([
  ['no password', { env: { SERVICE_PASSWORD: '' } }, /^Set SERVICE_EMAIL and SERVICE_PASSWORD .+\n$/],
])('exits with 1 and one line after %s', async (_what, setup, says) => {
  const { code, stdout, stderr } = await totals(setup)
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toMatch(says)
})

test('exits with 3 and one line when the clearing-house API is down', async () => {
  const env = { BASE_URL: `http://127.0.0.1:${await freePort()}` }
  const { code, stdout, stderr } = await totals({ env })
  expect({ code, stdout }).toEqual({ code: 3, stdout: '' })
  expect(stderr).toBe(`The clearing-house API at ${env.BASE_URL} is unreachable. Check BASE_URL.\n`)
})

test.each<[string[], Command]>([
  [[], { name: 'totals', house: undefined }],
  [['--house', 'north'], { name: 'totals', house: 'north' }],
  [['--help'], { name: 'help' }],
  [['-h', '--house=north'], { name: 'help' }],
])('reads %j', (args, command) => {
  expect(readCommand(args)).toEqual(command)
})

test.each<[string[], RegExp]>([
  [[ALICE.password], /^Unknown argument\./],
  [['--password', ALICE.password], /^Unknown argument\./],
  [['--house'], /^Unknown argument\./],
  [['--house', ''], /^The house is empty\./],
])('throws a UsageError that repeats no argument: %j', (args, says) => {
  expect(() => readCommand(args)).toThrow(UsageError)
  expect(() => readCommand(args)).toThrow(says)
  expect(() => readCommand(args)).not.toThrow(ALICE.password)
})

import { describe, expect, test } from 'vitest'
import { readCommand as account } from '../../../example-app/commands/account-arguments.js'
import { readCommand as keys } from '../../../example-app/commands/key-arguments.js'
import { readCommand as totals } from '../../../example-app/commands/totals-arguments.js'
import { UsageError } from '../../../example-app/errors.js'

const COMMANDS = { account, keys, totals }
type Name = keyof typeof COMMANDS

const email = 'carol@example.com'
const SECRET = 'hunter2-hunter2'
/** An id that looks like an option. */
const KID = `-${'a'.repeat(42)}`

describe('the arguments', () => {
  test.each<[Name, string[], object]>([
    ['account', ['add', email], { name: 'add', email, scopes: [] }],
    ['account', ['add', '--scope', 'a', email, '--scope=b:c'], { name: 'add', email, scopes: ['a', 'b:c'] }],
    ['account', ['password', email], { name: 'password', email }],
    ['account', ['add', '-h'], { name: 'help' }],
    ['keys', ['list'], { name: 'list' }],
    ['keys', ['add'], { name: 'add' }],
    ['keys', ['remove', KID], { name: 'remove', kid: KID }],
    ['keys', ['promote', '--', '-x'], { name: 'promote', kid: '-x' }],
    ['keys', ['remove', '-h'], { name: 'help' }],
    ['totals', [], { name: 'totals', house: undefined }],
    ['totals', ['--house', 'north'], { name: 'totals', house: 'north' }],
    ['totals', ['--help', '--house=north'], { name: 'help' }],
  ])('of %s are read: %j', (name, args, command) => {
    expect(COMMANDS[name](args)).toEqual(command)
  })

  const PASSWORD = /^A password is never an argument/
  test.each<[Name, string[], RegExp]>([
    ['account', ['add', email, SECRET], PASSWORD],
    ['account', ['password', email, SECRET], PASSWORD],
    ['account', ['add', email, '--password', SECRET], PASSWORD],
    ['account', ['password', email, `-p${SECRET}`], PASSWORD],
    ['account', ['add', email, `--pass=${SECRET}`], /^Unknown option\./],
    ['account', ['add', email, `--${SECRET}`], /^Unknown option\./],
    ['account', ['add', email, '--scope', 'two words'], /^A scope is one word/],
    ['account', ['add', email, '--scope', ''], /^A scope is one word/],
    ['account', ['password', email, '--scope', 'a'], /^"password" has no option --scope/],
    ['account', ['add', SECRET], /^Pass an e-mail address to "add"/],
    ['account', ['add', 'two words@example.com'], /^Pass an e-mail address to "add"/],
    ['account', ['password'], /^Pass an e-mail address to "password"/],
    ['account', [SECRET], /^Unknown command\./],
    ['keys', [], /^Unknown command\. /],
    ['keys', ['rotate'], /^Unknown command\. /],
    ['keys', ['list', 'x'], /has no further arguments/],
    ['keys', ['promote'], /^Pass the id of one key/],
    ['keys', ['remove', 'x', 'y'], /^Pass the id of one key/],
    ['keys', ['remove', '--force', 'x'], /^Unknown option\. Pass only --help\.$/],
    ['totals', [SECRET], /^Unknown argument\./],
    ['totals', ['--password', SECRET], /^Unknown argument\./],
    ['totals', ['--house', ''], /^The house is empty\./],
  ])('of %s are refused, and not repeated: %j', (name, args, says) => {
    expect(() => COMMANDS[name](args)).toThrow(UsageError)
    expect(() => COMMANDS[name](args)).toThrow(says)
    expect(() => COMMANDS[name](args)).not.toThrow(SECRET)
  })
})

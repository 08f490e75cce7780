import { describe, expect, test } from 'vitest'
import { type Command, readCommand } from '../../../example-app/commands/account-arguments.js'
import { UsageError } from '../../../example-app/errors.js'

const SECRET = 'hunter2-hunter2'
const email = 'carol@example.com'

test.each<[string[], Command]>([
  [['add', email], { name: 'add', email, scopes: [] }],
  [['add', '--scope', 'a', email, '--scope=b:c'], { name: 'add', email, scopes: ['a', 'b:c'] }],
  [['password', email], { name: 'password', email }],
  [['--help'], { name: 'help' }],
  [['add', '-h'], { name: 'help' }],
])('reads %j', (args, command) => {
  expect(readCommand(args)).toEqual(command)
})

describe('throws a UsageError that repeats no argument', () => {
  test.each<[string[], RegExp]>([
    ...[
      ['add', email, SECRET],
      ['password', email, SECRET],
      ['add', email, '--password', SECRET],
      ['add', email, `--password=${SECRET}`],
      ['password', email, `-p${SECRET}`],
    ].map((args): [string[], RegExp] => [args, /^A password is never an argument/]),
    ...['--password', `--pass=${SECRET}`, `--${SECRET}`, '--scope'].map((option): [string[], RegExp] => [
      ['add', email, option],
      /^Unknown option\./,
    ]),
    [['add', email, '--scope', 'two words'], /^A scope is one word/],
    [['add', email, '--scope', ''], /^A scope is one word/],
    [['password', email, '--scope', 'a'], /^"password" has no option --scope/],
    [['add', SECRET], /^Pass an e-mail address to "add"/],
    [['add', 'two words@example.com'], /^Pass an e-mail address to "add"/],
    [['add'], /^Pass an e-mail address to "add"/],
    [['password'], /^Pass an e-mail address to "password"/],
    [[SECRET], /^Unknown command\./],
    [[], /^Unknown command\./],
  ])('%j', (args, says) => {
    expect(() => readCommand(args)).toThrow(UsageError)
    expect(() => readCommand(args)).toThrow(says)
    expect(() => readCommand(args)).not.toThrow(SECRET)
  })
})

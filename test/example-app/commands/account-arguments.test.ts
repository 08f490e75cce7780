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
    [['add', email, SECRET], /^A password is never an argument/],
    [['password', email, SECRET], /^A password is never an argument/],
    [['add', email, '--password', SECRET], /^A password is never an argument/],
    [['add', email, `--password=${SECRET}`], /^A password is never an argument/],
    [['password', email, `-p${SECRET}`], /^A password is never an argument/],
    [['add', email, '--password'], /^Unknown option\./],
    [['add', email, `--pass=${SECRET}`], /^Unknown option\./],
    [['add', email, `--${SECRET}`], /^Unknown option\./],
    [['add', email, '--scope'], /^Unknown option\./],
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

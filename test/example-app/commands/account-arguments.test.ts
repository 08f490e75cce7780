import { describe, expect, test } from 'vitest'
import { type Command, readCommand, UsageError } from '../../../example-app/commands/account-arguments.js'

const SECRET = 'hunter2-hunter2'
const email = 'carol@example.com'

test.each<[string[], Command]>([
  [['add', email], { name: 'add', email, scopes: [] }],
  [['add', '--scope', 'a', email, '--scope=b:c'], { name: 'add', email, scopes: ['a', 'b:c'] }],
  [['password', email], { name: 'password', email }],
  [['--help'], { name: 'help' }],
  [['add', '-h'], { name: 'help' }],
])('%j is understood', (args, command) => {
  expect(readCommand(args)).toEqual(command)
})

describe('wrong usage, and no argument is repeated: it may be a password', () => {
  test.each<[string[], RegExp]>([
    [['add', email, SECRET], /^A password is never an argument/],
    [['password', email, SECRET], /^A password is never an argument/],
    [['add', email, '--password', SECRET], /^A password is never an argument/],
    [['add', email, `--password=${SECRET}`], /^A password is never an argument/],
    [['password', email, `-p${SECRET}`], /^A password is never an argument/],
    [['add', email, '--password'], /^The options are/],
    [['add', email, `--pass=${SECRET}`], /^The options are/],
    [['add', email, `--${SECRET}`], /^The options are/],
    [['add', email, '--scope'], /^The options are/],
    [['add', email, '--scope', 'two words'], /^A scope is one word/],
    [['add', email, '--scope', ''], /^A scope is one word/],
    [['password', email, '--scope', 'a'], /^"password" takes no --scope/],
    [['add', SECRET], /^"add" needs an e-mail address/],
    [['add', 'two words@example.com'], /^"add" needs an e-mail address/],
    [['add'], /^"add" needs an e-mail address/],
    [['password'], /^"password" needs an e-mail address/],
    [[SECRET], /^The command must be/],
    [[], /^The command must be/],
  ])('%j', (args, says) => {
    expect(() => readCommand(args)).toThrow(UsageError)
    expect(() => readCommand(args)).toThrow(says)
    expect(() => readCommand(args)).not.toThrow(SECRET)
  })
})

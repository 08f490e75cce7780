import { expect, test } from 'vitest'
import { type Command, readCommand } from '../../../example-app/commands/totals-arguments.js'
import { UsageError } from '../../../example-app/errors.js'

const SECRET = 'hunter2-hunter2'

test.each<[string[], Command]>([
  [[], { name: 'totals', house: undefined }],
  [['--house', 'north'], { name: 'totals', house: 'north' }],
  [['--help'], { name: 'help' }],
  [['-h', '--house=north'], { name: 'help' }],
])('reads %j', (args, command) => {
  expect(readCommand(args)).toEqual(command)
})

test.each<[string[], RegExp]>([
  [[SECRET], /^Unknown argument\./],
  [['--password', SECRET], /^Unknown argument\./],
  [['--house'], /^Unknown argument\./],
  [['--house', ''], /^The house is empty\./],
])('throws a UsageError that repeats no argument: %j', (args, says) => {
  expect(() => readCommand(args)).toThrow(UsageError)
  expect(() => readCommand(args)).toThrow(says)
  expect(() => readCommand(args)).not.toThrow(SECRET)
})

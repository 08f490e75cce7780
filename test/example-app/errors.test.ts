import { expect, test } from 'vitest'
import { outageLog } from '../../example-app/data/databases/outage.js'
import { explain, messageOf, OperatorError, Outage } from '../../example-app/errors.js'

const coded = Object.assign(new Error('connect ECONNREFUSED ::1:1'), { code: 'ECONNREFUSED' })

const both = new AggregateError([coded, new Error('connect ECONNREFUSED 127.0.0.1:1')])

test.each<[string, unknown, string]>([
  ['of a setting', new OperatorError('PORT is invalid'), 'PORT is invalid'],
  ['of an outage', new Outage('Redis: Command timed out'), 'Redis: Command timed out'],
  ['of the operating system', coded, 'connect ECONNREFUSED ::1:1'],
  [
    'of a host name with two addresses',
    Object.assign(both, { code: 'ECONNREFUSED' }),
    'connect ECONNREFUSED ::1:1; connect ECONNREFUSED 127.0.0.1:1',
  ],
  ['that is a string', 'down', 'down'],
])('an error %s is one line', (_what, error, line) => {
  expect([explain(error), messageOf(error)]).toEqual([line, line])
})

test('a bug has its stack', () => {
  expect(explain(new TypeError('broken'))).toMatch(/^TypeError: broken\n +at /)
  expect(messageOf(new TypeError('broken'))).toBe('broken')
})

test('outageLog logs the start and the end of an outage once each', () => {
  const logged: string[] = []
  const outage = outageLog('Redis', (line) => logged.push(line))
  outage.ended()
  expect(logged).toEqual([])
  for (const message of ['one', 'two']) outage.began(new Error(message))
  for (const _ of [1, 2]) outage.ended()
  outage.began(new Error('three'))
  expect(logged).toEqual(['Redis is unreachable: one', 'Redis is back.', 'Redis is unreachable: three'])
})

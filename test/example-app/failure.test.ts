import { describe, expect, test } from 'vitest'
import { outageLog } from '../../example-app/data/databases/outage.js'
import { explain, Failure, messageOf, Outage } from '../../example-app/failure.js'

const coded = Object.assign(new Error('connect ECONNREFUSED ::1:1'), { code: 'ECONNREFUSED' })

describe('an error is told', () => {
  test.each<[string, unknown, string]>([
    ['of a setting', new Failure('PORT must be a number'), 'PORT must be a number'],
    ['of an outage', new Outage('Redis: Command timed out'), 'Redis: Command timed out'],
    ['of the operating system', coded, 'connect ECONNREFUSED ::1:1'],
    [
      'of a host name with two addresses',
      Object.assign(new AggregateError([coded, new Error('connect ECONNREFUSED 127.0.0.1:1')]), {
        code: 'ECONNREFUSED',
      }),
      'connect ECONNREFUSED ::1:1; connect ECONNREFUSED 127.0.0.1:1',
    ],
    ['that is no error', 'down', 'down'],
  ])('%s: in one line', (_what, error, line) => {
    expect(explain(error)).toBe(line)
    expect(messageOf(error)).toBe(line)
  })

  test('of a bug: with its stack', () => {
    expect(explain(new TypeError('broken'))).toMatch(/^TypeError: broken\n +at /)
    expect(messageOf(new TypeError('broken'))).toBe('broken')
  })
})

test('an outage is told once, and its end once', () => {
  const logged: string[] = []
  const outage = outageLog('Redis', (line) => logged.push(line))
  outage.ended()
  expect(logged).toEqual([])
  for (const message of ['one', 'two']) outage.began(new Error(message))
  for (const _ of [1, 2]) outage.ended()
  outage.began(new Error('three'))
  expect(logged).toEqual(['Redis is away: one', 'Redis is back.', 'Redis is away: three'])
})

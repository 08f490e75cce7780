import { describe, expect, it } from 'vitest'
import { type HostOptions, hostSchema } from '../../../src/http/host-options.js'
import { readOptions } from '../../../src/options/read-options.js'
import { expectMisuse } from '../../support/failures.js'

const read = (options: object) => readOptions<HostOptions, typeof hostSchema>('tokenRouter', options, hostSchema)

describe('the options of the router and the guard', () => {
  it('have defaults: 5 s for each dependency, and own responses', () => {
    expect(read({})).toEqual({ timeout: 5000, onEvent: undefined })
  })

  it.each([
    [
      { refuse: 'x' },
      'option "refuse" must be a function (error, req, next) => ({ status, body }), but is a string of 1',
    ],
    [{ onEvent: 'log' }, 'option "onEvent" must be a function, but is a string of 3 characters'],
  ])('refuse %j', (options, message) => {
    expectMisuse(() => read(options), message)
  })
})

import { expect, it } from 'vitest'
import { GUARDED_REQUESTS, TOKEN_CALLS } from '../../../src/http/request-limits.js'

it('limits the requests that wait: in total, of one network', () => {
  expect(GUARDED_REQUESTS).toEqual({ total: 4096, perNetwork: 2048 })
  expect(TOKEN_CALLS).toEqual({ total: 2048, perNetwork: 1024, perConnection: 16 })
})

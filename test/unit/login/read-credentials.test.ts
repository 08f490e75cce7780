import { expect, it } from 'vitest'
import type { BodyRequest } from '../../../src/http/body.js'
import { NO_LIMITS } from '../../../src/limits/attempt.js'
import { createCredentialsReader } from '../../../src/login/read-credentials.js'
import { all } from '../../support/concurrency.js'
import { GOOD } from '../../support/host.js'

it('reads a body of another client before those of a client that floods', async () => {
  const limits = { bodyLimit: 10_240, allowedOrigins: new Set<string>() }
  const login = { limits: NO_LIMITS, extraFields: [] }
  const read = createCredentialsReader({ ...limits, ...login, credentials: undefined })
  const req = { headers: { 'content-type': 'application/json' }, rawHeaders: [], body: GOOD } as unknown as BodyRequest
  const { signal } = new AbortController()
  const order: string[] = []
  await all(41, async (i) => {
    const network = i < 40 ? 'flood' : 'other'
    await read(req, { req, address: undefined, network, signal })
    order.push(network)
  })
  expect(order.indexOf('other')).toBeLessThan(16)
})

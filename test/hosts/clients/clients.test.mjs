import express from 'express'
import { describe, it } from 'vitest'
import { PYTHON } from '../../support/services/python.js'
import { byFetch, expectHost, start } from '../expect-host.js'
import { makeKit, NO_HOSTS } from '../kit.js'

const startApp = () => {
  const { router, guard, authOf } = makeKit()
  const app = express().use(router)
  app.get('/reports', guard, (req, res) => res.json({ account: authOf(req).accountId }))
  return start(app)
}

describe('clients', () => {
  it('fetch', async () => expectHost(await startApp(), { call: byFetch }))

  it.skipIf(NO_HOSTS).each([
    ['curl', 'byCurl'],
    ['axios', 'byAxios'],
    ['got', 'byGot'],
    ['undici', 'byUndici'],
    ['openapi-fetch', 'byOpenApiFetch'],
  ])('%s', async (_, name) => {
    const calls = await import('./calls.mjs')
    await expectHost(await startApp(), { call: calls[name] })
  })

  it.skipIf(NO_HOSTS || !PYTHON)("Python's requests", async () => {
    const { byRequests } = await import('./calls.mjs')
    await expectHost(await startApp(), { call: byRequests })
  })
})

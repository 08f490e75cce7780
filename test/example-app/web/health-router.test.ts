import express from 'express'
import request from 'supertest'
import { expect, onTestFinished, test, vi } from 'vitest'
import { type Checks, healthRouter } from '../../../example-app/web/health-router.js'
import { deferred, until } from '../../support/concurrency.js'

const appWith = (checks: Checks) => express().use(healthRouter(checks))
const down = () => Promise.reject(new Error('connect ECONNREFUSED user:s3cret@db'))

test.each<[string, number, object, Checks]>([
  ['every check passes', 200, { database: 'ok', redis: 'ok' }, { database: async () => 1, redis: async () => 'PONG' }],
  ['there are no checks', 200, {}, {}],
  [
    'a check fails, whose error is hidden',
    503,
    { database: 'ok', redis: 'unavailable' },
    { database: async () => 1, redis: down },
  ],
  ['a check throws at once', 503, { database: 'unavailable' }, { database: () => expect.fail('broken') }],
])('/readyz when %s: %i', async (_what, status, results, checks) => {
  const { body } = await request(appWith(checks)).get('/readyz').expect(status).expect('Cache-Control', 'no-store')
  expect(body).toEqual({ status: status === 200 ? 'ok' : 'unavailable', checks: results })
})

test('not ready: a check that takes longer than a second', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const { promise: asking, resolve: asked } = deferred<void>()
  const hanging = () => {
    asked()
    return new Promise(() => {})
  }
  const response = request(appWith({ database: hanging }))
    .get('/readyz')
    .then((res) => res)
  await asking
  await vi.advanceTimersByTimeAsync(1000)
  expect(await response).toMatchObject({ status: 503, body: { checks: { database: 'unavailable' } } })
})

test('concurrent requests share one check, and a later request runs a new one', async () => {
  let [arrived, asked] = [0, 0]
  let finishCheck = () => {}
  const database = () => {
    asked++
    return new Promise<void>((resolve) => {
      finishCheck = resolve
    })
  }
  const app = express()
  app.use((_req, _res, next) => {
    arrived++
    next()
  })
  const server = app.use(healthRouter({ database })).listen(0)
  onTestFinished(() => void server.close())
  const ask = () =>
    request(server)
      .get('/readyz')
      .then((res) => res.status)
  const both = [ask(), ask()]
  await until(() => expect(arrived).toBe(2))
  expect(asked).toBe(1)
  finishCheck()
  expect(await Promise.all(both)).toEqual([200, 200])
  const later = ask()
  await until(() => expect(asked).toBe(2))
  finishCheck()
  expect(await later).toBe(200)
})

test('alive while a check fails', async () => {
  const { body } = await request(appWith({ database: down }))
    .get('/healthz')
    .expect(200)
    .expect('Cache-Control', 'no-store')
  expect(body).toEqual({ status: 'ok' })
})

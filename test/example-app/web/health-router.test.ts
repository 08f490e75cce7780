import express from 'express'
import request from 'supertest'
import { expect, onTestFinished, test, vi } from 'vitest'
import { type Checks, healthRouter } from '../../../example-app/web/health-router.js'
import { deferred, until } from '../../support/concurrency.js'

const down = () => Promise.reject(new Error('connect ECONNREFUSED user:s3cret@db'))
const works = async () => 'PONG'

test.each<[string, number, object, Checks]>([
  ['every check passes', 200, { database: 'ok', redis: 'ok' }, { database: works, redis: works }],
  ['there are no checks', 200, {}, {}],
  ['a check fails, whose error is hidden', 503, { a: 'ok', b: 'unavailable' }, { a: works, b: down }],
  ['a check throws at once', 503, { a: 'unavailable' }, { a: () => expect.fail('broken') }],
])('/readyz when %s: %i, and /healthz is 200', async (_what, status, checks, given) => {
  const app = express().use(healthRouter(given))
  const { body } = await request(app).get('/readyz').expect(status).expect('Cache-Control', 'no-store')
  expect(body).toEqual({ status: status === 200 ? 'ok' : 'unavailable', checks })
  await request(app).get('/healthz').expect(200, { status: 'ok' }).expect('Cache-Control', 'no-store')
})

test('concurrent requests share one check, and a later request runs a new one, which takes at most a second', async () => {
  let [arrived, asked] = [0, 0]
  let [began, ends] = [deferred<void>(), deferred<void>()]
  const database = () => {
    asked++
    began.resolve()
    return ends.promise
  }
  const app = express().use((_req, _res, next) => {
    arrived++
    next()
  })
  const server = app.use(healthRouter({ database })).listen(0)
  onTestFinished(() => void server.close())
  const ask = async () => (await request(server).get('/readyz')).status
  const both = [ask(), ask()]
  await until(() => expect(arrived).toBe(2))
  expect(asked).toBe(1)
  ends.resolve()
  expect(await Promise.all(both)).toEqual([200, 200])

  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  ;[began, ends] = [deferred(), deferred()]
  const later = ask()
  await began.promise
  await vi.advanceTimersByTimeAsync(1000)
  expect(await later).toBe(503)
})

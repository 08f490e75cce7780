import express from 'express'
import request from 'supertest'
import { expect, onTestFinished, test, vi } from 'vitest'
import { type Checks, healthRouter } from '../../../example-app/web/health-router.js'

const appWith = (checks: Checks) => express().use(healthRouter(checks))
const down = () => Promise.reject(new Error('connect ECONNREFUSED user:s3cret@db'))

test('ready: every check passes', async () => {
  const { body } = await request(appWith({ database: async () => 1, redis: async () => 'PONG' }))
    .get('/readyz')
    .expect(200)
    .expect('Cache-Control', 'no-store')
  expect(body).toEqual({ status: 'ok', checks: { database: 'ok', redis: 'ok' } })
})

test('ready: without checks', async () => {
  expect((await request(appWith({})).get('/readyz').expect(200)).body).toEqual({ status: 'ok', checks: {} })
})

test('not ready: names the check and hides its error', async () => {
  const { body } = await request(appWith({ database: async () => 1, redis: down }))
    .get('/readyz')
    .expect(503)
    .expect('Cache-Control', 'no-store')
  expect(body).toEqual({ status: 'unavailable', checks: { database: 'ok', redis: 'unavailable' } })
})

test('not ready: a check that throws at once', async () => {
  const broken = () => {
    throw new Error('broken')
  }
  await request(appWith({ database: broken }))
    .get('/readyz')
    .expect(503)
})

test('not ready: a check that takes longer than a second', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  let asked = () => {}
  const asking = new Promise<void>((resolve) => {
    asked = resolve
  })
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
  await vi.waitFor(() => expect(arrived).toBe(2))
  expect(asked).toBe(1)
  finishCheck()
  expect(await Promise.all(both)).toEqual([200, 200])
  const later = ask()
  await vi.waitFor(() => expect(asked).toBe(2))
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

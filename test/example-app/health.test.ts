import express from 'express'
import request from 'supertest'
import { expect, onTestFinished, test, vi } from 'vitest'
import { type Checks, healthRouter } from '../../example-app/health.js'

const appWith = (checks: Checks) => express().use(healthRouter(checks))
const down = () => Promise.reject(new Error('connect ECONNREFUSED user:s3cret@db'))

test('ready: every part answers', async () => {
  const { body } = await request(appWith({ database: async () => 1, redis: async () => 'PONG' }))
    .get('/readyz')
    .expect(200)
    .expect('Cache-Control', 'no-store')
  expect(body).toEqual({ status: 'ok', parts: { database: 'ok', redis: 'ok' } })
})

test('ready: with nothing behind it', async () => {
  expect((await request(appWith({})).get('/readyz').expect(200)).body).toEqual({ status: 'ok', parts: {} })
})

test('not ready: names the part, and nothing of its fault', async () => {
  const { body } = await request(appWith({ database: async () => 1, redis: down }))
    .get('/readyz')
    .expect(503)
    .expect('Cache-Control', 'no-store')
  expect(body).toEqual({ status: 'unavailable', parts: { database: 'ok', redis: 'unavailable' } })
})

test('not ready: a part that throws at once', async () => {
  const broken = () => {
    throw new Error('broken')
  }
  await request(appWith({ database: broken }))
    .get('/readyz')
    .expect(503)
})

test('not ready: a part that does not answer in time', async () => {
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
  const answer = request(appWith({ database: hanging }))
    .get('/readyz')
    .then((res) => res)
  await asking
  await vi.advanceTimersByTimeAsync(1000)
  expect(await answer).toMatchObject({ status: 503, body: { parts: { database: 'unavailable' } } })
})

test('many questions at once are one to the part, and a later one is a new one', async () => {
  let asked = 0
  let answer = () => {}
  const app = appWith({
    database: () => {
      asked++
      return new Promise<void>((resolve) => {
        answer = resolve
      })
    },
  })
  const server = app.listen(0)
  onTestFinished(() => void server.close())
  const both = [request(server).get('/readyz'), request(server).get('/readyz')].map((one) =>
    one.then((res) => res.status),
  )
  // The second one has come in when a request behind it is answered.
  await vi.waitFor(() => expect(asked).toBe(1))
  await request(server).get('/healthz')
  answer()
  expect(await Promise.all(both)).toEqual([200, 200])
  const later = request(server)
    .get('/readyz')
    .then((res) => res.status)
  await vi.waitFor(() => expect(asked).toBeGreaterThan(1))
  answer()
  expect(await later).toBe(200)
})

test('alive, whatever the parts do', async () => {
  const { body } = await request(appWith({ database: down }))
    .get('/healthz')
    .expect(200)
    .expect('Cache-Control', 'no-store')
  expect(body).toEqual({ status: 'ok' })
})

import { once } from 'node:events'
import { createServer } from 'node:http'
import { describe, expect, it, onTestFinished } from 'vitest'
import { checkGuard } from '../guards.mjs'
import { startLoadClient } from './load-client.mjs'
import { inRounds, medianWithInterval, rowsOf } from './statistics.mjs'

it('gives the interval of a median, which extreme values do not change', () => {
  const values = Array.from({ length: 100 }, (_, i) => (i > 80 ? 1e6 : i))
  expect(medianWithInterval(values)).toEqual({ median: 49.5, low: 39, high: 60 })
  expect(medianWithInterval([3, 1, 2])).toEqual({ median: 2, low: 1, high: 3 })
})

it('compares two variants within each round, so that a disturbed round changes no ratio', async () => {
  let call = 0
  const variants = [1, 2].map((is) => ({ name: `${is}`, is }))
  const rounds = await inRounds(3, variants, async ({ is }) => is * 10 ** (call++ >> 1))
  expect(rowsOf(rounds, { base: '1' }).map(({ ratio }) => ratio.median)).toEqual([1, 2])
  await expect(inRounds(1, [{ name: 'a' }, { name: 'a' }], () => 0)).rejects.toThrow('same name')
})

describe('the load generator', () => {
  async function serve(answer) {
    const server = createServer(answer).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const client = await startLoadClient()
    onTestFinished(() => {
      client.stop()
      server.closeAllConnections()
      server.close()
    })
    const requests = ['/a', '/b', '/c'].map((path) => ({ method: 'GET', path }))
    return client.open(server.address().port, requests, { connections: 1, depth: 3 })
  }

  it('counts the responses by status, and opens a closed connection again', async () => {
    const statuses = { '/a': 200, '/b': 403, '/c': 503 }
    let left = 30
    const load = await serve((req, res) => {
      if (left-- === 0) return req.socket.destroy()
      res.statusCode = statuses[req.url]
      res.end(req.url.repeat(res.statusCode * 50))
    })
    await load.begin()
    while (left > -20) await new Promise(setImmediate)
    const found = await load.stop()
    expect(found).toMatchObject({ closed: 1, total: found.statuses[200] + found.statuses[403] + found.statuses[503] })
    expect(found.statuses[503]).toBeGreaterThan(10)
  })

  it('fails for a response without a length', async () => {
    const load = await serve((_req, res) => res.write('x') && res.end())
    await expect(load.run(1)).rejects.toThrow('a response without a length: HTTP/1.1 200 OK')
  })
})

const seen = new Set()
it.each([
  ['refuses a good token', () => false],
  ['accepts a bad signature', (token) => token !== 'expired'],
  ['accepts an expired token', (token) => token !== 'forged'],
  ['refuses a good token that it has seen', (token) => token === 'good' && !seen.has(token) && !!seen.add(token)],
])('a guard is not measured when it %s', async (fault, accepts) => {
  const samples = { good: 'good', forged: 'forged', expired: 'expired' }
  await expect(checkGuard('peer', accepts, samples)).rejects.toThrow(`peer: ${fault}`)
})

import { createServer } from 'node:http'
import { describe, expect, it, onTestFinished } from 'vitest'
import { checkGuard } from '../guards.mjs'
import { startLoadClient } from './load-client.mjs'
import { inRounds, medianWithInterval, quantile, rowsOf } from './statistics.mjs'

describe('statistics', () => {
  it('interpolates a quantile, and leaves the values in their order', () => {
    const values = [4, 1, 3, 2]
    expect([quantile(values, 0), quantile(values, 0.5), quantile(values, 1)]).toEqual([1, 2.5, 4])
    expect(values).toEqual([4, 1, 3, 2])
  })

  it('gives the interval of a median, which extreme values do not change', () => {
    const values = Array.from({ length: 100 }, (_, i) => (i > 80 ? 1e6 : i))
    expect(medianWithInterval(values)).toEqual({ median: 49.5, low: 39, high: 60 })
    expect(medianWithInterval([3, 1, 2])).toEqual({ median: 2, low: 1, high: 3 })
  })

  it('compares two variants within each round, so that a disturbed round changes no ratio', async () => {
    let call = 0
    const rounds = await inRounds(
      3,
      [
        { name: 'a', is: 1 },
        { name: 'b', is: 2 },
      ],
      async ({ is }) => is * 10 ** (call++ >> 1),
    )
    expect(rowsOf(rounds, { base: 'a' }).map(({ name, ratio }) => [name, ratio.median])).toEqual([
      ['a', 1],
      ['b', 2],
    ])
    await expect(inRounds(1, [{ name: 'a' }, { name: 'a' }], () => 0)).rejects.toThrow('same name')
  })
})

describe('the load generator', () => {
  async function serve(answer) {
    const server = createServer(answer)
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
    const client = await startLoadClient()
    onTestFinished(() => {
      client.stop()
      server.closeAllConnections()
      server.close()
    })
    return client.open(
      server.address().port,
      ['/a', '/b', '/c'].map((path) => ({ method: 'GET', path })),
      {
        connections: 1,
        depth: 3,
      },
    )
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

describe('a guard is not measured', () => {
  const samples = { good: 'good', forged: 'forged', expired: 'expired' }
  const seen = new Set()
  it.each([
    ['refuses a good token', () => false],
    ['accepts a bad signature', (token) => token !== 'expired'],
    ['accepts an expired token', (token) => token !== 'forged'],
    [
      'refuses a good token that it has seen',
      (token) => token === 'good' && !seen.has(token) && Boolean(seen.add(token)),
    ],
  ])('when it %s', async (fault, accepts) => {
    await expect(checkGuard('peer', accepts, samples)).rejects.toThrow(`peer: ${fault}`)
  })
})

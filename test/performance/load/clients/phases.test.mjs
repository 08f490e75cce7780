import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { loadThrough } from './phases.mjs'

const ALLOWED = { up: [200], down: [503], changing: [200, 503] }
const check = ({ status }) => (status === 200 ? undefined : `${status} instead of 200`)

/** Starts a load on a fake server that returns only a status. */
function load({ take = 0 } = {}) {
  const server = { status: 200 }
  const send = async () => {
    const { status } = server
    await sleep(take)
    return { status }
  }
  const next = () => ({ kind: 'x', request: {}, check, send })
  return { server, ...loadThrough({ size: 2, next, allowed: (_kind, phase) => ALLOWED[phase], pauseMs: 1 }) }
}

it('right answers in each phase are no fault', async () => {
  const { server, during, stop } = load()
  const up = await during('up', 30)
  server.status = 503
  await sleep(10)
  const down = await during('down', 30)
  const all = await stop()
  expect([up.wrong(), down.wrong(), all.wrong()]).toEqual([0, 0, 0])
  expect(up.of('x', 200)).toBeGreaterThan(0)
  expect(down.of('x', 503)).toBeGreaterThan(0)
})

it('one that is let in while it should not be is found, in its phase and in all', async () => {
  const { enter, stop } = load()
  const down = enter('down')
  while (down.total() === 0) await sleep(1)
  enter('changing')
  const all = await stop()
  expect(down.wrong()).toBe(down.total())
  expect(down.examples()).toEqual(['x: 200 instead of 503'])
  expect(all.wrong()).toBeGreaterThanOrEqual(down.wrong())
})

it('what is answered in another phase than it was asked in counts in none', async () => {
  const { enter, stop } = load({ take: 20 })
  await sleep(5)
  const down = enter('down')
  await sleep(5)
  enter('changing')
  const all = await stop()
  expect(down.total()).toBe(0)
  expect(all.total()).toBeGreaterThan(0)
  expect(all.wrong()).toBe(0)
})

it('what nobody may answer is a fault at any time', async () => {
  const { server, stop } = load()
  server.status = 500
  await sleep(10)
  expect((await stop()).examples()).toContain('x: changing: 500 instead of 200 or 503')
})

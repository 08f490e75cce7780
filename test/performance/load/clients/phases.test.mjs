import { expect, it } from 'vitest'
import { loadThrough } from './phases.mjs'

const CLIENTS = 2
const ALLOWED = { up: [200], down: [503], changing: [200, 503] }
const check = ({ status }) => (status === 200 ? undefined : `${status} instead of 200`)

async function until(isTrue) {
  while (!isTrue()) await new Promise(setImmediate)
}

/** Starts a load on a fake server that returns only a status. The server waits while it is `held`. */
function load() {
  const server = { status: 200, held: undefined, waiting: 0, answered: 0 }
  const send = async () => {
    const { status } = server
    server.waiting++
    await server.held
    server.waiting--
    server.answered++
    return { status }
  }
  const next = () => ({ kind: 'x', request: {}, check, send })
  /** Waits for more responses than are under way, so that requests after this call have one. */
  const oneRound = async () => {
    const before = server.answered
    await until(() => server.answered > before + 2 * CLIENTS)
  }
  const allowed = (_kind, phase) => ALLOWED[phase]
  return { server, oneRound, ...loadThrough({ size: CLIENTS, next, allowed, pauseMs: 0 }) }
}

it('finds no fault when each response is allowed in its phase', async () => {
  const { server, oneRound, enter, stop } = load()
  const up = enter('up')
  await oneRound()
  enter('changing')
  server.status = 503
  await oneRound()
  const down = enter('down')
  await oneRound()
  const all = await stop()
  expect([up.wrong(), down.wrong(), all.wrong()]).toEqual([0, 0, 0])
  expect(up.of('x', 200)).toBeGreaterThan(0)
  expect(down.of('x', 503)).toBeGreaterThan(0)
})

it('finds a response that is not allowed, in its phase and in the whole run', async () => {
  const { oneRound, enter, stop } = load()
  const down = enter('down')
  await oneRound()
  enter('changing')
  const all = await stop()
  expect(down.total()).toBeGreaterThan(0)
  expect(down.wrong()).toBe(down.total())
  expect(down.examples()).toEqual(['x: 200 instead of 503'])
  expect(all.wrong()).toBe(down.wrong())
})

it('counts a response in no phase when the phase has changed since the request', async () => {
  const { server, oneRound, enter, stop } = load()
  const up = enter('up')
  let release
  server.held = new Promise((resolve) => {
    release = resolve
  })
  await until(() => server.waiting === CLIENTS)
  const inUp = up.total()
  server.status = 503
  const down = enter('down')
  server.held = undefined
  release()
  await oneRound()
  const all = await stop()
  expect(up.total()).toBe(inUp)
  expect(down.of('x', 200)).toBe(0)
  expect([down.wrong(), all.wrong()]).toEqual([0, 0])
})

it('finds a response that no phase allows at any time', async () => {
  const { server, oneRound, stop } = load()
  server.status = 500
  await oneRound()
  expect((await stop()).examples()).toContain('x: changing: 500 instead of 200 or 503')
})

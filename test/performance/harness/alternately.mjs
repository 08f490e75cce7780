import { startLoadClient } from './load-client.mjs'
import { CLIENT_CORE, cpuSince } from './processes.mjs'
import { inRounds, median, medianWithInterval } from './statistics.mjs'

/**
 * Compares loads over HTTP. Each round starts new servers, because two processes of the same code differ in speed. In a round, the loads
 * run in turn, in slices that are so short that a disturbance of the machine affects all of them.
 * @param open starts the servers of a round. Returns `{ sides, close }`. Each side is `{ name, port, requests, programs, base }`:
 *   `programs` has functions for the processes whose processor time counts, by name, `api` first. Ratios are to the side `base`, by
 *   default to the first side
 * @param options `slices` is their number in each round, and `slice` and `warmUp` are milliseconds
 * @returns a row for each side, with medians and their 95 % intervals over the rounds. `ratio` is the number of responses in the same
 *   processor time of `api`, to the base. Without Linux, `ratio` is the number of responses in the same time. `cpu` has microseconds of each
 *   program for a response, and `more` has those that the base does not need
 * @throws Error for a response other than 200
 */
export async function alternately(open, { rounds, ...options }) {
  const found = []
  let sides
  while (found.length < rounds) {
    const opened = await open()
    sides = opened.sides
    found.push(await oneRound(sides, options))
    await opened.close()
  }
  return sides.map(({ name, programs, base = sides[0].name }) => {
    const over = (figure) => medianWithInterval(found.map(figure))
    const ofEach = (figure) => Object.fromEntries(Object.keys(programs).map((part) => [part, over(figure(part))]))
    return {
      name,
      ratio: over((round) => round[name].ratio),
      cpu: ofEach((part) => (round) => round[name].cpu[part]),
      more: ofEach((part) => (round) => round[name].cpu[part] - round[base].cpu[part]),
    }
  })
}

async function oneRound(sides, { slices = 20, slice = 40, warmUp = 300, connections = 32 }) {
  const client = await startLoadClient({ core: CLIENT_CORE })
  const loads = new Map()
  for (const { name, port, requests } of sides) loads.set(name, await client.open(port, requests, { connections }))
  for (const load of loads.values()) await load.run(warmUp)
  const values = await inRounds(slices, sides, async ({ name, programs }) => {
    const started = Object.entries(programs).map(([part, pids]) => [part, cpuSince(pids)])
    const { perSecond, total, statuses } = await loads.get(name).run(slice)
    if (statuses[200] !== total) throw new Error(`${name}: responses by status: ${JSON.stringify(statuses)}`)
    const cpu = Object.fromEntries(started.map(([part, used]) => [part, used() / total]))
    return { cpu, speed: cpu.api > 0 ? 1 / cpu.api : perSecond }
  })
  client.stop()
  const over = (figure) => median(values.map(figure))
  const roundOf = ({ name, programs, base = sides[0].name }) => ({
    ratio: over((value) => value[name].speed / value[base].speed),
    cpu: Object.fromEntries(Object.keys(programs).map((part) => [part, over((value) => value[name].cpu[part])])),
  })
  return Object.fromEntries(sides.map((side) => [side.name, roundOf(side)]))
}

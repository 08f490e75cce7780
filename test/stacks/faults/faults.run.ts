import { expect, test } from 'vitest'
import { soundParts } from '../../contract/command/host.js'
import { check, FAULTS } from '../../contract/command/planted.js'
import { failingWith } from './found.js'
import { PLANTS } from './plants.js'

const print = (text: string) => void process.stdout.write(`${text}\n`)
const percent = (part: number, whole: number) => `${part} of ${whole} (${((100 * part) / whole).toFixed(1)} %)`

test('the check finds at least 90 % of the planted faults over HTTP', async () => {
  expect(await failingWith()).toEqual([])
  expect((await check(soundParts())).fails).toEqual([])

  const missed: string[] = []
  let own = 0
  for (const [name, [, plant]] of Object.entries(FAULTS)) {
    const sound = soundParts()
    const { fails } = await check({ ...sound, ...plant(sound) })
    if (fails.length > 0) own++
    else missed.push(`our format: ${name}`)
  }
  let mapped = 0
  for (const plant of PLANTS) {
    const fails = await failingWith(plant.plant)
    if (fails.length > 0) mapped++
    else missed.push(`mapping: ${plant.name}`)
  }
  print(`Our wire format: ${percent(own, Object.keys(FAULTS).length)} planted faults are found.`)
  print(`Another API, through a mapping: ${percent(mapped, PLANTS.length)} are found.`)
  print(`Together: ${percent(own + mapped, Object.keys(FAULTS).length + PLANTS.length)}. Not found:`)
  for (const name of missed) print(`- ${name}`)
  expect(mapped / PLANTS.length).toBeGreaterThanOrEqual(0.9)
})

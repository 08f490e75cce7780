import { writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { restoreClocks } from '../clocks.js'
import type { Maker } from '../contestant.js'
import { type Ability, Failed, type Fault } from '../fault.js'
import { ours } from '../ours.js'
import { runFault } from '../run-fault.js'
import { FAULTS } from '../table/index.js'
import { page, type Results } from './page.js'

const PAGE = new URL('../../../../docs/evidence/client-faults.md', import.meta.url)

/** A client that takes longer has no time limit. The longest fault of ours takes four seconds. */
const PATIENCE_MS = 8000

type Peer = Maker & { abilities: readonly Ability[] }

async function judge(fault: Fault, maker: Maker & Partial<Peer>): Promise<string | true | undefined> {
  const { abilities } = maker
  if (abilities && fault.tags.some((tag) => tag !== 'waits' && !abilities.includes(tag))) return undefined
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(resolve, PATIENCE_MS, 'waits without a time limit')
  })
  const run = runFault(fault, maker).then(
    () => true as const,
    (error) => (error instanceof Failed ? error.message : 'the call fails'),
  )
  const result = await Promise.race([run, late])
  clearTimeout(timer)
  // A run that hangs has not done this.
  restoreClocks()
  return result
}

it('every client meets every fault', async () => {
  const { PEERS } = (await import('../../../hosts/clients/token-clients.mjs' as string)) as { PEERS: Peer[] }
  const results: Results = []
  for (const maker of [ours, ...PEERS]) {
    const groups: Results[number]['groups'] = []
    for (const [group, faults] of Object.entries(FAULTS)) {
      const rows = []
      for (const fault of faults) rows.push({ name: fault.name, result: await judge(fault, maker) })
      groups.push({ group, rows })
    }
    results.push({ client: maker.name, groups })
  }
  writeFileSync(PAGE, page(results))
  expect(results[0]?.groups.flatMap(({ rows }) => rows.filter(({ result }) => result !== true))).toEqual([])
})

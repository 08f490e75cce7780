import { printable } from '../io.js'
import type { Guarded } from './paths.js'
import type { Probe } from './probe/probe.js'
import { mustAllBe, type Requests } from './probe/response.js'
import { codeOf, Fault, Finding, mustAll, type Result, Unjudged } from './verdict.js'
import { orOf, type StatusName, type Wire } from './wire/wire.js'

/** One requirement for an app. */
export interface Row {
  id: string
  /** The requirement as a sentence. `{malformed}` stands for the statuses of that name in the wire format. */
  title: string | ((wire: Wire) => string)
  /** The document that states the requirement. */
  source: string
  /** The reason for skipping the row with a mapping: only this package promises it. */
  ownOnly?: string
  /** Rejects with an {@link Unjudged} when something is missing that the row needs. */
  needs?: (probe: Probe) => unknown
  /** Rejects with a {@link Fault} or an {@link Unjudged} unless the requirement holds. */
  run(probe: Probe): Promise<void>
}

/** Rows by their names. */
export type Rows = Readonly<Record<string, Omit<Row, 'id'>>>

/** Creates the run of a row that judges guarded paths. */
export const onEach =
  (paths: keyof Probe['paths'], judge: (probe: Probe, path: Guarded) => Promise<void>): Row['run'] =>
  async (probe) =>
    mustAll(await probe.paths[paths](), (path) => judge(probe, path))

/** Creates the run of a row whose requests must all get a status, or the statuses of that name. */
export const gets =
  (expected: number | StatusName, requestsOf: (probe: Probe) => Requests): Row['run'] =>
  (probe) =>
    mustAllBe(typeof expected === 'number' ? expected : probe.wire.statuses[expected], requestsOf(probe))

/** Returns the title and the source of a row for a wire format. Another API has no page of this package as its source. */
export function describeRow({ title, source, ownOnly }: Row, wire: Wire): Pick<Result, 'title' | 'source'> {
  const page = /docs\/reference\/http\.md section \d+/
  const text = typeof title === 'string' ? title : title(wire)
  return {
    title: text.replace(/\{(\w+)\}/g, (_, name: StatusName) => orOf(wire.statuses[name])),
    source: wire.own || ownOnly ? source : source.replace(page, 'the mapping'),
  }
}

export async function judge(row: Row, probe: Probe, skip: readonly string[]): Promise<Result> {
  const about = { id: row.id, ...describeRow(row, probe.wire) }
  try {
    if (skip.includes(row.id)) throw new Unjudged('by --skip')
    if (row.ownOnly && !probe.wire.own) throw new Unjudged(row.ownOnly)
    await row.needs?.(probe)
    await row.run(probe)
    return { ...about, verdict: 'holds' }
  } catch (error) {
    // An unexpected response fails only this row.
    const finding = error instanceof Finding ? error : new Fault(`the row cannot be judged: ${codeOf(error)}`)
    return { ...about, verdict: finding.verdict, detail: printable(finding.message) }
  }
}

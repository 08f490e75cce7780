import { printable } from '../io.js'
import type { CheckedApp } from './app.js'
import type { CheckedEndpoint } from './settings.js'
import { codeOf, Fault, Finding, mustAll, type Result, Unjudged } from './verdict.js'

/** One requirement for an app. */
export interface Row {
  id: string
  /** The requirement as a sentence. */
  title: string
  /** The document that states the requirement. */
  source: string
  /** Rejects with a {@link Fault} or an {@link Unjudged} unless the requirement holds. */
  run(app: CheckedApp): Promise<void>
}

/** Rows by their names. */
export type Rows = Readonly<Record<string, Omit<Row, 'id'>>>

/** Creates the run of a row that judges guarded paths. */
export const onEach =
  (paths: keyof CheckedApp['paths'], judge: (app: CheckedApp, path: CheckedEndpoint) => Promise<void>): Row['run'] =>
  async (app) =>
    mustAll(await app.paths[paths](), (path) => judge(app, path))

export async function judge(
  { id, title, source, run }: Row,
  app: CheckedApp,
  skip: readonly string[],
): Promise<Result> {
  try {
    if (skip.includes(id)) throw new Unjudged('by --skip')
    await run(app)
    return { id, title, source, verdict: 'holds' }
  } catch (error) {
    // An unexpected response fails only this row.
    const finding = error instanceof Finding ? error : new Fault(`the row cannot be judged: ${codeOf(error)}`)
    return { id, title, source, verdict: finding.verdict, detail: printable(finding.message) }
  }
}

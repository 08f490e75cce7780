import { printable } from '../io.js'
import { codeOf, describeRow, Fault, OutOfTime, type Row, Unjudged } from './verdict.js'
import type { Wire } from './wire/wire.js'

export type Verdict = 'holds' | 'fails' | 'skipped'

/** The result of one row. */
export interface Result {
  id: string
  title: string
  source: string
  verdict: Verdict
  /** The fault, or the reason for skipping the row. */
  detail?: string
}

export interface RunOptions {
  /** The names of rows to skip. */
  skip: readonly string[]
  wire: Wire
  began: (title: string, index: number) => void
  ended: (result: Result) => void
}

/** Runs the rows in order, because rows use responses that earlier rows requested. */
export async function judge<S>(
  rows: readonly Row<S>[],
  subject: S,
  { skip, wire, began, ended }: RunOptions,
): Promise<Result[]> {
  const results: Result[] = []
  for (const [index, row] of rows.entries()) {
    const { title, source } = describeRow(row, wire)
    began(title, index)
    const reason = skip.includes(row.id) ? 'by --skip' : wire.own ? undefined : row.ownOnly
    const found = reason === undefined ? await faultOf(row, subject) : new Unjudged(reason)
    const result = { id: row.id, title, source, ...verdictOf(found) }
    ended(result)
    results.push(result)
  }
  return results
}

async function faultOf<S>(row: Row<S>, subject: S): Promise<Error | undefined> {
  try {
    await row.run(subject)
    return undefined
  } catch (error) {
    if (error instanceof Fault || error instanceof Unjudged || error instanceof OutOfTime) return error
    // An unexpected response fails only this row.
    return new Fault(`the row cannot be judged: ${codeOf(error)}`)
  }
}

function verdictOf(found: Error | undefined): Pick<Result, 'verdict' | 'detail'> {
  if (!found) return { verdict: 'holds' }
  return { verdict: found instanceof Unjudged ? 'skipped' : 'fails', detail: printable(found.message) }
}

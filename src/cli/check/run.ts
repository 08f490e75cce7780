import { Fault, type Row, Unjudged } from './verdict.js'

export type Verdict = 'holds' | 'fails' | 'skipped'

/** What was found of one row. */
export interface Result {
  id: string
  title: string
  source: string
  verdict: Verdict
  /** What does not hold, or why it was not judged. */
  detail?: string
}

export interface RunOptions {
  /** Rows that are not to be judged. */
  skip: readonly string[]
  /** Are never to be shown, whatever an answer says. */
  secrets: readonly string[]
  began: (row: Row<never>, index: number) => void
  ended: (result: Result) => void
}

/** Judges the rows one after the other: each may take up what one before it has asked for. */
export async function judge<S>(
  rows: readonly Row<S>[],
  subject: S,
  { skip, secrets, began, ended }: RunOptions,
): Promise<Result[]> {
  const results: Result[] = []
  for (const [index, row] of rows.entries()) {
    began(row, index)
    const { id, title, source } = row
    const found = skip.includes(id) ? new Unjudged('by --skip') : await faultOf(row, subject)
    const result = { id, title, source, ...verdictOf(found, secrets) }
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
    if (error instanceof Fault || error instanceof Unjudged) return error
    throw error
  }
}

function verdictOf(found: Error | undefined, secrets: readonly string[]): Pick<Result, 'verdict' | 'detail'> {
  if (!found) return { verdict: 'holds' }
  return { verdict: found instanceof Unjudged ? 'skipped' : 'fails', detail: presentable(found.message, secrets) }
}

/** A token, or a piece of one: `{"` in base64url, and what follows it. */
const JWT = /\beyJ[\w.~+/=-]*/g

const LONGEST = 400

/** An answer's own words may be in it: they show no secret, and give the terminal no orders. */
function presentable(text: string, secrets: readonly string[]): string {
  const known = secrets.reduce((shown, secret) => (secret ? shown.replaceAll(secret, '…') : shown), text)
  const hidden = known.replace(JWT, '…').replace(/[\p{Cc}\p{Cf}]/gu, '?')
  return hidden.length > LONGEST ? `${hidden.slice(0, LONGEST)}…` : hidden
}

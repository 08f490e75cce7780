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

/** A verdict other than `holds`. The message is the reason, and may be printed. */
export class Finding extends Error {
  readonly verdict: Verdict = 'fails'
}

export class Fault extends Finding {}

/** A row cannot be judged, or was skipped. */
export class Unjudged extends Finding {
  override readonly verdict = 'skipped'
}

/** The time limit of the whole check ended a row, or ended before it began. */
export class OutOfTime extends Finding {
  override readonly message = 'not checked, because --max-time is over'
}

/** Names an error by its code or its class. Its message may hold text of the server, which is never printed. */
export function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? (error instanceof Error ? error.name : typeof error)
}

export function must(holds: unknown, otherwise: string): asserts holds {
  if (!holds) throw new Fault(otherwise)
}

/** Returns a part of the target that a row needs. Without it, the row is skipped. */
export function needed<T>(part: T | undefined, otherwise: string): T {
  if (part === undefined) throw new Unjudged(otherwise)
  return part
}

/** Checks several things. Reports all faults, each with the name of its thing. */
export async function mustAll<T extends { name: string }>(
  things: readonly T[],
  check: (thing: T) => Promise<void>,
): Promise<void> {
  const faults: string[] = []
  for (const thing of things) {
    try {
      await check(thing)
    } catch (error) {
      if (!(error instanceof Fault)) throw error
      faults.push(`${thing.name}: ${error.message}`)
    }
  }
  must(faults.length === 0, faults.join('; '))
}

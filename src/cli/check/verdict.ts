/** A row does not hold. */
export class Fault extends Error {}

/** A row cannot be judged, or was skipped. */
export class Unjudged extends Error {}

export function must(holds: unknown, otherwise: string): asserts holds {
  if (!holds) throw new Fault(otherwise)
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

/** One requirement for an app. */
export interface Row<Subject> {
  id: string
  /** The requirement as a sentence. */
  title: string
  /** The document that states the requirement. */
  source: string
  /** Rejects with a {@link Fault} or an {@link Unjudged} unless the requirement holds. */
  run(subject: Subject): Promise<void>
}

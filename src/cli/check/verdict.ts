/** What was found does not hold. */
export class Fault extends Error {}

/** What there is does not tell whether it holds, or it was not asked for. */
export class Unjudged extends Error {}

export function must(holds: unknown, otherwise: string): asserts holds {
  if (!holds) throw new Fault(otherwise)
}

/** For what is checked of several things: all faults are named, each with its thing. */
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

/** One thing that is to hold of an app. */
export interface Row<Subject> {
  id: string
  /** What holds. */
  title: string
  /** Who says so. */
  source: string
  /** Rejects with a {@link Fault} or an {@link Unjudged} unless it holds. */
  run(subject: Subject): Promise<void>
}

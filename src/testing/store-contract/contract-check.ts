import { testsOnly } from '../tests-only.js'

/** One check of the contract, to run as a separate test. */
export interface ContractCheck {
  /** The name for the test: what the store does when the check passes. */
  name: string
  /**
   * Runs the check. Rejects with an `Error` that describes the store's mistake. Run the checks of one store one after the other.
   * Pass the test runner's context to skip, with a reason, checks of methods that the store does not have.
   */
  run(context?: { skip?(reason?: string): unknown }): Promise<void>
}

/** A check does not apply to the store. */
export class LeftOut extends Error {}

/** @throws Error that says what is wrong with the store, and then what to do */
export function fail(wrong: string, advice: string): never {
  throw new Error(`${wrong}. ${advice}`)
}

/** Fails when something is wrong, with a line for each fault. */
export function failFor(faults: readonly string[], advice: string): void {
  if (faults.length > 0) fail(faults.join('\n'), advice)
}

/** Returns a store, or the store that a function opens. */
export const opened = async <Store>(given: Store | (() => Store | Promise<Store>)): Promise<Store> =>
  typeof given === 'function' ? await (given as () => Store | Promise<Store>)() : given

/** Returns the checks of a contract, each with the store that it opens. */
export function contractChecks<Store>(
  caller: string,
  checks: Readonly<Record<string, (store: Store) => Promise<void>>>,
  open: () => Promise<Store>,
): ContractCheck[] {
  return Object.entries(checks).map(([name, check]) => ({
    name,
    // The parameter needs a default: Jest and Mocha pass a callback to functions with a required parameter.
    run: async (context = {}) => {
      testsOnly(caller)
      try {
        await check(await open())
      } catch (error) {
        if (!(error instanceof LeftOut)) throw error
        context.skip?.(error.message)
      }
    },
  }))
}

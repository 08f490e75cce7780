import { randomUUID } from 'node:crypto'
import { text } from '../../options/checks.js'
import { PAGE } from '../../options/misuse.js'
import { type Check, named, optional, readOptions } from '../../options/read-options.js'
import { type Store, storeOption } from '../../store/store.js'
import { testsOnly } from '../tests-only.js'
import { codeChecks, probeCodes } from './code-checks.js'
import { type ContractCheck, contractChecks, LeftOut, opened } from './contract-check.js'
import { factorChecks, probeFactors } from './factor-checks.js'
import { refreshChecks } from './refresh-checks.js'
import { sessionChecks } from './session-checks.js'
import { probeSessions } from './session-store-probe.js'

/** A store, or a function that returns a store. */
export type GivenStore = Partial<Store> | (() => Partial<Store> | Promise<Partial<Store>>)

/** The options of `storeContract`. */
export interface StoreContractOptions {
  /**
   * A second store object for the same data, or a function that returns a second store. With this option, the checks detect caches, lagging
   * replicas, and locks that work in only one process. Default: none.
   */
  otherStore?: GivenStore | undefined
  /** Account ID for the test records, if the store requires an existing account. Default: a random id. */
  accountId?: string | undefined
  /** ID of a different account. Default: a random id. */
  otherAccountId?: string | undefined
}

const caller = 'storeContract'

const given: Check<GivenStore> = (value) => (typeof value === 'function' ? (value as () => Store) : storeOption(value))
const id = optional(text('a non-empty string'))
const schema = { otherStore: optional(given), accountId: id, otherAccountId: id }

/** Opens a store, and checks what a function returned. */
async function openedStore(name: string, store: GivenStore | undefined): Promise<Partial<Store> | undefined> {
  const value: unknown = await opened<Partial<Store> | undefined>(store)
  return value === undefined && store === undefined
    ? undefined
    : named(`${caller}: ${name}`, storeOption, value, PAGE.stores)
}

/**
 * Returns the requirements for a store as checks for any test runner:
 * `for (const { name, run } of storeContract(() => store)) test(name, run)`. The checks remove what they add.
 * @param store the store, or a function that returns a store. Every check calls the function
 * @throws TypeError that names an invalid option, and TypeError when `NODE_ENV` is `production`
 */
export function storeContract(store: GivenStore, options?: StoreContractOptions): ContractCheck[] {
  testsOnly(caller)
  const read = readOptions<StoreContractOptions, typeof schema>(caller, options, schema)
  const { otherStore, accountId = `acc-${randomUUID()}`, otherAccountId = `acc-${randomUUID()}` } = read
  const accounts = { accountId, otherAccountId }
  named(`${caller}: the store`, given, store, PAGE.stores)

  const openBoth = async () => ({
    own: (await openedStore('the store', store)) ?? {},
    other: await openedStore('the other store', otherStore),
  })
  async function openSessions() {
    const { own, other } = await openBoth()
    if (!own.sessions) throw new LeftOut('the store has no "sessions"')
    return probeSessions(own.sessions, other?.sessions)
  }
  async function openCodes() {
    const { own, other } = await openBoth()
    if (!own.codes) throw new LeftOut('the store has no "codes"')
    return probeCodes(own.codes, other?.codes)
  }
  async function openFactors() {
    const { own, other } = await openBoth()
    if (!own.factors) throw new LeftOut('the store has no "factors"')
    return probeFactors(own.factors, other?.factors)
  }
  return [
    ...contractChecks(caller, { ...sessionChecks(accounts), ...refreshChecks(accountId) }, openSessions),
    ...contractChecks(caller, codeChecks(accounts), openCodes),
    ...contractChecks(caller, factorChecks(accounts), openFactors),
  ]
}

import { randomUUID } from 'node:crypto'
import { text } from '../../options/checks.js'
import type { Subject } from '../../options/misuse.js'
import { type Check, optional, readOptions } from '../../options/read-options.js'
import { testsOnly } from '../tests-only.js'

/** The accounts of what the checks add. */
export interface ContractAccounts {
  readonly accountId: string
  readonly otherAccountId: string
}

type Given<Store> = Store | (() => Store | Promise<Store>)

/** The options of the contract for a store that has items of accounts. */
interface Options<Store> {
  store: Given<Store>
  otherStore?: Given<Store> | undefined
  accountId?: string | undefined
  otherAccountId?: string | undefined
}

const id = optional(text('a non-empty string'))

/**
 * Reads the options of a contract.
 * @param alias another name of the option `store`
 * @throws TypeError that names an invalid option, and TypeError when `NODE_ENV` is `production`
 */
export function contractOptions<Store>(
  caller: Subject,
  options: Options<Store>,
  storeObject: Check<Store>,
  alias: string,
) {
  testsOnly(caller)
  const store: Check<Given<Store>> = (value) =>
    typeof value === 'function' ? (value as () => Store) : storeObject(value)
  const schema = { store, otherStore: optional(store), accountId: id, otherAccountId: id }
  const read = readOptions<Options<Store>, typeof schema>(caller, options, schema, { [alias]: 'store' })
  const { accountId = `acc-${randomUUID()}`, otherAccountId = `acc-${randomUUID()}` } = read
  return { ...read, accountId, otherAccountId }
}

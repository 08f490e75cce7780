import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { Account, AccountStore } from '../../accounts/account.js'
import { accountKey, LONGEST_EMAIL } from '../../accounts/throttle/account-key.js'
import { text } from '../../shared/options/checks.js'
import { InvalidOption, optional, readOptions } from '../../shared/options/read.js'
import { isPlainObject } from '../../shared/values.js'
import { testsOnly } from '../tests-only.js'
import { type ContractCheck, contractChecks, fail, LeftOut } from './contract-check.js'
import { another, longSpellings, oddAddresses, otherHashes, otherSpellings, others } from './odd-text.js'
import { probe, type StoreProbe, shown } from './store-probe.js'

/** An account in the store. The other members are compared with the account that the store returns. */
export type ExistingAccount = {
  /** The e-mail address of the account. */
  email: string
} & Partial<Account>

/** The options of `accountStoreContract`. */
export interface AccountStoreContractOptions {
  /** The store, or a function that returns a store. Every check calls the function. */
  store: AccountStore | (() => AccountStore | Promise<AccountStore>)
  /** An account in the store. It needs a password if the store has `replacePasswordHash`: checks change its hash and restore it. */
  existing: ExistingAccount
  /** An id that no account has. Default: the existing account's id with another last letter or digit. */
  unknownId?: string | undefined
}

const schema = {
  store: (value: unknown) => {
    if (isPlainObject(value) || typeof value === 'function') return value as AccountStoreContractOptions['store']
    throw new InvalidOption('an account store, or a function that returns one')
  },
  existing: (value: unknown) => {
    if (isPlainObject(value) && typeof value['email'] === 'string') return value as ExistingAccount
    throw new InvalidOption('an account that is in the store, { email, … }')
  },
  unknownId: optional(text('an id that no account has')),
}

/**
 * Returns the requirements for an account store as checks for any test runner:
 * `for (const { name, run } of accountStoreContract({ store, existing })) test(name, run)`
 * @throws TypeError that names an invalid option, and TypeError when `NODE_ENV` is `production`
 */
export function accountStoreContract(options: AccountStoreContractOptions): ContractCheck[] {
  testsOnly('accountStoreContract')
  const read = readOptions<AccountStoreContractOptions, typeof schema>('accountStoreContract', options, schema, {
    accounts: 'store',
    account: 'existing',
  })
  const { store, existing } = read
  const { email, ...expected } = existing

  const findExisting = async (store: StoreProbe) =>
    (await store.findByEmail(email)) ?? fail(`findByEmail(${shown(email)}) found no account`)
  const nobodysId = ({ id }: Account) => read.unknownId ?? another(id)

  /** Checks the hash with both look-ups, because a look-up that caches accounts would accept an old password. */
  async function expectHash(store: StoreProbe, id: string, hash: string, when: string): Promise<void> {
    const found = { findByEmail: await store.findByEmail(email), findById: await store.findById(id) }
    for (const method of ['findByEmail', 'findById'] as const) {
      if (!store.has(method) || found[method]?.passwordHash === hash) continue
      fail(`${method} gave another hash than the one that should be stored, ${when}`)
    }
  }

  /** Runs a check and restores the hash. Ignores errors of the restoration, so that the test reports the check's error. */
  function swapping(check: (store: StoreProbe, account: Account, hash: string) => Promise<void>) {
    return needing('replacePasswordHash', async (store) => {
      const account = await findExisting(store)
      const hash = account.passwordHash
      if (!hash) return fail(`"existing" must have a password: replacePasswordHash is tried on ${shown(email)}`)
      try {
        await check(store, account, hash)
      } finally {
        const now = await store.findByEmail(email).catch(() => undefined)
        if (now?.passwordHash) await store.replacePasswordHash(account.id, now.passwordHash, hash).catch(() => {})
      }
    })
  }

  const checks: Record<string, (store: StoreProbe) => Promise<void>> = {
    async 'findByEmail finds an account'(store) {
      const wrong = differing(expected, await findExisting(store), Object.keys(expected) as (keyof Account)[])
      if (wrong) fail(`findByEmail(${shown(email)}) gave an account that is not as "existing": ${wrong}`)
    },
    async 'findByEmail gives null or undefined for an address that nobody has'(store) {
      const nobody = `${randomUUID()}@nobody.invalid`
      if (await store.findByEmail(nobody)) fail(`findByEmail(${shown(nobody)}) found an account`)
    },
    async "findByEmail takes odd text for nobody's address, and does not throw"(store) {
      const wrong: string[] = []
      for (const [what, odd] of oddAddresses(email)) {
        await store.findByEmail(odd).then(
          (found) => found && wrong.push(`findByEmail(${shown(odd)}) found an account (${what})`),
          (error: Error) => wrong.push(`${error.message} (${what})`),
        )
      }
      if (wrong.length > 0) fail(wrong.join('\n'))
    },
    'findByEmail finds the account only by spellings that share its failed-login limit': async (store) => {
      const { id } = await findExisting(store)
      const wrong: string[] = []
      for (const [what, spelling] of otherSpellings(email)) {
        const found = await store.findByEmail(spelling)
        if (found?.id !== id || accountKey(spelling) === accountKey(email)) continue
        wrong.push(`findByEmail(${shown(spelling)}) found the account (${what})`)
      }
      const advice =
        'Each of these spellings has its own failed-login limit. Compare addresses exactly or in lower case'
      if (wrong.length > 0) fail([...wrong, advice].join('\n'))
    },
    [`findByEmail gives null or undefined for an address of more than ${LONGEST_EMAIL} characters`]: async (store) => {
      const wrong: string[] = []
      for (const [what, long] of longSpellings(email, LONGEST_EMAIL)) {
        if (await store.findByEmail(long)) wrong.push(`findByEmail(${shown(long)}) found an account (${what})`)
      }
      if (wrong.length > 0) fail(wrong.join('\n'))
    },
    'findById finds the account that findByEmail finds': needing('findById', async (store) => {
      const account = await findExisting(store)
      const found = (await store.findById(account.id)) ?? fail(`findById(${shown(account.id)}) found no account`)
      const wrong = differing(account, found, MEMBERS)
      if (wrong) fail(`findById(${shown(account.id)}) gave an account that is not as findByEmail's: ${wrong}`)
    }),
    'findById gives null or undefined for an id that nobody has': needing('findById', async (store) => {
      const id = nobodysId(await findExisting(store))
      if (await store.findById(id)) {
        fail(`findById(${shown(id)}) found an account. If the account exists, pass an "unknownId" that no account has`)
      }
    }),
    'replacePasswordHash replaces the hash, and look-ups give the new one': swapping(async (store, { id }, hash) => {
      const next = another(hash)
      if (!(await store.replacePasswordHash(id, hash, next))) {
        fail('replacePasswordHash returned false, but "from" was the stored hash')
      }
      await expectHash(store, id, next, 'after replacePasswordHash had returned true')
    }),
    'replacePasswordHash replaces nothing when another hash is stored': swapping(async (store, { id }, hash) => {
      for (const [what, from] of otherHashes(hash)) {
        if (await store.replacePasswordHash(id, from, another(hash))) {
          fail(`replacePasswordHash returned true, but "from" was ${what}. The method must compare and swap`)
        }
        await expectHash(store, id, hash, `after replacePasswordHash from ${what} had returned false`)
      }
    }),
    'replacePasswordHash replaces nothing for an id that nobody has': swapping(async (store, account, hash) => {
      const id = nobodysId(account)
      if (await store.replacePasswordHash(id, hash, another(hash))) {
        fail(`replacePasswordHash returned true for ${shown(id)}, an id that no account has`)
      }
      await expectHash(store, account.id, hash, 'after replacePasswordHash for an id that nobody has')
    }),
    'replacePasswordHash lets exactly one of several at once win': swapping(async (store, { id }, hash) => {
      const hashes = others(hash, 4)
      const won = await Promise.all(hashes.map((to) => store.replacePasswordHash(id, hash, to)))
      const [winner, ...more] = hashes.filter((_, index) => won[index])
      if (winner === undefined || more.length > 0) {
        return fail(
          `replacePasswordHash: ${winner ? 1 + more.length : 0} of ${won.length} at once, from the same hash, won`,
        )
      }
      await expectHash(store, id, winner, 'after one of several at once had won')
    }),
  }

  return contractChecks('accountStoreContract', checks, async () =>
    probe(typeof store === 'function' ? await store() : store),
  )
}

function needing(method: 'findById' | 'replacePasswordHash', check: (store: StoreProbe) => Promise<void>) {
  return async (store: StoreProbe) => {
    if (!store.has(method)) throw new LeftOut(`the store has no ${method}`)
    await check(store)
  }
}

const MEMBERS = ['id', 'passwordHash', 'disabled', 'scopes', 'claims', 'tokensValidAfter'] as const

/** Returns the names of the members that differ. */
function differing(one: Partial<Account>, other: Account, members: readonly (keyof Account)[]): string {
  return members.filter((member) => !isDeepStrictEqual(contentOf(one, member), contentOf(other, member))).join(', ')
}

const EMPTY: Partial<Account> = { disabled: false, scopes: [], claims: {} }

/** Returns a member for comparison. An absent member equals an empty one, and the order of scopes is ignored. */
function contentOf(account: Partial<Account>, member: keyof Account): unknown {
  const value = account[member] ?? EMPTY[member] ?? null
  return Array.isArray(value) ? [...value].sort() : value
}

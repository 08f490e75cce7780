import { randomUUID } from 'node:crypto'
import type { Account } from '../../accounts/account.js'
import { LONGEST_EMAIL } from '../../limits/account-key.js'
import { differing, MEMBERS } from './account-difference.js'
import { fail, failFor, LeftOut } from './contract-check.js'
import {
  another,
  longSpellings,
  oddAddresses,
  otherHashes,
  otherIds,
  others,
  similarAddresses,
  swapCase,
} from './odd-text.js'
import { type StoreProbe, shown } from './store-probe.js'

/** The length that a column of hashes needs. PHC strings grow with their costs, and other algorithms need more. */
const HASH_LENGTH = 255

const WAYS_TO_CACHE = 'Wait for the write, cache no accounts, and read from the primary database'
const SWAP_ADVICE =
  'Compare and swap in one statement: set the hash where the id and the stored hash are exactly these, and return whether it changed a row'
const EXACT =
  'Pass the address as a parameter of an exact comparison, and return null for an address that no account has'

/** UUIDs have no letter case (RFC 9562 section 4). */
const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i

/** The accounts that the checks of an account store know. */
interface KnownAccounts {
  /** An account in the store. */
  readonly existing: { email: string } & Partial<Account>
  /** An id that no account has. */
  readonly unknownId: string | undefined
}

type AccountCheck = (store: StoreProbe) => Promise<void>

/** Returns the checks by their names. */
export function accountChecks({ existing, unknownId }: KnownAccounts): Record<string, AccountCheck> {
  const { email, ...expected } = existing

  const findExisting = async (store: StoreProbe) =>
    (await store.findByEmail(email)) ??
    fail(`findByEmail(${shown(email)}) found no account`, 'Pass an "existing" that is in the store')
  const nobodysId = ({ id }: Account) => unknownId ?? another(id)

  /** Checks the hash with all look-ups, because a look-up that caches accounts would accept an old password. */
  async function expectHash(store: StoreProbe, id: string, hash: string, when: string, advice = WAYS_TO_CACHE) {
    for (const { name, findByEmail, findById } of store.readers) {
      const found = { findByEmail: await findByEmail(email), findById: findById && (await findById(id)) }
      for (const [method, account] of Object.entries(found)) {
        if ((method === 'findById' && !findById) || account?.passwordHash === hash) continue
        fail(`${method}${name} returned another hash than the one that should be stored, ${when}`, advice)
      }
    }
  }

  /** Runs a check and restores the hash. Ignores errors of the restoration, so that the test reports the check's error. */
  function swapping(check: (store: StoreProbe, account: Account, hash: string) => Promise<void>) {
    return needing('replacePasswordHash', async (store) => {
      const account = await findExisting(store)
      const hash = account.passwordHash
      if (!hash) {
        const advice = `replacePasswordHash is called for ${shown(email)}, so pass an account with a password`
        return fail('"existing" has no password', advice)
      }
      try {
        // Fills caches, so that a check finds what they keep.
        await expectHash(store, account.id, hash, 'before any change').catch(() => {})
        await check(store, account, hash)
      } finally {
        const now = await store.findByEmail(email).catch(() => undefined)
        if (now?.passwordHash) await store.replacePasswordHash(account.id, now.passwordHash, hash).catch(() => {})
      }
    })
  }

  return {
    async 'findByEmail finds an account'(store) {
      const wrong = differing(expected, await findExisting(store), Object.keys(expected) as (keyof Account)[])
      const advice = 'Return each member as it is stored, or correct "existing"'
      if (wrong) fail(`findByEmail(${shown(email)}) returned an account that is not as "existing": ${wrong}`, advice)
    },
    async 'findByEmail returns null or undefined for an address that no account has'(store) {
      const nobody = `${randomUUID()}@nobody.invalid`
      if (await store.findByEmail(nobody)) fail(`findByEmail(${shown(nobody)}) found an account`, EXACT)
    },
    async 'findByEmail finds no account for odd text, and does not throw'(store) {
      const wrong: string[] = []
      for (const [what, odd] of oddAddresses(email)) {
        await store.findByEmail(odd).then(
          (found) => found && wrong.push(`findByEmail(${shown(odd)}) found an account (${what})`),
          (error: Error) => wrong.push(`${error.message} (${what})`),
        )
      }
      failFor(wrong, EXACT)
    },
    'findByEmail finds the account only by its whole address': async (store) => {
      const { id } = await findExisting(store)
      const wrong: string[] = []
      for (const [what, address] of similarAddresses(email)) {
        const found = await store.findByEmail(address)
        if (found?.id === id) wrong.push(`findByEmail(${shown(address)}) found the account (${what})`)
      }
      failFor(wrong, 'Compare whole addresses, exactly or in lower case')
    },
    [`findByEmail returns null or undefined for an address of more than ${LONGEST_EMAIL} characters`]: async (
      store,
    ) => {
      const wrong: string[] = []
      for (const [what, long] of longSpellings(email, LONGEST_EMAIL)) {
        if (await store.findByEmail(long)) wrong.push(`findByEmail(${shown(long)}) found an account (${what})`)
      }
      failFor(wrong, `Return null for an address of more than ${LONGEST_EMAIL} characters, and do not trim it`)
    },
    'findById finds the account that findByEmail finds': needing('findById', async (store) => {
      const account = await findExisting(store)
      const call = `findById(${shown(account.id)})`
      const found =
        (await store.findById(account.id)) ??
        fail(`${call} found no account`, 'Find an account by its "id", as a string')
      const wrong = differing(account, found, MEMBERS)
      const advice = 'Read the same members in both methods'
      if (wrong) fail(`${call} returned an account that is not as that of findByEmail: ${wrong}`, advice)
    }),
    'findById returns null or undefined for an id that no account has': needing('findById', async (store) => {
      const id = nobodysId(await findExisting(store))
      if (await store.findById(id)) {
        fail(
          `findById(${shown(id)}) found an account`,
          'If the account exists, pass an "unknownId" that no account has',
        )
      }
    }),
    'findById finds an account only by exactly its id': needing('findById', async (store) => {
      const { id, passwordHash } = await findExisting(store)
      const caseOfId: [string, string][] = UUID.test(id) ? [] : [['in the other letter case', swapCase(id)]]
      const wrong: string[] = []
      for (const [what, other] of [...otherIds(id), ...caseOfId]) {
        // A column of UUIDs or numbers refuses the id, which no token has.
        const found = other === id ? undefined : await store.findById(other).catch(() => undefined)
        const isExisting = passwordHash !== null && found?.passwordHash === passwordHash
        if (found && (found.id !== other || isExisting))
          wrong.push(`findById(${shown(other)}) found an account (${what})`)
      }
      failFor(wrong, 'Compare ids exactly. For a column of numbers, return null unless String(Number(id)) is the id')
    }),
    'replacePasswordHash replaces the hash, and look-ups return the new one': swapping(async (store, { id }, hash) => {
      const next = another(hash)
      if (!(await store.replacePasswordHash(id, hash, next))) {
        fail('replacePasswordHash returned false, but "from" was the stored hash', SWAP_ADVICE)
      }
      await expectHash(store, id, next, 'after replacePasswordHash had returned true')
    }),
    [`replacePasswordHash stores a hash of ${HASH_LENGTH} characters`]: swapping(async (store, { id }, hash) => {
      const long = another(hash).padEnd(HASH_LENGTH, 'x')
      const advice = `Give the column of the hash ${HASH_LENGTH} characters, because a new algorithm or a higher cost needs more than today's`
      const replaced = await store
        .replacePasswordHash(id, hash, long)
        .catch((error: Error) => fail(error.message, advice))
      if (!replaced) fail(`replacePasswordHash returned false for a new hash of ${long.length} characters`, advice)
      await expectHash(store, id, long, `after a new hash of ${long.length} characters`, advice)
    }),
    'replacePasswordHash replaces nothing when another hash is stored': swapping(async (store, { id }, hash) => {
      for (const [what, from] of [...otherHashes(hash), ['null', null] as const]) {
        if (await store.replacePasswordHash(id, from, another(hash))) {
          fail(`replacePasswordHash returned true, but "from" was ${what}`, SWAP_ADVICE)
        }
        await expectHash(store, id, hash, `after replacePasswordHash from ${what} had returned false`, SWAP_ADVICE)
      }
    }),
    'replacePasswordHash replaces nothing for an id that no account has': swapping(async (store, account, hash) => {
      const id = nobodysId(account)
      if (await store.replacePasswordHash(id, hash, another(hash))) {
        fail(`replacePasswordHash returned true for ${shown(id)}, an id that no account has`, SWAP_ADVICE)
      }
      await expectHash(store, account.id, hash, 'after replacePasswordHash for an id that no account has', SWAP_ADVICE)
    }),
    'replacePasswordHash lets exactly one of several calls at the same time win': swapping(
      async (store, { id }, hash) => {
        const hashes = others(hash, 4)
        const won = await Promise.all(hashes.map((to) => store.replacePasswordHash(id, hash, to)))
        const [winner, ...more] = hashes.filter((_, index) => won[index])
        if (winner === undefined || more.length > 0) {
          const winners = `${winner ? 1 + more.length : 0} of ${won.length} calls at the same time`
          return fail(`replacePasswordHash returned true to ${winners}, from the same hash`, SWAP_ADVICE)
        }
        await expectHash(store, id, winner, 'after one of several calls at the same time had won')
      },
    ),
  }
}

function needing(method: 'findById' | 'replacePasswordHash', check: (store: StoreProbe) => Promise<void>) {
  return async (store: StoreProbe) => {
    if (!store.has(method)) throw new LeftOut(`the store has no ${method}`)
    await check(store)
  }
}

import { randomBytes, randomUUID } from 'node:crypto'
import type { Account, AccountStore } from '../../accounts/account.js'
import { fail, LeftOut } from './contract-check.js'
import { another, swapCase } from './odd-text.js'
import { type StoreProbe, shown } from './store-probe.js'

const AS_A_LOOK_UP = 'Return the account as a look-up does, and undefined only for an address that another account has'
const ONE_FOR_EACH = 'Put a unique index on the address, and return undefined when it refuses the row'
const SWAP_ADVICE =
  'Compare and swap in one statement: set the address where the id and the stored address are exactly these, and return whether it changed a row'
const TAKEN_ADVICE = 'Put a unique index on the address, and return false when it refuses the change'
const SEEN = 'Wait for the write, cache no accounts, and store the address in the form that findByEmail looks up'

/** Creates an account that the check removes at its end. Each parameter has a new value by default. */
type Make = (email?: string, passwordHash?: string) => Promise<(Account & { email: string }) | undefined>

type NewAccountCheck = (store: StoreProbe, make: Make) => Promise<void>

const newAddress = () => `${randomUUID()}@nobody.invalid`
const newHash = () =>
  `$argon2id$v=19$m=19456,t=2,p=1$${randomBytes(15).toString('base64url')}$${randomBytes(30).toString('base64url')}`

/**
 * Returns the checks of the methods that create, move and remove accounts, by their names.
 * @param fields members of each new account that the store needs
 */
export function newAccountChecks(
  fields: Readonly<Record<string, unknown>>,
): Record<string, (store: StoreProbe) => Promise<void>> {
  /** Runs a check where the store has the methods, and then removes what the check has created. */
  function creating(methods: readonly (keyof AccountStore)[], check: NewAccountCheck) {
    return async (store: StoreProbe) => {
      for (const method of methods) if (!store.has(method)) throw new LeftOut(`the store has no ${method}`)
      const made: string[] = []
      const make: Make = async (email = newAddress(), passwordHash = newHash()) => {
        const account = await store.create({ ...fields, email, passwordHash })
        if (!account) return undefined
        made.push(account.id)
        const stored = account.email ?? fail('create returned an account without "email"', 'Mails go to this address')
        return { ...account, email: stored }
      }
      await check(store, make).finally(async () => {
        for (const id of made) await store.remove(id).catch(() => {})
      })
    }
  }

  return {
    'create returns a new account, and look-ups find it': creating(['create'], async (store, make) => {
      const [email, hash] = [newAddress(), newHash()]
      const { id, ...created } = await needed(make(email, hash))
      expectStored('create', { id, ...created }, email, hash)
      for (const { name, findByEmail, findById } of store.readers) {
        const found = { findByEmail: await findByEmail(email), ...(findById && { findById: await findById(id) }) }
        for (const [method, account] of Object.entries(found)) {
          if (account?.id !== id) fail(`${method}${name} did not find the account that create returned`, SEEN)
          expectStored(`${method}${name}`, account, email, hash)
        }
      }
    }),
    'create returns undefined for an address that an account has, and leaves the account as it was': creating(
      ['create'],
      async (store, make) => {
        const { id, email, passwordHash } = await needed(make())
        if (await make(email)) fail(`create returned an account for ${shown(email)}, which is taken`, ONE_FOR_EACH)
        const found = await store.findByEmail(email)
        if (found?.id !== id || found.passwordHash !== passwordHash)
          fail('create returned undefined, but changed the account that has the address', ONE_FOR_EACH)
      },
    ),
    'create makes one account when several with one address come at the same time': creating(
      ['create'],
      async (_, make) => {
        const email = newAddress()
        const created = await all(Array.from({ length: 4 }, () => make(email)))
        const count = created.filter(Boolean).length
        if (count !== 1) fail(`create returned ${count} accounts for one address at the same time`, ONE_FOR_EACH)
      },
    ),
    'create and replaceEmail store the form of an address to which its code was mailed': creating(
      ['create'],
      async (store, make) => {
        const [typed, next] = [swapCase(newAddress()), swapCase(newAddress())]
        const { id, email } = await needed(make(typed))
        expectForm('create', email, store.normalizeEmail(typed))
        if (!store.has('replaceEmail')) return
        await store.replaceEmail(id, email, next)
        expectForm('replaceEmail', (await store.findByEmail(next))?.email, store.normalizeEmail(next))
      },
    ),
    'create gives each account an id that no account had before': creating(
      ['create', 'remove'],
      async (store, make) => {
        const ids: string[] = []
        for (let count = 0; count < 3; count++) {
          const { id } = await needed(make())
          await store.remove(id)
          if (ids.includes(id))
            fail(
              `create returned the id ${shown(id)} again, after its account was removed`,
              'Old tokens would open the new account. In SQLite, declare the id as integer primary key autoincrement, or use random ids',
            )
          ids.push(id)
        }
      },
    ),
    'replaceEmail replaces the address, and look-ups return the new one': creating(
      ['create', 'replaceEmail'],
      async (store, make) => {
        const { id, email } = await needed(make())
        const next = newAddress()
        // Fills caches, so that the check finds what they keep.
        for (const reader of store.readers) await reader.findByEmail(email)
        if (!(await store.replaceEmail(id, email, next)))
          fail('replaceEmail returned false, but "from" was the stored address, and nobody has "to"', SWAP_ADVICE)
        for (const { name, findByEmail } of store.readers) {
          const found = await findByEmail(next)
          if (found?.id !== id) fail(`findByEmail${name} did not find the account by its new address`, SEEN)
          if (found.email !== next) fail(`findByEmail${name} returned another "email" than the new one`, SEEN)
          if ((await findByEmail(email))?.id === id)
            fail(`findByEmail${name} found the account by its old address after replaceEmail`, SEEN)
        }
      },
    ),
    'replaceEmail replaces nothing when another address is stored': creating(
      ['create', 'replaceEmail'],
      async (store, make) => {
        const { id, email } = await needed(make())
        const wrong: [what: string, id: string, from: string][] = [
          ['another address', id, newAddress()],
          ['the address in the other letter case', id, swapCase(email)],
          ['the address with a blank at its end', id, `${email} `],
          ['an empty string', id, ''],
          ['the address of another id', another(id), email],
        ]
        for (const [what, otherId, from] of wrong) {
          const isReplaced = await store.replaceEmail(otherId, from, newAddress())
          if (isReplaced) fail(`replaceEmail returned true, but "from" was ${what}`, SWAP_ADVICE)
          if ((await store.findByEmail(email))?.email !== email)
            fail(`replaceEmail returned false, but changed the address. "from" was ${what}`, SWAP_ADVICE)
        }
      },
    ),
    'replaceEmail refuses an address that another account has': creating(
      ['create', 'replaceEmail'],
      async (store, make) => {
        const [one, other] = [await needed(make()), await needed(make())]
        if (await store.replaceEmail(one.id, one.email, other.email))
          fail('replaceEmail returned true, but another account has "to"', TAKEN_ADVICE)
        for (const { id, email } of [one, other])
          if ((await store.findByEmail(email))?.id !== id)
            fail('replaceEmail returned false, but changed an address', TAKEN_ADVICE)
      },
    ),
    'replaceEmail lets exactly one of several calls at the same time win': creating(
      ['create', 'replaceEmail'],
      async (store, make) => {
        const accounts = [await needed(make()), await needed(make()), await needed(make())]
        const to = newAddress()
        const same = await all(accounts.map(({ id, email }) => store.replaceEmail(id, email, to)))
        if (same.filter(Boolean).length !== 1)
          fail(
            `replaceEmail gave one address to ${same.filter(Boolean).length} accounts at the same time`,
            TAKEN_ADVICE,
          )
        const { id, email } = await needed(make())
        const won = await all([newAddress(), newAddress()].map((next) => store.replaceEmail(id, email, next)))
        if (won.filter(Boolean).length !== 1)
          fail(`replaceEmail returned true to ${won.filter(Boolean).length} of 2 calls from one address`, SWAP_ADVICE)
      },
    ),
    'remove removes the account and no other one, and may be called again': creating(
      ['create', 'remove'],
      async (store, make) => {
        const [removed, other] = [await needed(make()), await needed(make())]
        for (const { findByEmail, findById } of store.readers)
          await Promise.all([findByEmail(removed.email), findById?.(removed.id)])
        for (let times = 0; times < 2; times++) await store.remove(removed.id)
        for (const { name, findByEmail, findById } of store.readers) {
          if (await findByEmail(removed.email)) fail(`findByEmail${name} found an account that was removed`, SEEN)
          if (await findById?.(removed.id)) fail(`findById${name} found an account that was removed`, SEEN)
        }
        if (!(await store.findByEmail(other.email))) fail('remove removed another account', 'Compare ids exactly')
        const again = await needed(make(removed.email))
        if ((await store.findByEmail(removed.email))?.id !== again.id) fail('create made no account after remove', SEEN)
      },
    ),
  }
}

async function needed<T>(created: Promise<T | undefined>): Promise<T> {
  return (await created) ?? fail('create returned no account for an address that no account has', AS_A_LOOK_UP)
}

/** Waits for all results, so that none of them comes after the end of a check. */
async function all<T>(results: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(results)
  return Promise.all(results)
}

function expectStored(call: string, account: Account, email: string, hash: string): void {
  if (account.passwordHash !== hash) fail(`${call} returned another hash than the new one`, 'Store the hash as it is')
  if (account.email !== email)
    fail(
      `${call} returned an account whose "email" is not the address that create received`,
      'Return the address as it is stored, because mails go to it',
    )
}

function expectForm(method: string, email: unknown, expected: unknown): void {
  if (email === expected) return
  fail(
    `${method} stored another address than the one that got the code`,
    'Store what normalizeEmail of the store returns, or the address as it was passed if there is no such method',
  )
}

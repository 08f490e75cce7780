// Tests testing/store-contract/{account-checks,account-difference,contract-check,new-account-checks,odd-text,store-probe}.ts

import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  type Account,
  type AccountStore,
  type CreateContext,
  type MemoryAccount,
  memoryAccounts,
  type NewAccount,
} from 'express-token-endpoint'
import { type AccountStoreContractOptions, accountStoreContract } from 'express-token-endpoint/testing'
import { describe, expect, it, onTestFinished, test, vi } from 'vitest'
import { longSpellings, others, similarAddresses } from '../../../../src/testing/store-contract/odd-text.js'
import { expectMisuse } from '../../../support/failures.js'

const HASH = '$argon2id$v=19$m=19456,t=2,p=1$c2FsdHNhbHQ$aGFzaGhhc2hoYXNoaGFzaA'
const ALICE: MemoryAccount = {
  id: '3f1c6c1e-8a52-4c3e-9f64-0a1b2c3d4e5f',
  email: 'alice@example.com',
  passwordHash: HASH,
  scopes: ['a:read', 'b:read'],
  claims: { plan: 'free' },
  tokensValidAfter: new Date('2026-01-01'),
}
const BOB: MemoryAccount = { id: 'acc-2', email: 'bob@example.com', passwordHash: null }

type Store = Required<Omit<AccountStore, 'normalizeEmail' | 'prepare'>>
const makeStore = () => memoryAccounts([ALICE, BOB])

/** Runs all checks. Returns the messages of failed checks and the reasons of skipped checks. */
async function outcome(options: Partial<AccountStoreContractOptions>) {
  const failed: Record<string, string> = {}
  const skipped: string[] = []
  for (const { name, run } of accountStoreContract({ store: makeStore(), existing: ALICE, ...options })) {
    await run({ skip: (reason = '') => skipped.push(reason) }).catch((error: Error) => {
      failed[name] = error.message
    })
  }
  return { failed, skipped }
}

describe('memoryAccounts', () => {
  for (const { name, run } of accountStoreContract({ store: makeStore, existing: ALICE })) test(name, run)
})

describe('a store that keeps the contract', () => {
  it('passes with no more than its address known', async () => {
    expect(await outcome({ existing: { email: ALICE.email } })).toEqual({ failed: {}, skipped: [] })
  })

  it('has its account back as it was, after every check', async () => {
    const store = makeStore()
    for (const { run } of accountStoreContract({ store, existing: ALICE })) {
      await run()
      expect(await store.findByEmail(ALICE.email)).toEqual(ALICE)
    }
  })

  it('may answer at once or later, with null, and with members left out or in another order', async () => {
    const store = makeStore()
    const odd: AccountStore = {
      findByEmail: (email) => store.findByEmail(email) ?? null,
      findById: async (id) => {
        const account = (await store.findById(id)) as Account | undefined
        return account && { ...account, disabled: null, scopes: ['b:read', 'a:read'] }
      },
      replacePasswordHash: store.replacePasswordHash,
      create: async (account, context) => (await store.create(account, context)) ?? null,
      replaceEmail: store.replaceEmail,
      remove: store.remove,
    }
    expect(await outcome({ store: odd })).toEqual({ failed: {}, skipped: [] })
  })

  it('may be a class that uses its own members', async () => {
    class Accounts implements AccountStore {
      readonly #store = makeStore()
      findByEmail(email: string) {
        return this.#store.findByEmail(email)
      }
      findById(id: string) {
        return this.#store.findById(id)
      }
      replacePasswordHash(id: string, from: string, to: string) {
        return this.#store.replacePasswordHash(id, from, to)
      }
      create(account: NewAccount, context: CreateContext) {
        return this.#store.create(account, context)
      }
      replaceEmail(id: string, from: string, to: string) {
        return this.#store.replaceEmail(id, from, to)
      }
      remove(id: string) {
        return this.#store.remove(id)
      }
    }
    expect(await outcome({ store: new Accounts() })).toEqual({ failed: {}, skipped: [] })
  })

  it('is opened anew for every check when a function gives it', async () => {
    const open = vi.fn(async () => makeStore())
    expect(await outcome({ store: open })).toEqual({ failed: {}, skipped: [] })
    expect(open).toHaveBeenCalledTimes(23)
  })

  it.each<[string, (email: string) => string]>([
    ['letter case', (email) => email.toLowerCase()],
    ['white space around it', (email) => email.trim()],
    ['accents', (email) => email.normalize('NFD').replace(/\p{M}/gu, '')],
    ['invisible characters', (email) => email.replace(/[\p{Cf}\p{DI}]/gu, '')],
    ['width and compatibility', (email) => email.normalize('NFKC')],
    ['the dot on the i', (email) => email.replace(/[İıI]/g, 'i')],
    ['a tag', (email) => email.replace(/\+.*@/, '@')],
  ])(
    'may ignore a difference, because the failed-login limits count at the id of the account too: %s',
    async (_, folded) => {
      const store = makeStore()
      const findByEmail = (email: string) => (email.length > 320 ? null : known(email, same(folded), store))
      expect(await outcome({ store: { ...store, findByEmail } })).toEqual({ failed: {}, skipped: [] })
    },
  )

  it('may have another account at another spelling', async () => {
    const store = memoryAccounts([ALICE, { ...BOB, email: 'a.lice@example.com' }])
    expect(await outcome({ store })).toEqual({ failed: {}, skipped: [] })
  })

  it('may leave out its optional methods: what is about them is skipped, with the reason', async () => {
    const { findById: _, ...store } = makeStore()
    const [byId, swap] = ['the store has no findById', 'the store has no replacePasswordHash']
    expect(await outcome({ store })).toEqual({ failed: {}, skipped: [byId, byId, byId] })
    const make = Array.from({ length: 10 }, () => 'the store has no create')
    const skipped = [byId, byId, byId, swap, swap, swap, swap, swap, ...make]
    expect(await outcome({ store: { findByEmail: store.findByEmail } })).toEqual({ failed: {}, skipped })
    const { replaceEmail: __, remove: ___, ...creates } = makeStore()
    const [move, remove] = ['the store has no replaceEmail', 'the store has no remove']
    expect((await outcome({ store: creates })).skipped).toEqual([remove, move, move, move, move, remove])
  })

  it('has only the accounts that it had, after every check, and gets the fields that it needs', async () => {
    const created: string[] = []
    const removed: string[] = []
    const store = makeStore()
    const counting: AccountStore = {
      ...store,
      async create(account, context) {
        expect(account['name']).toBe('Ann')
        const one = await store.create(account, context)
        if (one) created.push(one.id)
        return one
      },
      async remove(id) {
        removed.push(id)
        await store.remove(id)
      },
    }
    expect(await outcome({ store: counting, fields: { name: 'Ann' } })).toEqual({ failed: {}, skipped: [] })
    expect(created.length).toBeGreaterThan(10)
    expect(created.filter((id) => !removed.includes(id))).toEqual([])
  })

  it('may keep addresses in a form of its own, which normalizeEmail returns', async () => {
    const store = makeStore()
    const normalizeEmail = (email: string) => email.toLowerCase()
    const folding: AccountStore = {
      ...store,
      normalizeEmail,
      findByEmail: (email) => store.findByEmail(normalizeEmail(email)),
      create: (account, context) => store.create({ ...account, email: normalizeEmail(account.email) }, context),
      replaceEmail: (id, from, to) => store.replaceEmail(id, from, normalizeEmail(to)),
    }
    expect(await outcome({ store: folding })).toEqual({ failed: {}, skipped: [] })
    const { normalizeEmail: _, ...silent } = folding
    expect(Object.keys((await outcome({ store: silent })).failed)).toEqual([FORM])
  })

  it('may have ids that are short numbers, when one that nobody has is handed in', async () => {
    const store = memoryAccounts([{ ...ALICE, id: '1' }, ...[...'023456789'].map((id) => ({ ...BOB, id, email: id }))])
    const existing = { email: ALICE.email }
    expect(Object.values((await outcome({ store, existing })).failed)).toEqual([
      'findById("0") found an account. If the account exists, pass an "unknownId" that no account has',
    ])
    expect(await outcome({ store, existing, unknownId: '10' })).toMatchObject({ failed: {} })
  })
})

const FOUND = 'findByEmail finds an account'
const NOBODY = 'findByEmail returns null or undefined for an address that no account has'
const ODD = 'findByEmail finds no account for odd text, and does not throw'
const WHOLE = 'findByEmail finds the account only by its whole address'
const LONG = 'findByEmail returns null or undefined for an address of more than 320 characters'
const BY_ID = 'findById finds the account that findByEmail finds'
const NO_ID = 'findById returns null or undefined for an id that no account has'
const EXACT_ID = 'findById finds an account only by exactly its id'
const SWAP = 'replacePasswordHash replaces the hash, and look-ups return the new one'
const LENGTH = 'replacePasswordHash stores a hash of 255 characters'
const COMPARE = 'replacePasswordHash replaces nothing when another hash is stored'
const OTHER = 'replacePasswordHash replaces nothing for an id that no account has'
const CREATED = 'create returns a new account, and look-ups find it'
const TAKEN = 'create returns undefined for an address that an account has, and leaves the account as it was'
const ONE_NEW = 'create makes one account when several with one address come at the same time'
const FORM = 'create and replaceEmail store the form of an address to which its code was mailed'
const NEW_ID = 'create gives each account an id that no account had before'
const MOVED = 'replaceEmail replaces the address, and look-ups return the new one'
const MOVE_COMPARES = 'replaceEmail replaces nothing when another address is stored'
const MOVE_TAKEN = 'replaceEmail refuses an address that another account has'
const ONE_MOVES = 'replaceEmail lets exactly one of several calls at the same time win'
const REMOVED = 'remove removes the account and no other one, and may be called again'
const ONE = 'replacePasswordHash lets exactly one of several calls at the same time win'

const known = (email: string, found: (known: string) => boolean, store: Store) =>
  store.findByEmail(found(email) ? ALICE.email : email)

/** Compares two addresses like a store that folds both. */
const same = (folded: (email: string) => string) => (email: string) => folded(email) === folded(ALICE.email)

/** Sets a hash without comparing the stored hash. */
async function set(store: Store, id: string, to: string): Promise<boolean> {
  const account = await store.findById(id)
  return account?.passwordHash ? store.replacePasswordHash(id, account.passwordHash, to) : false
}

type Change = (store: Store) => Partial<Store>
type Fault = [fault: string, says: string | RegExp, change: Change]

/** Returns a store that takes some addresses for the known one. */
const finding = (found: (email: string) => boolean): Change => {
  return (store) => ({ findByEmail: (email) => known(email, found, store) })
}
const folding = (folded: (email: string) => string) => finding(same(folded))
const without = (pattern: RegExp, by = '') => folding((email) => email.replace(pattern, by))

/** Returns a store that gives other accounts. */
const giving = (change: (account: Account | undefined | null) => unknown): Change => {
  return (store) => ({ findByEmail: async (email) => change(await store.findByEmail(email)) as Account })
}
const givingWith = (members: object) => giving((account) => account && { ...account, ...members })

const byId = (account: Account | undefined): Change => {
  return () => ({ findById: () => account })
}
/** An account without two of its members. */
const PART: Account = { id: ALICE.id, passwordHash: HASH, claims: { plan: 'free' } }

/** Returns a store that throws for some addresses. */
const refusing = (odd: RegExp): Change => {
  return (store) => ({ findByEmail: (email) => (odd.test(email) ? expect.fail('odd') : store.findByEmail(email)) })
}

/** Returns a store that compares hashes in another way. */
const comparing = (folded: (hash: string) => string): Change => {
  return (store) => ({
    async replacePasswordHash(id, from, to) {
      const stored = (await store.findById(id))?.passwordHash
      return stored ? store.replacePasswordHash(id, folded(String(from)) === folded(stored) ? stored : from, to) : false
    },
  })
}

/** Returns a store that replaces hashes in another way. */
const replacing = (replace: (store: Store, ...args: [id: string, from: string, to: string]) => unknown): Change => {
  return (store) => ({ replacePasswordHash: async (id, from, to) => replace(store, id, String(from), to) as boolean })
}

/** Returns a store that finds the known account by ids that a test accepts, and by its own. */
const idIs = (accepts: (id: string) => boolean): Change => {
  return (store) => ({ findById: (id) => store.findById(accepts(id) ? ALICE.id : id) })
}

/** Returns a store that cuts hashes after a number of characters. */
const cutting = (most: number) =>
  replacing((store, id, from, to) => store.replacePasswordHash(id, from, to.slice(0, most)))

const swap = (store: Store, from: string, to: string) => store.replacePasswordHash(ALICE.id, from, to)

type Create = (store: Store, account: NewAccount) => Promise<unknown>
type Move = (store: Store, id: string, from: string, to: string) => Promise<unknown>

/** Returns a store that creates accounts in another way. */
const creating = (create: Create): Change => {
  return (store) => ({ create: async (account) => create(store, account) as never })
}
const createAs = (store: Store, account: NewAccount) =>
  store.create(account, { tenant: undefined, req: { headers: {} } })

/** Returns a store that replaces addresses in another way. */
const moving = (move: Move): Change => {
  return (store) => ({ replaceEmail: async (id, from, to) => move(store, id, from, to) as never })
}

/** Returns a store that compares addresses in another way. */
const comparingAddresses = (folded: (email: string, stored: string) => string) =>
  moving(async (store, id, from, to) => {
    const stored = (await store.findById(id))?.email ?? ''
    return store.replaceEmail(id, folded(from, stored) === folded(stored, stored) ? stored : from, to)
  })

async function free(store: Store, email: string): Promise<void> {
  const holder = await store.findByEmail(email)
  if (holder) await store.remove(holder.id)
}

const NOT_FOUND = /returned true for "3f1c.+a", an id that no account has\. Compare/
const MUST_BE_BOOLEAN = 'replacePasswordHash must return true or false, but the result is'

/** The faults that each check finds. */
const FAULTS: Record<string, Fault[]> = {
  [FOUND]: [
    ['finds nobody', 'findByEmail("alice@example.com") found no account', () => ({ findByEmail: () => null })],
    [
      'finds another account',
      /not as "existing": id, passwordHash, scopes, claims, tokensValidAfter\. Return/,
      giving(() => BOB),
    ],
    [
      'gives a row that is no account',
      'account: "passwordHash" must be a string, or null',
      givingWith({ passwordHash: 1 }),
    ],
    ['loses its claims', 'not as "existing": claims. Return each member', givingWith({ claims: undefined })],
    [
      'gives whole seconds',
      'not as "existing": tokensValidAfter',
      givingWith({ tokensValidAfter: new Date('2025-12-31T23:59:59Z') }),
    ],
    [
      'gives a date as text',
      '"tokensValidAfter" must be a valid Date',
      givingWith({ tokensValidAfter: '2026-01-01T00:00:00Z' }),
    ],
    ['gives 0 for false', '"disabled" must be a boolean', givingWith({ disabled: 0 })],
    ['gives a number as id', '"id" must be a non-empty string, but is a number', givingWith({ id: 7 })],
  ],
  [BY_ID]: [
    [
      'gives an invalid date',
      /"tokensValidAfter" must be a valid Date/,
      byId({ ...ALICE, tokensValidAfter: new Date('x') }),
    ],
    ['does not find by id', /^findById\("3f1c.+"\) found no account\. Find/, byId(undefined)],
    [
      'leaves out a member when it finds by id',
      /is not as that of findByEmail: scopes, tokensValidAfter\. Read/,
      byId(PART),
    ],
  ],
  [NOBODY]: [
    [
      'throws where there is no account',
      /failed with AssertionError: none$/,
      giving((one) => one ?? expect.fail('none')),
    ],
    [
      'finds an account under any address',
      /^findByEmail\(".+@nobody\.invalid"\) found an account\. Pass/,
      finding(() => true),
    ],
    [
      'gives an empty list where there is no account',
      /account: must be an object.+accounts\.md$/,
      giving((one) => one ?? []),
    ],
  ],
  [ODD]: [
    ['looks up by pattern', '(a pattern for all)', finding((email) => email === '%')],
    ['takes _ for any letter', '(a pattern for one letter)', finding((email) => email === '_lice@example.com')],
    ['pastes text into SQL', '(SQL)', finding((email) => email.includes("' OR '1'='1"))],
    ['reads up to a NUL', '(NUL after a known address)', finding((email) => email.startsWith(`${ALICE.email}\0`))],
    ['finds a default for an empty address', 'findByEmail("")', finding((email) => email === '')],
    ['loses halves of surrogate pairs', '(half of a surrogate pair after', finding((email) => !email.isWellFormed())],
    ['cannot take a NUL', 'findByEmail("\\u0000") failed with AssertionError: odd (only NUL)', refusing(/\0/)],
    ['cannot take half a surrogate pair', '"\\ud83d") failed with AssertionError: odd (half of', refusing(/\p{Cs}/u)],
    ['cannot take what is long', '(a long address)', refusing(/.{5000}/)],
    ['cannot take a quote', '(a quote)', refusing(/'/)],
    ['cannot take letters of other scripts', '(letters of other scripts)', refusing(/[^\0-\x7f]/)],
    ['cannot take an empty text', 'odd (an empty string)', refusing(/^$/)],
    ['looks for a regular expression', '(a regular expression)', finding((email) => email === '.*')],
    ['is an object with addresses for keys', '(a name that objects have)', finding((email) => email in {})],
  ],
  [WHOLE]: [
    ['ignores punctuation', '"aliceexamplecom") found the account (without punctuation)', without(/[^a-z]/g)],
    [
      'finds by the start of an address',
      '(without its last character)',
      finding((email) => email !== '' && ALICE.email.startsWith(email)),
    ],
    [
      'finds by the end of an address',
      '(without its first character)',
      finding((email) => email !== '' && ALICE.email.endsWith(email)),
    ],
    [
      'cuts an address after its length',
      '(with more after it)',
      folding((email) => email.slice(0, ALICE.email.length)),
    ],
  ],
  [LONG]: [
    ['trims', 'found an account (blanks after the address)', folding((email) => email.trim())],
    ['cuts what is long, and trims', '(blanks and a letter', folding((email) => email.slice(0, 320).trim())],
    ['ignores accents, whatever the length', '(accents after the address)', without(/\p{M}/gu)],
    ['ignores invisible characters', '(invisible characters after the address)', without(/\p{Cf}/gu)],
  ],
  [NO_ID]: [['finds any account by id', /^findById\("3f1c.+a"\) found an account\. .+"unknownId"/, byId(ALICE)]],
  [EXACT_ID]: [
    [
      'finds by the number at the start of an id, as MySQL does',
      '(a letter after it)',
      idIs((id) => Number.parseInt(id, 16) === Number.parseInt(ALICE.id, 16)),
    ],
    ['finds by the start of an id', '(without its last character)', idIs((id) => ALICE.id.startsWith(id))],
    ['cuts an id after its length', '(a digit after it)', idIs((id) => id.slice(0, 36) === ALICE.id)],
    ['finds by pattern', '(a pattern for one character)', idIs((id) => id === `_${ALICE.id.slice(1)}`)],
    ['finds any account for a pattern', '(a pattern for all). Compare ids exactly', idIs((id) => id === '%')],
    [
      'returns the id that was passed',
      '(a zero before it)',
      (store) => ({
        findById: async (id) => {
          const account = await store.findById(id.replace(/^0/, ''))
          return account && { ...account, id }
        },
      }),
    ],
  ],
  [LENGTH]: [
    ['has a hash column of 60 characters', 'Give the column of the hash 255 characters', cutting(60)],
    [
      'has a hash column of 97 characters that cuts',
      'after a new hash of 255 characters. Give the column of the hash 255',
      cutting(97),
    ],
    [
      'has a hash column of 97 characters that refuses',
      'failed with AssertionError: value too long. Give the column',
      replacing((store, id, from, to) =>
        to.length > 97 ? expect.fail('value too long') : store.replacePasswordHash(id, from, to),
      ),
    ],
    [
      'says that it cannot store a long hash',
      'returned false for a new hash of 255 characters',
      replacing((store, id, from, to) => to.length <= 97 && store.replacePasswordHash(id, from, to)),
    ],
  ],
  [SWAP]: [
    ['never replaces', 'returned false, but "from" was the stored hash', replacing(() => false)],
    [
      'says that it replaced, and did not',
      'findByEmail returned another hash',
      replacing((_store, _id, from) => from === HASH),
    ],
    [
      'remembers what it has read',
      'findByEmail returned another hash',
      (store) => {
        const read = new Map<string, ReturnType<Store['findByEmail']>>()
        return { findByEmail: (email) => read.get(email) ?? read.set(email, store.findByEmail(email)).get(email) }
      },
    ],
    ['remembers what it has read by id', 'findById returned another hash', byId(ALICE)],
    ['answers with a count of rows', `${MUST_BE_BOOLEAN} a number`, replacing(() => 1)],
    ['answers nothing', `${MUST_BE_BOOLEAN} missing`, replacing(() => undefined)],
  ],
  [COMPARE]: [
    [
      'replaces without comparing',
      'returned true, but "from" was another hash. Compare and swap in one statement',
      replacing((store, id, _from, to) => set(store, id, to)),
    ],
    [
      'replaces without comparing, and says that it did not',
      'after replacePasswordHash from another hash had returned false',
      replacing(async (store, id, from, to) => {
        const same = (await store.findById(id))?.passwordHash === from
        await set(store, id, to)
        return same
      }),
    ],
    [
      'compares without regard to letter case',
      'the hash in the other letter case.',
      comparing((text) => text.toLowerCase()),
    ],
    ['compares without blanks at the end', 'the hash with a blank at its end.', comparing((text) => text.trimEnd())],
    [
      'compares the start of the hash',
      '"from" was the start of the hash.',
      comparing((text) => (text !== '' && HASH.startsWith(text) ? HASH : text)),
    ],
    [
      'cuts the hash to compare it',
      '"from" was the hash with a blank at its end.',
      comparing((text) => text.slice(0, HASH.length)),
    ],
    ['compares by pattern', '"from" was a pattern.', comparing((text) => (text === '%' ? HASH : text))],
    ['compares only where there is something', '"from" was an empty string.', comparing((text) => text || HASH)],
    ['compares no null', '"from" was null.', comparing((text) => (text === 'null' ? HASH : text))],
  ],
  [OTHER]: [
    [
      'looks at the hash alone, and not at the id',
      NOT_FOUND,
      replacing((store, _id, ...hashes) => swap(store, ...hashes)),
    ],
    [
      'says that it replaced the hash of nobody',
      NOT_FOUND,
      replacing((store, id, ...hashes) => id !== ALICE.id || swap(store, ...hashes)),
    ],
  ],
  [CREATED]: [
    ['creates nothing', 'create returned no account for an address that no account has', creating(async () => null)],
    ['returns a flag', 'create returned an invalid account', creating(async () => true)],
    [
      'creates an account without its address',
      'create returned an account without "email". Mails go',
      creating(async (store, account) => ({ ...(await createAs(store, account)), email: null })),
    ],
    [
      'changes the hash',
      'create returned another hash than the new one',
      creating((store, account) => createAs(store, { ...account, passwordHash: `${account.passwordHash}x` })),
    ],
    [
      'returns what it has not stored',
      'findByEmail did not find the account that create returned',
      creating(async (_, account) => ({ ...account, id: 'acc-9' })),
    ],
    ['finds no new account by its id', 'findById did not find the account', byId(ALICE)],
    ['finds accounts without their addresses', /^findByEmail returned .+ mails go to it/, givingWith({ email: null })],
  ],
  [TAKEN]: [
    [
      'replaces the account that has the address',
      /^create returned an account for ".+@nobody.invalid", which is taken\. Put a unique index/,
      creating(async (store, account) => {
        await free(store, account.email)
        return createAs(store, account)
      }),
    ],
    [
      'sets the hash of the account that has the address',
      'create returned undefined, but changed the account',
      creating(async (store, account) => {
        const taken = await store.findByEmail(account.email)
        if (taken) await set(store, taken.id, account.passwordHash)
        return createAs(store, account)
      }),
    ],
  ],
  [ONE_NEW]: [
    [
      'looks an address up, and creates its account later',
      'create returned 4 accounts for one address at the same time',
      creating(async (store, account) => {
        if (await store.findByEmail(account.email)) return undefined
        await nextTurn()
        await free(store, account.email)
        return createAs(store, account)
      }),
    ],
    [
      'rejects for an address that is taken',
      'create failed with AssertionError: taken',
      creating(async (store, account) => (await createAs(store, account)) ?? expect.fail('taken')),
    ],
  ],
  [FORM]: [
    [
      'creates an account with the address in lower case',
      'create stored another address than the one that got the code',
      creating((store, account) => createAs(store, { ...account, email: account.email.toLowerCase() })),
    ],
    [
      'replaces an address by one in lower case',
      'replaceEmail stored another address than the one that got the code',
      moving((store, id, from, to) => store.replaceEmail(id, from, to.toLowerCase())),
    ],
  ],
  [NEW_ID]: [
    [
      'uses ids again',
      'create returned the id "acc-9" again, after its account was removed. Old tokens',
      creating(async (store, account) => ({ ...(await createAs(store, account)), id: 'acc-9' })),
    ],
  ],
  [MOVED]: [
    ['never replaces an address', 'returned false, but "from" was the stored address', moving(async () => false)],
    ['only says that it replaced an address', 'by its new address. Wait for the write', moving(async () => true)],
    ['returns a count', 'replaceEmail must return true or false, but the result is a number', moving(async () => 1)],
    [
      'finds an account by its old address too',
      'findByEmail found the account by its old address after replaceEmail',
      (store) => {
        const old = new Map<string, string>()
        return {
          findByEmail: async (email) => (await store.findByEmail(email)) ?? store.findById(old.get(email) ?? ''),
          async replaceEmail(id, from, to) {
            old.set(from, id)
            return store.replaceEmail(id, from, to)
          },
        }
      },
    ],
    [
      'returns the old address',
      'findByEmail returned another "email" than the new one',
      (store) => {
        const first = new Map<string, string | null | undefined>()
        return {
          async findByEmail(email) {
            const account = await store.findByEmail(email)
            if (account && !first.has(account.id)) first.set(account.id, account.email)
            return account && ({ ...account, email: first.get(account.id) } as Account)
          },
        }
      },
    ],
  ],
  [MOVE_COMPARES]: [
    ['replaces any address', '"from" was another address. Compare', comparingAddresses(() => '')],
    ['ignores letter case', 'was the address in the other letter case', comparingAddresses((one) => one.toLowerCase())],
    ['ignores blanks', 'was the address with a blank at its end', comparingAddresses((one) => one.trimEnd())],
    ['takes nothing for any address', '"from" was an empty string', comparingAddresses((one, stored) => one || stored)],
    [
      'compares the address, and not the id',
      '"from" was the address of another id',
      moving(async (store, _, from, to) => store.replaceEmail((await store.findByEmail(from))?.id ?? '', from, to)),
    ],
    [
      'replaces any address, and says that it did not',
      'replaceEmail returned false, but changed the address. "from" was another address',
      moving(async (store, id, from, to) => {
        const stored = (await store.findById(id))?.email ?? ''
        return (await store.replaceEmail(id, stored, to)) && stored === from
      }),
    ],
  ],
  [MOVE_TAKEN]: [
    [
      'gives an address that another account has',
      'replaceEmail returned true, but another account has "to"',
      moving(async (store, id, from, to) => {
        await free(store, to)
        return store.replaceEmail(id, from, to)
      }),
    ],
    [
      'takes an address from another account',
      'replaceEmail returned false, but changed an address',
      moving(async (store, id, from, to) => {
        const isReplaced = await store.replaceEmail(id, from, to)
        if (!isReplaced) await free(store, to)
        return isReplaced
      }),
    ],
  ],
  [ONE_MOVES]: [
    [
      'looks an address up, and gives it later',
      'replaceEmail gave one address to 3 accounts at the same time',
      moving(async (store, id, from, to) => {
        if (await store.findByEmail(to)) return false
        await nextTurn()
        await free(store, to)
        return store.replaceEmail(id, from, to)
      }),
    ],
    [
      'compares an address, and replaces it later',
      'replaceEmail returned true to 2 of 2 calls from one address',
      moving(async (store, id, from, to) => {
        if ((await store.findById(id))?.email !== from) return false
        await nextTurn()
        return store.replaceEmail(id, (await store.findById(id))?.email ?? '', to)
      }),
    ],
  ],
  [REMOVED]: [
    ['removes nothing', 'findByEmail found an account that was removed', () => ({ remove: async () => {} })],
    [
      'finds a removed account by its id',
      'findById found an account that was removed',
      (store) => {
        const seen = new Map<string, Account | null | undefined>()
        return {
          async findById(id) {
            const account = (await store.findById(id)) ?? seen.get(id)
            seen.set(id, account)
            return account
          },
        }
      },
    ],
    [
      'removes all accounts that it has created',
      'remove removed another account. Compare ids exactly',
      (store) => {
        const ids: string[] = []
        return {
          async create(account, context) {
            const created = await store.create(account, context)
            ids.push(created?.id ?? '')
            return created
          },
          remove: async () => void (await Promise.all(ids.map((id) => store.remove(id)))),
        }
      },
    ],
    [
      'rejects for an account that is gone',
      'remove failed with AssertionError: gone',
      (store) => ({
        remove: async (id) => ((await store.findById(id)) ? store.remove(id) : expect.fail('gone')),
      }),
    ],
    [
      'keeps the address of a removed account',
      'create returned no account for an address that no account has',
      (store) => {
        const used = new Set<string>()
        return {
          async create(account, context) {
            if (used.has(account.email)) return undefined
            used.add(account.email)
            return store.create(account, context)
          },
        }
      },
    ],
    [
      'makes nothing of the address of a removed account',
      'create made no account after remove',
      (store) => {
        const used = new Set<string>()
        return {
          async create(account, context) {
            if (used.has(account.email)) return { ...account, id: 'acc-9' }
            used.add(account.email)
            return store.create(account, context)
          },
        }
      },
    ],
  ],
  [ONE]: [
    [
      'reads, and writes later',
      'returned true to 4 of 4 calls at the same time, from the same hash. Compare',
      replacing(async (store, id, from, to) => {
        if ((await store.findById(id))?.passwordHash !== from) return false
        await nextTurn()
        return set(store, id, to)
      }),
    ],
    [
      'lets nobody win when several come at once',
      'returned true to 0 of 4 calls at the same time',
      (store) => {
        let busy = 0
        return {
          async replacePasswordHash(...args) {
            busy++
            await nextTurn()
            const alone = busy === 1
            await nextTurn()
            busy--
            return alone && store.replacePasswordHash(...args)
          },
        }
      },
    ],
  ],
}

describe('a store that breaks the contract', () => {
  const rows = Object.entries(FAULTS).flatMap(([check, faults]) => faults.map((fault) => [...fault, check] as const))

  it.each(rows)('%s', async (_, says, change, check) => {
    const good = makeStore()
    const { failed } = await outcome({ store: { ...good, ...change(good) } })
    expect(failed[check]).toMatch(says)
    for (const message of Object.values(failed)) expect(message).not.toContain(HASH.slice(0, 20))
  })

  it('caches accounts, which only a second store object shows', async () => {
    const data = makeStore()
    const caching = (): Store => {
      const cache = new Map<string, Account | null | undefined>()
      return {
        ...data,
        async findById(id) {
          if (!cache.has(id)) cache.set(id, await data.findById(id))
          return cache.get(id)
        },
        async replacePasswordHash(...args) {
          cache.clear()
          return data.replacePasswordHash(...args)
        },
        async remove(id) {
          cache.clear()
          await data.remove(id)
        },
      }
    }
    const [store, otherStore] = [caching(), caching()]
    expect(await outcome({ store })).toEqual({ failed: {}, skipped: [] })
    expect((await outcome({ store, otherStore })).failed[SWAP]).toMatch(
      /^findById of "otherStore" returned another hash .+ true\. Wait for the write, cache no accounts/,
    )
  })

  it('has a fault here for every check', () => {
    const checks = accountStoreContract({ store: makeStore(), existing: ALICE }).map(({ name }) => name)
    expect(Object.keys(FAULTS).sort()).toEqual(checks.sort())
  })

  it('fails with what the store threw as the cause', async () => {
    const cause = new Error('down')
    const store = { findByEmail: () => Promise.reject(cause) }
    const [first] = accountStoreContract({ store, existing: ALICE })
    await expect(first?.run()).rejects.toMatchObject({ message: expect.stringContaining('Error: down'), cause })
  })

  it.each([undefined, 5, 'store', [ALICE]])('is no store: %j', (store) => {
    expectMisuse(() => accountStoreContract({ store: store as never, existing: ALICE }), 'store')
  })

  it('returns no result within 5 s', async () => {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    const [first] = accountStoreContract({ store: { findByEmail: () => new Promise(() => {}) }, existing: ALICE })
    const failing = expect(first?.run()).rejects.toThrow('failed with Error: no result within 5000 ms')
    await vi.advanceTimersByTimeAsync(5000)
    await failing
  })

  it('is told where its account has no password to replace', async () => {
    const { failed } = await outcome({ existing: BOB })
    expect(Object.keys(failed)).toEqual([SWAP, LENGTH, COMPARE, OTHER, ONE])
    expect(failed[SWAP]).toBe(
      '"existing" has no password. replacePasswordHash is called for "bob@example.com", so pass an account with a password',
    )
  })
})

describe('misuse', () => {
  it.each([
    [{ existing: undefined }, '"existing" must be an account that is in the store, { email, … }, but is missing'],
    [{ existing: { id: 'acc-1' } }, '"existing" must be an account'],
    [{ unknownId: 7 }, '"unknownId" must be an id that no account has, but is a number'],
    [{ accounts: makeStore() }, 'Did you mean "store"?'],
  ])('%o is refused when the checks are made', (options, says) => {
    expectMisuse(() => accountStoreContract({ store: makeStore(), existing: ALICE, ...options } as never), says)
  })

  it.each([
    ['a look-up alone', () => undefined, 'Pass a look-up function as { findByEmail: lookUp }'],
    ['nothing, from a function', () => undefined, '"store" must be an account store'],
    ['a list, from a function', () => [ALICE], '"store" must be an account store'],
    ['a flag for a method', { ...makeStore(), findById: true }, '"findById" of "store" must be a function'],
  ])('%s for a store fails every check', async (_, store, says) => {
    const { failed } = await outcome({ store: store as never })
    expect(Object.values(failed)).toHaveLength(23)
    for (const message of Object.values(failed)) expect(message).toContain(says)
  })
})

it('suits test runners that call back where a function has a parameter', () => {
  for (const { run } of accountStoreContract({ store: makeStore(), existing: ALICE })) expect(run).toHaveLength(0)
})

const ADDRESSES = ['thea.roe_smith7@example.com', 'björn.çelik+tag@straße.example', 'x@y']

it.each(ADDRESSES)('gives addresses that are similar to %s, also ones that are longer than the limit', (email) => {
  const similar = similarAddresses(email).map(([, address]) => address)
  expect(similar).not.toContain(email)
  expect(similar.length).toBeGreaterThan(6)
  for (const [, address] of longSpellings(email, 320)) expect(address.length).toBeGreaterThan(320)
})

it.each([
  ['a1f-', ['a1a-', 'a1b-']],
  ['B', ['A', 'C']],
  ['!', ['!0', '!1']],
])('gives other texts for %j that fit the same column: %j', (text, expected) => {
  expect(others(text, 2)).toEqual(expected)
})

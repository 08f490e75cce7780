import { warnOnce } from '../events/warnings.js'
import { membersOf } from '../options/values.js'

/** The members that this package reads, and what hosts call theirs: in lower case, without "is" and other characters. */
const MEANT = [
  ['scopes', 'scope role roles admin permission permissions groups'],
  ['disabled', 'disabled active enabled blocked locked banned suspended deactivated deleted deletedat status'],
] as const

/** A hash that names its hasher: `$argon2id$…`, `$2b$…`, `pbkdf2_sha256$…`. */
const HASH = /^(\$[\w-]{1,32}\$|(pbkdf2|scrypt|bcrypt)[\w-]*[$:]).{20}/

interface AnyAccount {
  readonly passwordHash: string | null
  readonly scopes?: unknown
  readonly disabled?: unknown
}

/** Returns whether a value is the password hash of an account, or looks like another one. */
export const isHash = (value: unknown, passwordHash: unknown): boolean =>
  typeof value === 'string' && (value === passwordHash || HASH.test(value))

/** Returns the members of a row that hold a password hash under another name than `passwordHash`. */
export function hashMembersOf(original: object, passwordHash: unknown): string[] {
  const members = membersOf(original).filter(([name, value]) => name !== 'passwordHash' && isHash(value, passwordHash))
  return members.map(([name]) => name)
}

/** Warns of members of an account that the host may expect this package to read or to hide. */
function inspect(account: AnyAccount, original: object): void {
  for (const [name, value] of membersOf(original)) {
    const plain = name.toLowerCase().replace(/[^a-z]|^is/g, '')
    const read = MEANT.find(([, theirs]) => theirs.split(' ').includes(plain))?.[0]
    if (read && value != null && account[read] === undefined) warnOnce('unreadMember', name, read)
  }
  for (const name of hashMembersOf(original, account.passwordHash)) warnOnce('hashInMember', name)
}

/** The number of look-ups without an account after which there is a warning. */
const MOST_MISSES = 10

/** The look-ups of a store by e-mail without an account. `NaN` after an account. */
const misses = new WeakMap<object, number>()

/** Notes the result of a look-up by e-mail. Warns of likely mistakes in the store. */
export function noteLookUp(store: object, found: { account: AnyAccount; original: object } | undefined): void {
  const before = misses.get(store) ?? 0
  misses.set(store, found ? Number.NaN : before + 1)
  if (before + 1 === MOST_MISSES && !found) warnOnce('noAccountFound')
  if (found && !Number.isNaN(before)) inspect(found.account, found.original)
}

let isInspected = false

/** Warns of likely mistakes in the first account that was found by its id, because guards look one up on every request. */
export function noteFirst({ account, original }: { account: AnyAccount; original: object }): void {
  if (isInspected) return
  isInspected = true
  inspect(account, original)
}

import { isDevelopment, warnOnce } from '../events/warnings.js'
import { membersOf, resultOrUndefined } from '../options/values.js'

/** The members that this package reads, and what hosts call theirs: in lower case, without "is" and other characters. */
const MEANT = [
  ['scopes', 'scope role roles admin permission permissions groups'],
  ['disabled', 'disabled active enabled blocked locked banned suspended deactivated deleted deletedat status'],
] as const

/** A hash that names its hasher: `$argon2id$…`, `$2b$…`, `pbkdf2_sha256$…`. */
const HASH = /^(\$[\w-]{1,32}\$|(pbkdf2|scrypt|bcrypt)[\w-]*[$:]).{20}/

interface Inspected {
  readonly account: { readonly passwordHash: string | null; readonly scopes?: unknown; readonly disabled?: unknown }
  readonly original: object
  readonly user: object
}

/** Returns the members of a row that look like a password hash. */
export const hashMembersOf = (original: object): string[] =>
  membersOf(original).flatMap(([name, value]) => (typeof value === 'string' && HASH.test(value) ? [name] : []))

/** Warns of members of an account that the host may expect this package to read or to hide. */
function inspect({ account, original, user }: Inspected): void {
  for (const [name, value] of membersOf(original)) {
    const plain = name.toLowerCase().replace(/[^a-z]|^is/g, '')
    const read = MEANT.find(([, theirs]) => theirs.split(' ').includes(plain))?.[0]
    if (read && value != null && account[read] === undefined) warnOnce('unreadMember', name, read)
  }
  if (isDevelopment() && showsHash(user, account.passwordHash)) warnOnce('hashInUser')
}

/** Returns whether the JSON of a user has the password hash, so that a response with the user would have it too. */
const showsHash = (user: object, hash: string | null) =>
  hash !== null &&
  hash !== '' &&
  String(resultOrUndefined(() => JSON.stringify(user))).includes(JSON.stringify(hash).slice(1, -1))

/** The number of look-ups without an account after which there is a warning. */
const MOST_MISSES = 10

/** The look-ups of a store by e-mail without an account. `NaN` after an account. */
const misses = new WeakMap<object, number>()

/** Notes the result of a look-up by e-mail. Warns of likely mistakes in the store. */
export function noteLookUp(store: object, found: Inspected | undefined): void {
  const before = misses.get(store) ?? 0
  misses.set(store, found ? Number.NaN : before + 1)
  if (before + 1 === MOST_MISSES && !found) warnOnce('noAccountFound')
  if (found && !Number.isNaN(before)) inspect(found)
}

let isInspected = false

/** Warns of likely mistakes in the first account that was found by its id, because guards look one up on every request. */
export function noteFirst(found: Inspected): void {
  if (isInspected) return
  isInspected = true
  inspect(found)
}

import { hasMethods } from '../options/checks.js'
import { misuse, PAGE } from '../options/misuse.js'

/** A factor or an API key as a store holds it. It has digests, public keys and encrypted texts, and no secret that anyone could use. */
export interface StoredFactor {
  /** The id, which no other factor in the store has: at most 64 letters, digits, `_` and `-`. */
  id: string
  /** The account that the factor belongs to. */
  accountId: string
  /** The kind of the factor, for example `totp` or `api-key`. At most 32 characters. */
  kind: string
  /** The end of the factor, or null for a factor that does not expire. The store may delete the factor from then on. */
  expiresAt: Date | null
  /** The data of the factor as JSON of at most 8,192 characters. */
  data: string
}

/** A store of factors and API keys. Each method may return a promise. */
export interface FactorStore {
  /**
   * Stores a factor, unless its account has `most` factors of this kind that have not expired at `now`, or the store has a factor with this
   * id. Returns whether the factor was stored.
   */
  add(factor: StoredFactor, most: number, now: Date): boolean | Promise<boolean>
  /** Returns a factor by its id. */
  find(id: string): StoredFactor | null | undefined | Promise<StoredFactor | null | undefined>
  /** Returns the factors of an account. The list may have factors that have expired. */
  list(accountId: string): readonly StoredFactor[] | Promise<readonly StoredFactor[]>
  /**
   * Replaces the data of a factor if the stored data is still `from`, to the character. Returns whether the data was replaced. Of several
   * calls at once with the same `from`, one gets true.
   */
  replace(id: string, from: string, to: string): boolean | Promise<boolean>
  /** Removes a factor of an account. Returns whether this call removed the factor. */
  remove(id: string, accountId: string): boolean | Promise<boolean>
  /** Removes the factors of an account that are of these kinds. */
  removeAll(accountId: string, kinds: readonly string[]): unknown
}

/** The methods of a store of factors. */
export const FACTOR_METHODS: readonly (keyof FactorStore)[] = ['add', 'find', 'list', 'replace', 'remove', 'removeAll']

export const isFactorStore = (value: unknown): value is FactorStore => hasMethods(value, FACTOR_METHODS)

/** Returns the error of a store that does not return what it received. */
export const unlikeStored = (what: string) =>
  misuse(`factors: the store returned ${what} received. Return stored values unchanged`, PAGE.stores)

/** The data of a factor that this package has not written, for `unlikeStored`. */
export const OTHER_DATA = 'different data than "add" and "replace"'

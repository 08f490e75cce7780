import { brand, hasBrand } from '../../shared/brand.js'
import { AuthError, isAuthError } from '../../shared/errors.js'
import { tell, warn } from '../../shared/events.js'
import { fetchText } from './fetch-text.js'
import { type KeysByKid, readJwkSet } from './jwk-set.js'
import type { KeySource } from './key-ring.js'
import { type RemoteKeysOptions, readRemoteKeysOptions } from './remote-keys-options.js'

declare const made: unique symbol

/** Keys that are somewhere else: what `remoteKeys` made, for `createTokenVerifier`. */
export interface RemoteKeys {
  /** Where they are, without the query. */
  readonly url: string
  /** There for the compiler alone: no other object with a `url` will do. */
  readonly [made]: true
}

/**
 * How many calls of `verify` may wait for one fetch. Each holds memory while the source hangs, and anyone can cause them. The guards'
 * own limits are lower, and shared between client networks.
 */
const MOST_WAITING = 5000

/** Returns whether a value is what `remoteKeys` made, in this copy of the package or in another one. */
export function isRemoteKeys(value: unknown): value is RemoteKeys & KeySource {
  return hasBrand('RemoteKeys', value)
}

/**
 * Follows a JWK set (RFC 7517 section 5) at an address that is given here and nowhere else: a token's `jku`, `x5u` and `jwk` are
 * never read (RFC 8725 section 3.10). It is fetched when the first token comes, again before it gets old, and when a token names
 * a key that is not in it: one fetch at a time, without redirects. Each key verifies by its own algorithm alone.
 *
 * While the source is down the keys held go on verifying, for `keepFor`. Until it answers again, a token that names another key is
 * refused with `unavailable` (`503`), not as invalid: the key may have been put in meanwhile. At most 5,000 requests wait for one
 * fetch, and the others are refused with `unavailable` at once.
 *
 * @param url where the set is: `https:`, or `http:` on loopback (`localhost`, 127.0.0.0/8, `[::1]`)
 * @throws TypeError naming what cannot be used
 */
export function remoteKeys(url: string | URL | undefined, options: RemoteKeysOptions = {}): RemoteKeys {
  const read = readRemoteKeysOptions(url, options)
  const { href, place, clock, cooldown, maxAge, keepFor } = read
  const report = reporter(read.onError)

  let keys: KeysByKid = new Map()
  /** When the source was last asked, and when it last gave the answer that `keys` are from. */
  let askedAt = Number.NEGATIVE_INFINITY
  let heardAt = Number.NEGATIVE_INFINITY
  /** What the source was last asked in vain for. */
  let failure: Error | undefined
  let asking: Promise<void> | undefined
  /** How many requests wait for that. */
  let waiting = 0
  const crowded = new Error(`remoteKeys: ${place} is being asked, and ${MOST_WAITING} requests wait for it already`)

  function ask(now: number): Promise<void> {
    asking ??= fetchSet(now).finally(() => {
      // Not before the answer is there: until then the source has not been asked for long enough.
      askedAt = now
      asking = undefined
    })
    return asking
  }

  async function fetchSet(now: number): Promise<void> {
    try {
      keys = readJwkSet(await fetchText(href, read), keys)
      heardAt = now
      failure = undefined
      if (keys.size === 0) report(new Error(`remoteKeys: ${place} holds no key that can be used`))
    } catch (cause) {
      failure = new Error(`remoteKeys: ${place} gave no keys: ${reasonOf(cause)}`, { cause })
      report(failure)
    }
  }

  const source: Pick<RemoteKeys, 'url'> & KeySource = {
    url: place,
    find(kid) {
      const now = clock()
      if (!isWithin(maxAge / 2, heardAt, now) && !isWithin(cooldown, askedAt, now)) void ask(now)
      const usable = isWithin(maxAge, askedAt, now) && isWithin(keepFor, heardAt, now)
      return usable ? keys.get(kid) : undefined
    },
    async renew() {
      const now = clock()
      if (isWithin(cooldown, askedAt, now)) return failure
      if (waiting >= MOST_WAITING) return crowded
      waiting++
      try {
        await ask(now)
      } finally {
        waiting--
      }
      return failure
    },
  }
  return Object.freeze(brand('RemoteKeys', source)) as RemoteKeys & KeySource
}

/** Whether less than a time has gone by. When the clock was set back there is no telling: then it has. */
function isWithin(span: number, since: number, now: number): boolean {
  return now >= since && now - since < span
}

/** Returns the message of an error, with the code of its cause: the message of `fetch` is only "fetch failed". */
function reasonOf(error: unknown): string {
  const { message, cause } = Object(error) as { message?: unknown; cause?: unknown }
  const { code } = Object(cause) as { code?: unknown }
  if (typeof message !== 'string') return 'it failed'
  return typeof code === 'string' ? `${message} (${code})` : message
}

function reporter(onError: RemoteKeysOptions['onError']): (error: Error) => void {
  let told = false
  return (error) => {
    if (onError) return tell(onError, error)
    if (!told) warn(`${error.message}. Set onError to be told of every failure`)
    told = true
  }
}

/** Verifies with the keys that are already there. Returns undefined when the token names an unknown key that may be fetched. */
export function unlessUnknownKey<T extends object>(keys: KeySource, verify: () => T): T | undefined {
  try {
    return verify()
  } catch (error) {
    if (keys.renew && isUnknownKey(error)) return undefined
    throw error
  }
}

/**
 * Verifies, and verifies again after a fetch when the token names an unknown key.
 * @throws AuthError `unavailable` when the fetch failed and the key is still unknown; what `verify` throws otherwise
 */
export async function retryUnknownKey<T extends object>(keys: KeySource, verify: () => T): Promise<T> {
  const verified = unlessUnknownKey(keys, verify)
  if (verified) return verified
  const failure = await keys.renew?.()
  try {
    return verify()
  } catch (error) {
    throw failure && isUnknownKey(error) ? new AuthError('unavailable', { dependency: 'keys', cause: failure }) : error
  }
}

function isUnknownKey(error: unknown): boolean {
  return isAuthError(error) && error.reason === 'unknown_key'
}

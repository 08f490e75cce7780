import { createLimit } from '../../concurrency/limit.js'
import { steadyClock } from '../../concurrency/steady-clock.js'
import { AuthError, isAuthError } from '../../errors/auth-error.js'
import { reasonOf } from '../../events/describe-error.js'
import { FETCH_KEYS, tracePromise } from '../../events/tracing.js'
import { warn } from '../../events/warnings.js'
import { ignoringErrors } from '../../options/values.js'
import { textFetcher } from './fetch-text.js'
import { type KeysByKid, readJwkSet } from './jwk-set.js'
import type { KeySource, Wait } from './key-ring.js'
import { type RemoteKeysOptions, type RemoteKeysSettings, readRemoteKeysOptions } from './remote-keys-options.js'

declare const made: unique symbol

/** Keys at a URL, from `remoteKeys` or `discoverKeys`. Pass them to `createTokenVerifier`. */
export interface RemoteKeys {
  /** The URL of the keys without its query, or the issuer that publishes it. */
  readonly url: string
  /** Exists only for the compiler, so that no other object with a `url` has this type. */
  readonly [made]: true
}

/**
 * The most calls of `verify` that wait for one fetch. Anyone can cause calls while the source hangs, and the guards have 4,096 at the same
 * time, so one issuer must not take the places of all others.
 */
const MOST_WAITING = 1000

const NO_KEYS: KeysByKid = new Map()

/** All sources, so that no other object with the same methods counts as one. */
const sources = new WeakSet<object>()

export const isRemoteKeys = (value: unknown): value is RemoteKeys & KeySource => sources.has(value as object)

/**
 * Fetches and caches a JWK set (RFC 7517 section 5) from one URL. A token's `jku`, `x5u` and `jwk` are never read (RFC 8725 section
 * 3.10). The set is fetched for the first token, refreshed before `maxAge`, and fetched again when a token names an unknown key.
 * Concurrent requests share one fetch (single flight), without redirects. Each key verifies only by its own algorithm.
 *
 * While the source is down, the cached keys verify for `keepFor` (stale-if-error). A token with an unknown key then gets `unavailable`
 * (`503`), not `invalid_token`, because the key may be new. At most 1,000 requests wait for one fetch. Further requests get `unavailable`
 * immediately.
 *
 * @param url the URL of the set: `https:`, or `http:` on loopback (`localhost`, 127.0.0.0/8, `[::1]`)
 * @throws TypeError that names the invalid URL or option
 */
export function remoteKeys(url: string | URL | undefined, options: RemoteKeysOptions = {}): RemoteKeys {
  const read = readRemoteKeysOptions(url, options)
  return fetchedKeys(read, async (get, use) => use(await get(read.href)))
}

/**
 * Fetches with the limits of `get`, and calls `use` with the text of a JWK set. A rejection counts as a failed fetch of the source, also
 * after a call of `use`.
 */
type FetchSet = (get: (url: string) => Promise<string>, use: (text: string) => void) => Promise<void>

export function fetchedKeys(read: RemoteKeysSettings, fetchSet: FetchSet): RemoteKeys & KeySource {
  const { caller, location, algorithms, cooldown, maxAge, keepFor } = read
  // Otherwise each step back would fetch the keys again.
  const clock = steadyClock(read.clock)
  const report = reporter(read.onError)
  const fetchText = textFetcher(read)

  let keys = NO_KEYS
  /** The start of the last fetch, and of the last successful fetch. */
  let askedAt = Number.NEGATIVE_INFINITY
  let heardAt = Number.NEGATIVE_INFINITY
  let failure: Error | undefined
  let asking: Promise<void> | undefined
  /** The requests that wait for `asking`. */
  const beginWait = createLimit({ total: MOST_WAITING })
  const crowded = new Error(`${caller}: ${MOST_WAITING} requests already wait for ${location}`)

  function ask(now: number): Promise<void> {
    asking ??= refresh(now).finally(() => {
      // Set after the response, because before it `renew` must wait for this fetch.
      askedAt = now
      asking = undefined
    })
    return asking
  }

  function use(text: string): void {
    keys = readJwkSet(text, algorithms, keys)
    if (keys.size === 0) report(new Error(`${caller}: ${location} has no usable key`))
  }

  async function refresh(now: number): Promise<void> {
    try {
      await tracePromise(FETCH_KEYS, () => fetchSet(fetchText, use), { url: location })
      heardAt = now
      failure = undefined
    } catch (cause) {
      failure = new Error(`${caller}: no keys from ${location}: ${reasonOf(cause)}`, { cause })
      report(failure)
    }
  }

  /** Returns the keys that are not too old, and refreshes them in the background from half of `maxAge` on. */
  function current(): KeysByKid {
    const now = clock()
    if (!isWithin(maxAge / 2, heardAt, now) && !isWithin(cooldown, askedAt, now)) void ask(now)
    return isWithin(maxAge, askedAt, now) && isWithin(keepFor, heardAt, now) ? keys : NO_KEYS
  }

  const source: Pick<RemoteKeys, 'url'> & KeySource = {
    url: location,
    find: (kid) => current().get(kid),
    all: () => [...current().values()],
    async renew() {
      const now = clock()
      if (isWithin(cooldown, askedAt, now)) return failure
      const end = beginWait()
      if (!end) return crowded
      await ask(now).finally(end)
      return failure
    },
  }
  sources.add(source)
  return Object.freeze(source) as RemoteKeys & KeySource
}

function isWithin(span: number, since: number, now: number): boolean {
  return now - since < span
}

function reporter(onError: RemoteKeysOptions['onError']): (error: Error) => void {
  let hasWarned = false
  return (error) => {
    if (onError) return ignoringErrors(() => onError(error))
    if (!hasWarned) warn(`${error.message}. Set onError to receive every failure`)
    hasWarned = true
  }
}

/**
 * Verifies again after a fetch of the keys, when the first refusal was for an unknown key. Otherwise throws the first refusal.
 * @throws AuthError `unavailable` when the fetch failed and the key is still unknown; what `verify` throws otherwise
 */
export async function verifyWithNewKeys<T>(
  keys: KeySource,
  refusal: unknown,
  verify: () => T,
  issuer: string,
  wait: Wait = (_, call) => call(),
): Promise<T> {
  if (!keys.renew || !isUnknownKey(refusal)) throw refusal
  const failure = await wait(issuer, keys.renew)
  try {
    return verify()
  } catch (error) {
    if (!failure || !isUnknownKey(error)) throw error
    throw new AuthError('unavailable', { dependency: 'keys', issuer, cause: failure })
  }
}

function isUnknownKey(error: unknown): boolean {
  return isAuthError(error) && error.reason === 'unknown_key'
}

import { brand, hasBrand } from '../../shared/brand.js'
import { tell, warn } from '../../shared/events.js'
import { timeoutOption } from '../../shared/host-call.js'
import {
  type Check,
  type Clock,
  clockOption,
  type Duration,
  duration,
  func,
  InvalidOption,
  integer,
  named,
  optional,
  readOptions,
} from '../../shared/options.js'
import { hrefOf, isExposed, readWebUrl } from '../../shared/web-url.js'
import { download } from './fetch-text.js'
import { type KeysByKid, readJwkSet } from './jwk-set.js'
import type { KeySource } from './key-ring.js'

/** What `remoteKeys` takes besides the address. */
export interface RemoteKeysOptions {
  /** How long one fetch may take, down to its last byte. Default five seconds; a millisecond to a minute. */
  timeout?: Duration | undefined
  /** The longest answer, in bytes. Default 102,400 (100 kB); 1 to 10,485,760. */
  sizeLimit?: number | undefined
  /**
   * The set is fetched at most once in this time, whatever the tokens say. Default 30 seconds; a second to an hour, and no
   * longer than half of `maxAge`.
   */
  cooldown?: Duration | undefined
  /**
   * No key is used that the source was last asked about longer ago than this: so long does a key that was taken out still
   * verify, while the source answers. From half of it on the source is asked in the background, so that no request waits.
   * Default ten minutes; two seconds to a day.
   */
  maxAge?: Duration | undefined
  /**
   * For how long keys are used while the source does not answer, since it last did. Default one hour, as long as tokens are good
   * for unless set: a longer time helps no token, and lets a key that was taken out live on in a service that is cut off. At
   * least `maxAge`, at most 30 days.
   */
  keepFor?: Duration | undefined
  /**
   * Is told of each fetch that failed, whether or not it harmed a request, and of sets without a key that can be used. What it
   * throws or rejects with is dropped. Default: the first is a warning of the process.
   */
  onError?: ((error: Error) => unknown) | undefined
  /** The current time, for tests. Default: `Date.now`. */
  clock?: Clock | undefined
}

declare const made: unique symbol

/** Keys that are somewhere else: what `remoteKeys` made, for `createTokenVerifier`. */
export interface RemoteKeys {
  /** Where they are, without the query. */
  readonly url: string
  /** There for the compiler alone: no other object with a `url` will do. */
  readonly [made]: true
}

const address: Check<URL> = (value) => {
  const what =
    "an absolute https: URL without user name, password and fragment, like 'https://api.example.com/.well-known/jwks.json'"
  const url = readWebUrl(hrefOf(value), what)
  if (isExposed(url)) {
    throw new InvalidOption(
      what,
      'By plain http anybody on the way could put in a key of their own, so it is for loopback alone',
    )
  }
  if (url.username || url.password || url.hash) throw new InvalidOption(what)
  return url
}

const DAY = 86_400_000

/**
 * How many calls of `verify` may wait for one fetch. Each holds memory while the source hangs, and anyone can cause them. The guards'
 * own limits are lower, and shared between client networks.
 */
const MOST_WAITING = 5000

const schema = {
  timeout: timeoutOption,
  sizeLimit: optional(integer(1, 10_485_760, 'a number of bytes'), 102_400),
  cooldown: optional(duration(1000, 3_600_000), 30_000),
  maxAge: optional(duration(2000, DAY), 600_000),
  keepFor: optional(duration(2000, 30 * DAY), 3_600_000),
  onError: optional(func<(error: Error) => unknown>('a function')),
  clock: clockOption,
}

const aliases = {
  timeoutDuration: 'timeout',
  requestTimeout: 'timeout',
  bodyLimit: 'sizeLimit',
  limit: 'sizeLimit',
  maxBytes: 'sizeLimit',
  cooldownDuration: 'cooldown',
  coolDown: 'cooldown',
  cacheMaxAge: 'maxAge',
  ttl: 'maxAge',
  cacheMaxAgeFallback: 'keepFor',
  staleIfError: 'keepFor',
  onEvent: 'onError',
  now: 'clock',
}

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
  const { href, origin, pathname } = named('remoteKeys: the URL', address, url)
  const read = readOptions<RemoteKeysOptions, typeof schema>('remoteKeys', options, schema, aliases)
  const { clock, cooldown, maxAge, keepFor } = read
  if (cooldown > maxAge / 2) {
    throw new TypeError('remoteKeys: option "cooldown" must be at most half of "maxAge", but is longer')
  }
  if (keepFor < maxAge) throw new TypeError('remoteKeys: option "keepFor" must be at least "maxAge", but is shorter')
  const place = origin + pathname
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
      keys = readJwkSet(await download(href, read), keys)
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

/** `fetch` says "fetch failed", and keeps what has failed to itself. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'it failed'
  const { cause } = error
  return cause instanceof Error && 'code' in cause ? `${error.message} (${cause.code})` : error.message
}

function reporter(onError: RemoteKeysOptions['onError']): (error: Error) => void {
  let told = false
  return (error) => {
    if (onError) return tell(onError, error)
    if (!told) warn(`${error.message}. Set onError to be told of every failure`)
    told = true
  }
}

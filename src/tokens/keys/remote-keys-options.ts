import { timeoutOption } from '../../concurrency/host-call.js'
import { type Clock, clockOption, type Duration, duration, func, integer } from '../../options/checks.js'
import { misuse, PAGE, type Subject } from '../../options/misuse.js'
import { aliasesOf, type Check, InvalidOption, named, optional, readOptions } from '../../options/read-options.js'
import { secureExactUrl, secureUrl } from '../../options/web-url.js'
import { isKeyPairAlgorithm, KEY_PAIR_ALGORITHMS, type KeyPairAlgorithm } from '../algorithms/algorithms.js'
import type { KeysFetch } from './fetch-text.js'

/** The options of `remoteKeys` and `discoverKeys`. */
export interface RemoteKeysOptions {
  /**
   * Algorithms to accept. RSA keys in the set must have an `alg`, unless you list only one RSA algorithm. Default: all key pair algorithms.
   */
  algorithms?: readonly KeyPairAlgorithm[] | undefined
  /** Time limit for fetching and reading the response. Default: `'5s'`. */
  timeout?: Duration | undefined
  /** Maximum response size in bytes (1 to 10,485,760). Compressed responses are rejected. Default: `102400`. */
  sizeLimit?: number | undefined
  /** Minimum time between fetches (1 s to 1 h, and at most half of `maxAge`). Default: `'30s'`. */
  cooldown?: Duration | undefined
  /**
   * Maximum age of cached keys while the source is available (2 s to 1 day). Default: `'10m'`.
   *
   * After half this time, the keys are refreshed in the background.
   */
  maxAge?: Duration | undefined
  /**
   * Maximum time to keep using cached keys while the source is down (`maxAge` to 30 days). After that, clients receive `503`. Default:
   * `'1h'`.
   *
   * A longer time does not help tokens of an hour, and a removed key verifies for longer in a service that cannot reach the source.
   */
  keepFor?: Duration | undefined
  /**
   * Function called with the error when a fetch fails or the set contains no usable key. Default: a process warning for the first error.
   */
  onError?: ((error: Error) => unknown) | undefined
  /**
   * Function `(url, init) => response`, such as one that uses a proxy. Default: the global `fetch`.
   *
   * Pass the `url` and the `init` on. While 8 of its calls have not settled, or 256 of all sources, further calls fail.
   */
  fetch?: KeysFetch | undefined
  /** Clock for tests. Default: `Date.now`. */
  clock?: Clock | undefined
}

const EXPOSED =
  'Over http, others on the network could insert their own key. Use https, or http only for this machine (localhost)'

const address = secureUrl(
  "an absolute https: URL without a user name, password or fragment, like 'https://api.example.com/.well-known/jwks.json'",
  EXPOSED,
)

const algorithmList: Check<readonly KeyPairAlgorithm[]> = (value) => {
  const list: unknown[] | undefined = Array.isArray(value) ? [...value] : undefined
  if (!list?.length || !list.every(isKeyPairAlgorithm)) {
    throw new InvalidOption(`a non-empty array of ${KEY_PAIR_ALGORITHMS.join(', ')}`)
  }
  return list
}

const issuerAddress = secureExactUrl(
  "an https: URL without query and fragment, like 'https://api.example.com'",
  EXPOSED,
)

const DAY = 86_400_000

const schema = {
  algorithms: optional(algorithmList, KEY_PAIR_ALGORITHMS),
  timeout: timeoutOption,
  sizeLimit: optional(integer(1, 10_485_760, 'a number of bytes'), 102_400),
  cooldown: optional(duration(1000, 3_600_000), 30_000),
  maxAge: optional(duration(2000, DAY), 600_000),
  keepFor: optional(duration(2000, 30 * DAY), 3_600_000),
  onError: optional(func<(error: Error) => unknown>('a function')),
  fetch: optional(func<KeysFetch>('a function like fetch')),
  clock: clockOption,
}

const aliases = aliasesOf({
  algorithms: 'algorithm',
  maxAge: 'ttl',
  onError: 'onEvent',
})

export function readRemoteKeysOptions(url: unknown, options: RemoteKeysOptions) {
  const caller = 'remoteKeys'
  const { href, origin, pathname } = named(`${caller}: the URL`, address, url, PAGE.issuers)
  return { ...readFetchOptions(caller, options), href, location: origin + pathname }
}

export function readDiscoverKeysOptions(issuer: unknown, options: RemoteKeysOptions) {
  const caller = 'discoverKeys'
  const location = named(`${caller}: the issuer`, issuerAddress, issuer)
  return { ...readFetchOptions(caller, options), location }
}

/** The options of a source of keys. `location` names the source in messages. */
export type RemoteKeysSettings = ReturnType<typeof readFetchOptions> & { location: string }

function readFetchOptions(caller: Subject, options: RemoteKeysOptions) {
  const read = readOptions<RemoteKeysOptions, typeof schema>(caller, options, schema, aliases)
  const { cooldown, maxAge, keepFor } = read
  if (cooldown > maxAge / 2) {
    throw misuse(`${caller}: option "cooldown" must be at most half of "maxAge", but is longer`)
  }
  if (keepFor < maxAge) throw misuse(`${caller}: option "keepFor" must be at least "maxAge", but is shorter`)
  return { ...read, caller }
}

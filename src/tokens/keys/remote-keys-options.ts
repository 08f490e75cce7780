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

/**
 * Reads the URL and the options of `remoteKeys`.
 * @throws TypeError naming the value that is not valid
 */
export function readRemoteKeysOptions(url: unknown, options: RemoteKeysOptions) {
  const { href, origin, pathname } = named('remoteKeys: the URL', address, url)
  const read = readOptions<RemoteKeysOptions, typeof schema>('remoteKeys', options, schema, aliases)
  const { cooldown, maxAge, keepFor } = read
  if (cooldown > maxAge / 2) {
    throw new TypeError('remoteKeys: option "cooldown" must be at most half of "maxAge", but is longer')
  }
  if (keepFor < maxAge) throw new TypeError('remoteKeys: option "keepFor" must be at least "maxAge", but is shorter')
  return { ...read, href, place: origin + pathname }
}

import { randomBytes } from 'node:crypto'
import { type Check, InvalidOption, integer, isPlainObject, optional, readOptions } from '../../shared/options.js'
import { createHashQueue, defaultConcurrency, type HashQueueLoad, type SlotRequest } from './hash-queue.js'
import { argon2id, bcrypt, type Hasher } from './hashers.js'

/** What `createPasswords` takes. */
export interface PasswordsOptions {
  /** The first makes new hashes, so it needs `hash`; all are accepted. Default: `[argon2id(), bcrypt()]`. */
  hashers?: readonly Hasher[] | undefined
  /**
   * How many passwords are hashed at a time: 1 to 1,024. Default: one less than libuv's threads (`UV_THREADPOOL_SIZE`, 4), at most the
   * number of cores, and at least one.
   */
  concurrency?: number | undefined
  /**
   * How many logins may wait. 32 for each hashing thread already look up their account; half of the others may come from one client
   * network, and 64 over one connection. Networks take turns. When the queue is full, the network with the most waiting logins gives
   * way, with a `503`. Default 1,024; 0 to 100,000.
   */
  queue?: number | undefined
}

/** Hashes and checks passwords. Every byte counts: nothing is trimmed, cut or normalised (OWASP ASVS 5, 6.2.8). */
export interface Passwords {
  /**
   * Makes a hash to store.
   * @throws TypeError for what is no well-formed Unicode string
   * @throws AuthError `overloaded` when too many wait; and what the first hasher throws
   */
  hash(password: string): Promise<string>
  /**
   * Checks a password. Without a hash it does the same work and answers false, so that time does not tell who has an account.
   * @throws Error when no hasher accepts the hash
   * @throws AuthError `overloaded` when too many wait; and what the hasher throws
   */
  readonly verify: (password: string, hash: string | null | undefined) => Promise<boolean>
  /** Whether a hash is not the first hasher's, or of another cost than it gives today. */
  needsRehash?(hash: string): boolean
  /**
   * Waits in the queue for a slot, before the account is looked up. Rejects with an `AuthError`: `overloaded` when the queue is full
   * or the wait is longer than `timeout`, `client_closed_request` when `signal` is aborted.
   */
  reserve?(request?: SlotRequest): Promise<PasswordsSlot>
  /** How many passwords are being hashed, and how many logins wait; for metrics. */
  load?(): HashQueueLoad
}

/** A login's slot: `hash` and `verify` run within the limits of its request. */
export interface PasswordsSlot {
  /**
   * Makes a hash, as `Passwords.hash` does.
   * @throws AuthError `overloaded` when its turn did not come in time
   * @throws Error when it takes longer than the limits allow
   */
  hash(password: string): Promise<string>
  /**
   * Checks a password, as `Passwords.verify` does.
   * @throws AuthError `overloaded` when its turn did not come in time, `client_closed_request` when nobody waits for it any more
   * @throws Error when it takes longer than the limits allow
   */
  verify(password: string, hash: string | null | undefined): Promise<boolean>
  /** Gives the place up. To be called once the login is over, however it ended. */
  leave(): void
}

type FirstHasher = Hasher & Required<Pick<Hasher, 'hash'>>

const hasherList: Check<readonly [FirstHasher, ...Hasher[]]> = (value) => {
  if (!Array.isArray(value) || value.length === 0 || !value.every(isHasher)) {
    const uncalled = Array.isArray(value) && value.some((hasher) => typeof hasher === 'function')
    const hint = uncalled ? 'Are the brackets of argon2id() missing?' : 'A hasher has "accepts" and "verify"'
    throw new InvalidOption('an array of hashers, like [argon2id(), bcrypt()]', hint)
  }
  if (typeof value[0].hash !== 'function') {
    throw new InvalidOption('an array whose first hasher has "hash"', 'Put argon2id() first: it makes new hashes')
  }
  if (!value.every(({ external = false }) => typeof external === 'boolean')) {
    throw new InvalidOption('an array of hashers whose "external" is true or false')
  }
  return [...value] as unknown as readonly [FirstHasher, ...Hasher[]]
}

function isHasher(value: unknown): boolean {
  return isPlainObject(value) && typeof value['accepts'] === 'function' && typeof value['verify'] === 'function'
}

export const queueSchema = {
  concurrency: optional(integer(1, 1024, 'a number of passwords'), defaultConcurrency()),
  queue: optional(integer(0, 100_000, 'a number of logins'), 1024),
}

/** Names that these options have elsewhere. */
export const queueAliases = { parallelism: 'concurrency', maxQueue: 'queue' }

const schema = { hashers: optional(hasherList), ...queueSchema }
const aliases = { hasher: 'hashers', ...queueAliases }

/**
 * Makes the password checks of a token router, and of whatever sets passwords in the host. Each has its own queue: create one
 * for the process, and share it.
 * @throws TypeError naming the option that cannot be used
 */
export function createPasswords(options?: PasswordsOptions): Required<Passwords> {
  const read = readOptions<PasswordsOptions, typeof schema>('createPasswords', options, schema, aliases)
  const { hashers, concurrency, queue } = read
  const hashQueue = createHashQueue(concurrency, queue)
  const work = passwordWork(hashers ?? [argon2id(), bcrypt()])

  async function reserve(request: SlotRequest = {}): Promise<PasswordsSlot> {
    const { since, leave } = await hashQueue.acquire(request)
    const { source, timeout } = request
    return {
      // A new hash is worth making although the client has disconnected.
      hash: (password) => hashQueue.run(() => work.hash(password), { source, timeout }),
      verify: (password, hash) => {
        const waitTimeout = timeout && Math.max(0, Math.ceil(since + timeout - performance.now()))
        return hashQueue.run(() => work.verify(password, hash), { ...request, waitTimeout })
      },
      leave,
    }
  }

  async function inSlot<T>(use: (place: PasswordsSlot) => Promise<T>): Promise<T> {
    const place = await reserve()
    try {
      return await use(place)
    } finally {
      place.leave()
    }
  }

  return {
    hash: (password) => inSlot((place) => place.hash(password)),
    verify: (password, hash) => inSlot((place) => place.verify(password, hash)),
    needsRehash: work.needsRehash,
    reserve,
    load: hashQueue.load,
  }
}

/** Returns the work itself, without a queue. */
function passwordWork(hashers: readonly [FirstHasher, ...Hasher[]]) {
  const [first] = hashers
  const decoy = decoyOf(first)
  return {
    async hash(password: string): Promise<string> {
      if (typeof password !== 'string' || !password.isWellFormed()) {
        throw new TypeError('passwords: a password must be a well-formed Unicode string')
      }
      return first.hash(password)
    },
    async verify(password: string, hash: string | null | undefined): Promise<boolean> {
      if (hash === null || hash === undefined) {
        await first.verify(password, await decoy())
        return false
      }
      const matches = (await hasherOf(hashers, hash).verify(password, hash)) === true
      // Lone surrogates all turn into one character when they are encoded, so two passwords would be the same.
      return matches && password.isWellFormed()
    },
    needsRehash(hash: string): boolean {
      const hasher = hasherOf(hashers, hash)
      if (hasher.external || first.external) return false
      return hasher !== first || first.outdated?.(hash) === true
    },
  }
}

function hasherOf(hashers: readonly Hasher[], hash: string): Hasher {
  for (const hasher of hashers) if (hasher.accepts(hash)) return hasher
  throw new Error(
    'passwords: a stored hash is of no format that a hasher accepts. By default, $argon2id$… and $2b$… are accepted. For other formats, give createPasswords() a hasher',
  )
}

/** A hash that nobody knows the password of; made ahead of the first login, and again after a failure. */
function decoyOf(hasher: FirstHasher): () => Promise<string> {
  let pending: Promise<string> | undefined
  const make = async () => hasher.hash(randomBytes(32).toString('base64'))
  const decoy = () => {
    pending ??= make().catch((error: unknown) => {
      pending = undefined
      throw error
    })
    return pending
  }
  decoy().catch(() => {})
  return decoy
}

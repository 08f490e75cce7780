import type * as Argon2 from '@node-rs/argon2'
import { integer, text } from '../../options/checks.js'
import { misuse } from '../../options/misuse.js'
import { optional, readOptions } from '../../options/read-options.js'
import { bare } from '../../options/values.js'
import type { Hasher } from './hasher.js'
import { nativeModule } from './native-module.js'
import { costsOf, nodeArgon2 } from './node-argon2.js'
import { assertText } from './stored-key.js'

const nodeRs = () => nativeModule<typeof Argon2>('@node-rs/argon2')

/** The options of `argon2id`: the costs of new hashes (RFC 9106 section 3.1). Stored hashes contain their costs. */
export interface Argon2idOptions {
  /**
   * Memory in KiB (8 to 1,048,576, and at least 8 per lane). Default: `19456`.
   *
   * The default costs are those of the OWASP Password Storage Cheat Sheet.
   */
  memoryCost?: number | undefined
  /** Number of passes over the memory (1 to 64). Default: `2`. */
  timeCost?: number | undefined
  /** Number of lanes (1 to 64). Default: `1`. */
  parallelism?: number | undefined
  /**
   * Maximum cost of stored hashes, as a multiple (1 to 1,024) of the configured costs, or of the default costs if they are higher. Default:
   * `8`.
   *
   * It limits the memory, and memory × passes.
   */
  costLimit?: number | undefined
  /**
   * `'native'` uses `@node-rs/argon2`. `'node'` uses `crypto.argon2`, which requires Node 24.7 or newer. Default: `'native'`.
   *
   * Both accept the same hashes.
   */
  engine?: 'native' | 'node' | undefined
}

/** The default costs (OWASP Password Storage Cheat Sheet). */
const DEFAULTS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

/** The highest costs of any hash. With higher costs, one login could stop the process. */
const MOST = { memoryCost: 1_048_576, timeCost: 64, parallelism: 64 }

const schema = {
  memoryCost: optional(integer(8, MOST.memoryCost, 'KiB of memory'), DEFAULTS.memoryCost),
  timeCost: optional(integer(1, MOST.timeCost, 'a number of passes'), DEFAULTS.timeCost),
  parallelism: optional(integer(1, MOST.parallelism, 'a number of lanes'), DEFAULTS.parallelism),
  costLimit: optional(integer(1, 1024, 'a multiple of the cost of a new hash'), 8),
  engine: optional(text("'native' or 'node'", /^(native|node)$/)),
}

/**
 * Creates a hasher for Argon2id (RFC 9106), in PHC string format.
 * @throws TypeError for costs out of range, and for the engine `'node'` on a Node without `crypto.argon2`
 */
export function argon2id(options?: Argon2idOptions): Required<Omit<Hasher, 'external'>> {
  const read = readOptions<Argon2idOptions, typeof schema>('argon2id', options, schema)
  const { engine, costLimit, ...rest } = read
  const costs = bare(rest)
  if (costs.memoryCost < 8 * costs.parallelism) {
    throw misuse('argon2id: option "memoryCost" must be at least 8 KiB for each of "parallelism" (RFC 9106)')
  }
  const node = engine === 'node' ? nodeArgon2() : undefined
  const mostMemory = costLimit * Math.max(costs.memoryCost, DEFAULTS.memoryCost)
  const mostWork = costLimit * Math.max(costs.memoryCost * costs.timeCost, DEFAULTS.memoryCost * DEFAULTS.timeCost)
  const load = node ? () => node : nodeRs
  return {
    accepts(hash) {
      const stored = costsOf(hash)
      return (
        stored.memoryCost <= Math.min(mostMemory, MOST.memoryCost) &&
        stored.memoryCost * stored.timeCost <= mostWork &&
        stored.timeCost <= MOST.timeCost &&
        stored.parallelism <= MOST.parallelism
      )
    },
    async verify(password, hash) {
      assertText('argon2id', password)
      return load().verify(hash, password)
    },
    async hash(password) {
      assertText('argon2id', password)
      return load().hash(password, costs)
    },
    outdated(hash) {
      const { memoryCost, timeCost } = costsOf(hash)
      // Not `<`, which would be false for any other text.
      return !(memoryCost * timeCost >= costs.memoryCost * costs.timeCost)
    },
  }
}

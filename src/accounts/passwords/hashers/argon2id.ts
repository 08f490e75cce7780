import type * as Argon2 from '@node-rs/argon2'
import { misuse } from '../../../shared/misuse.js'
import { integer, optional, readOptions, text } from '../../../shared/options.js'
import { bare } from '../../../shared/values.js'
import type { Hasher } from './hasher.js'
import { nativeModule } from './native-module.js'
import { ARGON2ID, nodeArgon2 } from './node-argon2.js'

const nodeRs = nativeModule<typeof Argon2>('@node-rs/argon2')

/** The options of `argon2id`: the costs of new hashes (RFC 9106 section 3.1). Stored hashes contain their costs. */
export interface Argon2idOptions {
  /** Memory in KiB: 8 to 1,048,576, and 8 for each lane. Default 19,456 (OWASP Password Storage Cheat Sheet). */
  memoryCost?: number | undefined
  /** Passes over the memory: 1 to 64. Default 2 (OWASP Password Storage Cheat Sheet). */
  timeCost?: number | undefined
  /** Lanes: 1 to 64. Default 1 (OWASP Password Storage Cheat Sheet). */
  parallelism?: number | undefined
  /**
   * The code that computes the hashes: `'native'` is the module `@node-rs/argon2`. `'node'` is `crypto.argon2` of Node 24.7 or newer,
   * for hosts that cannot load native modules. Both read and write the same hashes. Default `'native'`.
   */
  engine?: 'native' | 'node' | undefined
}

/** The highest costs of a stored hash. With higher costs, one login could stop the process. */
const MOST = { memoryCost: 1_048_576, timeCost: 64, parallelism: 64 }

const argon2idSchema = {
  memoryCost: optional(integer(8, MOST.memoryCost, 'KiB of memory'), 19_456),
  timeCost: optional(integer(1, MOST.timeCost, 'a number of passes'), 2),
  parallelism: optional(integer(1, MOST.parallelism, 'a number of lanes'), 1),
  engine: optional(text("'native' or 'node'", /^(native|node)$/)),
}

/**
 * Creates a hasher for Argon2id (RFC 9106), in PHC string format.
 * @throws TypeError for costs out of range, and for the engine `'node'` on a Node without `crypto.argon2`
 */
export function argon2id(options?: Argon2idOptions): Required<Omit<Hasher, 'external'>> {
  const { engine, ...read } = readOptions<Argon2idOptions, typeof argon2idSchema>('argon2id', options, argon2idSchema, {
    m: 'memoryCost',
    t: 'timeCost',
    p: 'parallelism',
    iterations: 'timeCost',
  })
  const costs = bare(read)
  if (costs.memoryCost < 8 * costs.parallelism) {
    throw misuse('argon2id: option "memoryCost" must be at least 8 KiB for each of "parallelism" (RFC 9106)')
  }
  const node = engine === 'node' ? nodeArgon2() : undefined
  const load = node ? async () => node : nodeRs
  return {
    accepts(hash) {
      const [, memoryCost, timeCost, parallelism] = ARGON2ID.exec(hash) ?? []
      return (
        Number(memoryCost) <= MOST.memoryCost &&
        Number(timeCost) <= MOST.timeCost &&
        Number(parallelism) <= MOST.parallelism
      )
    },
    verify: async (password, hash) => (await load()).verify(hash, password),
    hash: async (password) => (await load()).hash(password, costs),
    outdated(hash) {
      const [, memoryCost, timeCost, parallelism] = ARGON2ID.exec(hash) ?? []
      return (
        Number(memoryCost) !== costs.memoryCost ||
        Number(timeCost) !== costs.timeCost ||
        Number(parallelism) !== costs.parallelism
      )
    },
  }
}

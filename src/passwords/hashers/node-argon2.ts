import { randomBytes, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { misuse } from '../../options/misuse.js'
import { bare } from '../../options/values.js'
import { fromBase64, notAccepted } from './stored-key.js'

/** A stored hash in PHC string format: memory in KiB, passes, lanes, salt and tag. */
const ARGON2ID =
  /^\$argon2id\$v=19\$m=([1-9]\d{0,9}),t=([1-9]\d{0,9}),p=([1-9]\d{0,2})\$([A-Za-z0-9+/]{11,})\$([A-Za-z0-9+/]{16,})$/

/** The costs of Argon2id (RFC 9106 section 3.1): memory in KiB, passes and lanes. */
interface Argon2Costs {
  memoryCost: number
  timeCost: number
  parallelism: number
}

/** Returns the costs of a stored hash, which are NaN for any other text. */
export function costsOf(hash: string): Argon2Costs {
  const [, memoryCost, timeCost, parallelism] = ARGON2ID.exec(hash) ?? []
  return { memoryCost: Number(memoryCost), timeCost: Number(timeCost), parallelism: Number(parallelism) }
}

/** The function `crypto.argon2` of Node 24.7. The installed types describe an older Node. */
type NodeArgon2 = (
  algorithm: 'argon2id',
  parameters: object,
  callback: (error: Error | null, tag: Buffer) => void,
) => void

/** Lengths of new hashes in bytes, the same as those of `@node-rs/argon2` (RFC 9106 section 4). */
const SALT_BYTES = 16
const TAG_BYTES = 32

/**
 * Creates an engine with the functions of `@node-rs/argon2` that the hasher calls. It needs no native module, and runs on libuv's thread
 * pool.
 * @throws TypeError when this Node has no `crypto.argon2`
 */
export function nodeArgon2() {
  // Not an import, because older versions of Node do not export this name.
  const { argon2 } = process.getBuiltinModule('node:crypto') as { argon2?: NodeArgon2 }
  if (typeof argon2 !== 'function') {
    throw misuse(
      `argon2id: option "engine" must be 'native' on Node ${process.versions.node}, because crypto.argon2 is missing. Use Node 24.7 or newer for 'node'`,
    )
  }
  const derive = promisify(argon2)
  const tagOf = (
    message: string,
    nonce: Uint8Array,
    tagLength: number,
    { memoryCost: memory, timeCost: passes, parallelism }: Argon2Costs,
  ) => derive('argon2id', bare({ message, nonce, tagLength, memory, passes, parallelism }))

  return {
    async hash(password: string, costs: Argon2Costs): Promise<string> {
      const salt = randomBytes(SALT_BYTES)
      const tag = await tagOf(password, salt, TAG_BYTES, costs)
      const { memoryCost, timeCost, parallelism } = costs
      return `$argon2id$v=19$m=${memoryCost},t=${timeCost},p=${parallelism}$${toBase64(salt)}$${toBase64(tag)}`
    },
    async verify(hash: string, password: string): Promise<boolean> {
      const [salt, tag] = hash.split('$').slice(4).map(fromBase64)
      if (!salt || !tag) throw notAccepted('argon2id')
      return timingSafeEqual(await tagOf(password, salt, tag.length, costsOf(hash)), tag)
    },
  }
}

const toBase64 = (bytes: Buffer) => bytes.toString('base64').replaceAll('=', '')

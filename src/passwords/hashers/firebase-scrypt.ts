import { createCipheriv } from 'node:crypto'
import { integer } from '../../options/checks.js'
import { type Check, InvalidOption, readOptions } from '../../options/read-options.js'
import type { Hasher } from './hasher.js'
import { deriveScrypt } from './scrypt.js'
import { fromBase64, keyHasher } from './stored-key.js'

/** The options of `firebaseScrypt`: the password hash parameters of the Firebase project, as its console shows them. */
export interface FirebaseScryptOptions {
  /** Firebase's `base64_signer_key`, a secret of 32 to 128 bytes in base64. */
  signerKey: string
  /**
   * Firebase's `base64_salt_separator`, usually `'Bw=='`.
   *
   * 1 to 32 bytes in base64.
   */
  saltSeparator: string
  /**
   * Firebase's `rounds`, usually 8.
   *
   * 1 to 8.
   */
  rounds: number
  /**
   * Firebase's `mem_cost`, usually 14.
   *
   * 1 to 14. A check takes 128 · `rounds` · 2^`memCost` bytes of memory.
   */
  memCost: number
}

/** Salt and hash. `firebase auth:export` writes base64, and the Admin SDK returns base64url. */
const FIREBASE = /^\$firebase-scrypt\$([A-Za-z0-9+/_-]{2,172}={0,2})\$([A-Za-z0-9+/_-]{43,171}={0,2})$/

const fromEither = (text: string) => fromBase64(text.replaceAll('-', '+').replaceAll('_', '/'))

function base64(min: number, max: number, what: string): Check<Buffer> {
  return (value) => {
    const bytes = typeof value === 'string' ? fromEither(value) : undefined
    if (!bytes || bytes.length < min || bytes.length > max) {
      throw new InvalidOption(
        `${what}, ${min} to ${max} bytes in base64`,
        'Copy it from the password hash parameters in the Firebase console',
      )
    }
    return bytes
  }
}

const schema = {
  signerKey: base64(32, 128, "the project's signer key"),
  saltSeparator: base64(1, 32, "the project's salt separator"),
  rounds: integer(1, 8, 'a number of rounds'),
  memCost: integer(1, 14, 'a memory cost'),
}

const ZERO_IV = Buffer.alloc(16)

/**
 * Creates a hasher that checks password hashes of Firebase Authentication (https://github.com/firebase/scrypt), stored as
 * `$firebase-scrypt$salt$hash` with the two values of the export. It makes no hashes, so it cannot be the first hasher. The next
 * login replaces the hash with one of the first hasher. A password that ends with NUL never matches.
 * @throws TypeError that names the invalid option, without its value; `verify` rejects with an Error for a hash that `accepts` refuses
 */
export function firebaseScrypt(options: FirebaseScryptOptions): Pick<Hasher, 'accepts' | 'verify'> {
  const read = readOptions<FirebaseScryptOptions, typeof schema>('firebaseScrypt', options, schema)
  const { signerKey, saltSeparator, rounds, memCost } = read
  const costs = { N: 2 ** memCost, r: rounds, p: 1 }

  function parse(hash: string) {
    const [salt, key] = FIREBASE.exec(hash)?.slice(1).map(fromEither) ?? []
    return salt && key?.length === signerKey.length ? { salt, key } : undefined
  }

  return keyHasher('firebaseScrypt', parse, async (password, { salt }) => {
    const derived = await deriveScrypt(password, Buffer.concat([salt, saltSeparator]), 32, costs)
    // Firebase's hash is the signer key, encrypted with the key that is derived from the password.
    return createCipheriv('aes-256-ctr', derived, ZERO_IV).update(signerKey)
  })
}

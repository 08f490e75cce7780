import { pbkdf2 as derive } from 'node:crypto'
import { promisify } from 'node:util'
import type { Hasher } from './hasher.js'
import { fromBase64, keyHasher } from './stored-key.js'

/** The most iterations of a stored hash: about 3 s. Django 6.0 makes hashes with 1,200,000. */
const MOST_ITERATIONS = 10_000_000

const KEY_BYTES = { sha1: 20, sha256: 32 }

/** Django's salts have no `$`. */
const DJANGO =
  /^pbkdf2_(?<digest>sha1|sha256)\$(?<iterations>[1-9]\d{0,7})\$(?<salt>[!-#%-~]{1,128})\$(?<key>[A-Za-z0-9+/]{27,43}=)$/

type Pbkdf2Groups = { digest: keyof typeof KEY_BYTES } & Record<'iterations' | 'salt' | 'key', string>

function parse(hash: string) {
  const groups = DJANGO.exec(hash)?.groups as Pbkdf2Groups | undefined
  if (!groups) return undefined
  const { digest, salt } = groups
  const iterations = Number(groups.iterations)
  const key = fromBase64(groups.key)
  const valid = iterations <= MOST_ITERATIONS && key?.length === KEY_BYTES[digest]
  return valid ? { digest, iterations, salt, key } : undefined
}

/**
 * Creates a hasher that checks Django's PBKDF2 hashes (RFC 8018 section 5.2): `pbkdf2_sha256$iterations$salt$key` and
 * `pbkdf2_sha1$…`, with at most 10,000,000 iterations. It makes no hashes, so it cannot be the first hasher. The next login replaces
 * the hash with one of the first hasher. A password that ends with NUL never matches.
 * @throws nothing; `verify` rejects with an Error for a hash that `accepts` refuses
 */
export function pbkdf2(): Pick<Hasher, 'accepts' | 'verify'> {
  return keyHasher('pbkdf2', parse, (password, { salt, iterations, key, digest }) =>
    promisify(derive)(password, salt, iterations, key.length, digest),
  )
}

import { scrypt as derive, type ScryptOptions } from 'node:crypto'
import { promisify } from 'node:util'
import { bare } from '../../options/values.js'
import type { Hasher } from './hasher.js'
import { fromBase64, keyHasher } from './stored-key.js'

/** The highest costs of a stored hash: 256 MiB, and about 3 s. OWASP's parameters need at most 128 MiB and 1/8 of the work. */
const MOST = { memory: 256 * 1024 * 1024, work: 2 ** 23 }

/** Log2 of N, the salt in base64, and a key of 16 to 64 bytes, as passlib and other PHC libraries write them. */
const PHC =
  /^\$scrypt\$ln=(?<ln>[1-9]\d?),r=(?<r>[1-9]\d?),p=(?<p>[1-9]\d?)\$(?<salt>[A-Za-z0-9+/]{2,172})\$(?<key>[A-Za-z0-9+/]{22,86})$/

/** N, the salt as it is, and a key of 64 bytes, as Django writes them. */
const DJANGO =
  /^scrypt\$(?<N>[1-9]\d{0,6})\$(?<salt>[!-#%-~]{1,128})\$(?<r>[1-9]\d?)\$(?<p>[1-9]\d?)\$(?<key>[A-Za-z0-9+/]{86}==)$/

type ScryptGroups = Record<'ln' | 'N' | 'r' | 'p' | 'salt' | 'key', string>

/** The costs of scrypt (RFC 7914 section 2): rows of the memory, 128-byte blocks of a row, and passes. */
type ScryptCosts = Record<'N' | 'r' | 'p', number>

function parse(hash: string) {
  const phc = PHC.exec(hash)?.groups
  const groups = (phc ?? DJANGO.exec(hash)?.groups) as ScryptGroups | undefined
  if (!groups) return undefined
  const costs = { N: phc ? 2 ** Number(groups.ln) : Number(groups.N), r: Number(groups.r), p: Number(groups.p) }
  const salt = phc ? fromBase64(groups.salt) : groups.salt
  const key = fromBase64(groups.key)
  return salt && key && affordable(costs) ? { costs, salt, key } : undefined
}

/** Returns whether scrypt takes the costs (RFC 7914 section 2: N is a power of 2, above 1 and below 2^(16r)) within the limits. */
function affordable({ N, r, p }: ScryptCosts): boolean {
  const log2N = Math.log2(N)
  const valid = Number.isInteger(log2N) && log2N >= 1 && log2N < 16 * r
  return valid && 128 * N * r <= MOST.memory && N * r * p <= MOST.work
}

/** Derives a key. The memory that it may take is what the costs need, because Node's default of 32 MiB is less than OWASP's costs. */
export function deriveScrypt(password: string, salt: Buffer | string, bytes: number, { N, r, p }: ScryptCosts) {
  const options: ScryptOptions = { N, r, p, maxmem: 128 * r * (N + p + 2) }
  return promisify<string, Buffer | string, number, ScryptOptions, Buffer>(derive)(password, salt, bytes, bare(options))
}

/**
 * Creates a hasher that checks scrypt hashes (RFC 7914): `$scrypt$ln=…,r=…,p=…$salt$key` with base64 without padding (PHC string format),
 * and Django's `scrypt$N$salt$r$p$key`. Accepts at most 256 MiB of memory (128·N·r bytes) and N·r·p of at most 2^23. It makes no
 * hashes, so it cannot be the first hasher. The next login replaces the hash with one of the first hasher. A password that ends with
 * NUL never matches.
 * @throws nothing; `verify` rejects with an Error for a hash that `accepts` refuses
 */
export function scrypt(): Pick<Hasher, 'accepts' | 'verify'> {
  return keyHasher('scrypt', parse, (password, { costs, salt, key }) => deriveScrypt(password, salt, key.length, costs))
}

import type { Hasher } from './hasher.js'
import { deriveScrypt, type ScryptCosts } from './scrypt-key.js'
import { fromBase64, groupsOf, isStoredKey, notAccepted } from './stored-key.js'

/** The highest costs of a stored hash: 256 MiB, and about 3 s. OWASP's parameters need at most 128 MiB and 1/8 of the work. */
const MOST = { memory: 256 * 1024 * 1024, work: 2 ** 23 }

/** Log2 of N, r, p, salt and key (16 to 64 bytes), as passlib and other PHC libraries write them. */
const PHC = /^\$scrypt\$ln=([1-9]\d?),r=([1-9]\d?),p=([1-9]\d?)\$([A-Za-z0-9+/]{2,172})\$([A-Za-z0-9+/]{22,86})$/

/** N, salt, r, p and key (64 bytes), as Django writes them. */
const DJANGO = /^scrypt\$([1-9]\d{0,6})\$([!-#%-~]{1,128})\$([1-9]\d?)\$([1-9]\d?)\$([A-Za-z0-9+/]{86}==)$/

interface StoredScrypt {
  costs: ScryptCosts
  salt: Buffer | string
  key: Buffer
}

function parse(hash: string): StoredScrypt | undefined {
  const stored = parsePhc(hash) ?? parseDjango(hash)
  return stored && affordable(stored.costs) ? stored : undefined
}

function parsePhc(hash: string): StoredScrypt | undefined {
  const groups = groupsOf<[ln: string, r: string, p: string, salt: string, key: string]>(PHC, hash)
  if (!groups) return undefined
  const [log2N, r, p, saltText, keyText] = groups
  const salt = fromBase64(saltText)
  const key = fromBase64(keyText)
  return salt && key ? { costs: { N: 2 ** Number(log2N), r: Number(r), p: Number(p) }, salt, key } : undefined
}

function parseDjango(hash: string): StoredScrypt | undefined {
  const groups = groupsOf<[N: string, salt: string, r: string, p: string, key: string]>(DJANGO, hash)
  if (!groups) return undefined
  const [N, salt, r, p, keyText] = groups
  const key = fromBase64(keyText)
  return key && { costs: { N: Number(N), r: Number(r), p: Number(p) }, salt, key }
}

/** Returns whether scrypt takes the costs (RFC 7914 section 2: N is a power of 2, above 1 and below 2^(16r)) within the limits. */
function affordable({ N, r, p }: ScryptCosts): boolean {
  const log2N = Math.log2(N)
  const valid = Number.isInteger(log2N) && log2N >= 1 && log2N < 16 * r
  return valid && 128 * N * r <= MOST.memory && N * r * p <= MOST.work
}

/**
 * Creates a hasher that checks scrypt hashes (RFC 7914): `$scrypt$ln=…,r=…,p=…$salt$key` with base64 without padding (PHC string format),
 * and Django's `scrypt$N$salt$r$p$key`. Accepts at most 256 MiB of memory (128·N·r bytes) and N·r·p of at most 2^23. It makes no
 * hashes, so it cannot be the first hasher. The next login replaces the hash with one of the first hasher. A password that ends with
 * NUL never matches.
 * @throws nothing; `verify` rejects with an Error for a hash that `accepts` refuses
 */
export function scrypt(): Pick<Hasher, 'accepts' | 'verify'> {
  return {
    accepts: (hash) => parse(hash) !== undefined,
    async verify(password, hash) {
      const stored = parse(hash)
      if (!stored) throw notAccepted('scrypt')
      const { costs, salt, key } = stored
      return isStoredKey(password, await deriveScrypt(password, salt, key.length, costs), key)
    },
  }
}

import { createPublicKey, type KeyObject } from 'node:crypto'
import { isKeyObject } from 'node:util/types'
import { func, text } from '../../options/checks.js'
import { type Message, misuse, PAGE, type Subject } from '../../options/misuse.js'
import { checkThat, describe, named, optional, readOptions } from '../../options/read-options.js'
import { isPlainObject } from '../../options/values.js'
import { withoutOptions } from '../algorithms/algorithm.js'
import {
  ALGORITHMS,
  type Algorithm,
  algorithmHint,
  type KeyPairAlgorithm,
  type SecretAlgorithm,
} from '../algorithms/algorithms.js'
import { type KeyMaterial, kidOfJwk, MATERIALS, type SecretMaterial, thumbprint } from './key-material.js'

/**
 * One key. The type allows `undefined` as material, so that `process.env.NAME` compiles. A variable that is not set throws a
 * `TypeError`.
 */
export type TokenKey = SecretTokenKey | PrivateTokenKey | PublicTokenKey | RemoteSigningKey

/** A secret, which signs and verifies. Everyone who has the secret can issue tokens. */
export interface SecretTokenKey {
  /** `HS256`, `HS384` or `HS512`: HMAC with SHA-2. */
  alg: SecretAlgorithm
  /** Text, bytes or a `KeyObject`. At least 32 bytes for HS256, 48 for HS384, 64 for HS512. Must not repeat one character. */
  secret: SecretMaterial | undefined
  /** Key id in the header of the token, different for each key. Default: a digest keyed with the secret. */
  kid?: string | undefined
  /**
   * Allowed only with an algorithm of key pairs.
   * @hidden
   */
  privateKey?: undefined
  /**
   * Allowed only with an algorithm of key pairs.
   * @hidden
   */
  publicKey?: undefined
}

/** A private key, which signs. Its public key verifies. */
export interface PrivateTokenKey {
  /** Algorithm of key pairs. */
  alg: KeyPairAlgorithm
  /** PEM, JWK or `KeyObject`. Signs and verifies. */
  privateKey: KeyMaterial | undefined
  /** Key id in the header of the token, different for each key. Default: the `kid` of the JWK, else the thumbprint (RFC 7638). */
  kid?: string | undefined
  /**
   * The public key is not allowed here, because the private key contains it.
   * @hidden
   */
  publicKey?: undefined
  /**
   * Allowed only with an HS algorithm.
   * @hidden
   */
  secret?: undefined
}

/** A public key, which only verifies. */
export interface PublicTokenKey {
  /** Algorithm of key pairs. */
  alg: KeyPairAlgorithm
  /** PEM, JWK or `KeyObject`. A private key is rejected. */
  publicKey: KeyMaterial | undefined
  /** Key id in the header of the token, different for each key. Default: the `kid` of the JWK, else the thumbprint (RFC 7638). */
  kid?: string | undefined
  /**
   * The private key is not allowed here. Use a `PrivateTokenKey`.
   * @hidden
   */
  privateKey?: undefined
  /**
   * Allowed only with an HS algorithm.
   * @hidden
   */
  secret?: undefined
}

/**
 * Signs bytes with a key that is elsewhere, for example in a key management service.
 * @param data the signing input of a token (RFC 7515 section 5.1)
 * @returns the signature. An ECDSA signature may be in DER or as in RFC 7518 section 3.4
 */
export type HostSign = (data: Uint8Array) => Uint8Array | Promise<Uint8Array>

/** A key pair whose private key signs elsewhere: in a key management service or in an HSM. */
export interface RemoteSigningKey extends PublicTokenKey {
  /**
   * Function `(data) => signature`, for a private key [in a key
   * service](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/keys.md#sign-with-a-key-service). At
   * most 1,024 calls at a time, then `503`. A failure, a wrong signature or a timeout causes `503` with the dependency `keys`.
   */
  sign: HostSign
}

/** A public key in a JWK set (RFC 7517). */
export interface PublicJwk extends Exclude<KeyMaterial, string | KeyObject> {
  /** The key id in the token's header (section 4.5). */
  kid: string
  /** The only algorithm of the key (section 4.4). */
  alg: Algorithm
  /** The use of the key: only signatures (section 4.2). */
  use: 'sig'
}

/** A key that verifies. The key determines the algorithm, not the token's header (RFC 8725 section 3.1). */
export interface VerificationKey {
  readonly kid: string
  readonly alg: Algorithm
  readonly key: KeyObject
}

export interface KeySource {
  find(kid: string): VerificationKey | undefined
  /** Returns all keys. */
  all(): readonly VerificationKey[]
  /**
   * Fetches remote keys after `find` has found nothing. Call `find` again when the promise resolves. Resolves with an error when
   * the fetch failed, so that an unknown key may exist.
   */
  readonly renew?: (() => Promise<Error | undefined>) | undefined
}

/** Calls a function whose result may take time, about an issuer. */
export type Wait = <T>(issuer: string, call: () => Promise<T>) => Promise<T>

export interface KeyRing extends KeySource {
  readonly first: SigningKey
  publicJwks(): PublicJwk[]
}

/** A key of the host, which may sign. */
export interface SigningKey extends VerificationKey {
  /** The key in memory that signs, if there is one. */
  readonly signingKey: KeyObject | undefined
  /** The function of the host that signs, if there is one. */
  readonly sign: HostSign | undefined
}

const wrong = (name: string, says: string) => misuse(`${name} ${says}`, PAGE.keys)

/**
 * Reads the `keys` option: one key or a list of keys.
 * @param held the previous keys. An unchanged key remains the same object, so that cached tokens of the key remain valid
 * @param materials the readers of the material
 * @throws TypeError that names the key by its index in the list, and never shows key material
 */
export function readKeys(caller: Subject, value: unknown, held?: KeySource, materials = MATERIALS): KeyRing {
  const name: Message = `${caller}: option "keys"`
  const keys = Array.isArray(value)
    ? value.map((entry, i) => readKey(`${caller}: option "keys[${i}]"`, entry, materials))
    : [readKey(name, value, materials)]
  const [first] = keys
  if (!first) throw wrong(name, 'must contain at least one key, but is an empty array')
  // A public key that is used as an HMAC secret is the classic way to forge a token (RFC 8725 section 2.1).
  if (keys.some(({ key }) => key.type !== first.key.type)) {
    throw wrong(name, 'must be all secrets or all key pairs, but mixes both. Use only HS algorithms, or only key pairs')
  }
  const ring = keys.map((key) => unchanged(key, held?.find(key.kid)))
  const byKid = new Map(ring.map((key) => [key.kid, key]))
  if (byKid.size < keys.length)
    throw wrong(name, 'must not contain the same "kid" twice. Is the same key listed twice?')
  // Not KeyObject.equals, which leaves an error in OpenSSL for keys of different kinds, so that Node then refuses the next PEM.
  const uses = keys.map((key) => [thumbprint(key), key.alg] as const)
  const algorithms = new Map(uses)
  if (uses.some(([print, alg]) => algorithms.get(print) !== alg)) {
    const mend = 'Create a key for each algorithm'
    throw wrong(name, `must not use one key with two algorithms (RFC 8725 section 3.1). ${mend}`)
  }
  const published = keys
    .filter(({ key }) => key.type === 'public')
    .map(({ kid, alg, key }): PublicJwk => ({ ...key.export({ format: 'jwk' }), kid, alg, use: 'sig' }))
  return {
    first,
    find: (kid) => byKid.get(kid),
    all: () => ring,
    publicJwks: () => published.map((jwk) => ({ ...jwk })),
  }
}

function unchanged(key: VerificationKey, known: VerificationKey | undefined): VerificationKey {
  return known?.alg === key.alg && known.key.equals(key.key) ? known : key
}

/**
 * Holds what a function reads from the `keys` option, which the host can replace while the process runs. The function receives the name of
 * its caller and the previous keys too. When it throws, the previous keys stay.
 */
export function holdKeys<T extends KeySource>(
  caller: Subject,
  read: (caller: Subject, value: unknown, held?: T) => T,
  value: unknown,
) {
  // The source's own functions, because each request calls them.
  const snapshotOf = (current: T) => ({ current, find: current.find, all: current.all, renew: current.renew })
  const keys = {
    ...snapshotOf(read(caller, value)),
    replace: (next: unknown) => void Object.assign(keys, snapshotOf(read('replaceKeys', next, keys.current))),
  }
  return keys
}

const anything = (value: unknown) => value

const schema = {
  alg: checkThat<Algorithm>(
    `one of ${Object.keys(ALGORITHMS).join(', ')}`,
    (value) => typeof value === 'string' && Object.hasOwn(ALGORITHMS, value),
    algorithmHint,
  ),
  secret: anything,
  privateKey: anything,
  publicKey: anything,
  kid: optional(text('a non-empty string')),
  sign: optional(func<HostSign>('a function (data) => signature')),
}

const FIELDS = ['secret', 'privateKey', 'publicKey'] as const

function readKey(name: Message, entry: unknown, materials: typeof MATERIALS): SigningKey {
  if (!isPlainObject(entry) || isKeyObject(entry)) {
    const forms = '{ alg, secret }, { alg, privateKey } or { alg, publicKey }'
    throw wrong(name, `must be ${forms}, but is ${describe(entry)}`)
  }
  const options = readOptions<{ [field in keyof typeof schema]?: unknown }, typeof schema>(name, entry, schema)
  const { alg } = options
  const { kind } = ALGORITHMS[alg]
  const mentioned = FIELDS.filter((field) => Object.hasOwn(entry, field))
  const given = FIELDS.filter((field) => options[field] !== undefined)
  // A member that is present but undefined is an environment variable that is not set.
  const fields = given.length > 0 ? given : mentioned
  const [field] = fields
  if (fields.length !== 1 || !field || (field === 'secret') !== (kind === 'secret')) {
    const wanted = kind === 'secret' ? '"secret"' : '"privateKey" (signs and verifies) or "publicKey" (verifies)'
    throw wrong(name, `must have ${wanted} for ${alg}, but has ${fields.join(' and ') || 'no key material'}`)
  }
  const { sign, [field]: material } = options
  if (sign && field !== 'publicKey') {
    const mend = 'Pass the public key of the key that signs'
    throw wrong(name, `with "sign" must have no other key material than "publicKey". ${mend}`)
  }
  if (material === undefined) throw wrong(`${name}.${field}`, 'is missing. Is an environment variable not set?')
  const parsed = named(`${name}.${field}`, materials[field](alg), material, PAGE.keys)
  const verificationKey = parsed.type === 'private' ? withoutOptions(createPublicKey(parsed)) : parsed
  return {
    alg,
    kid: options.kid ?? kidOfJwk(material) ?? thumbprint({ alg, key: verificationKey }),
    key: verificationKey,
    signingKey: parsed.type === 'public' ? undefined : parsed,
    sign,
  }
}

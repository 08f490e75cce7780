import type { KeyObject } from 'node:crypto'
import { isUint8Array } from 'node:util/types'
import { callHost } from '../../concurrency/host-call.js'
import { limitTasks } from '../../concurrency/limit.js'
import { bare } from '../../options/values.js'
import { jsonwebtoken } from '../../packages/on-first-use.cjs'
import type { PairAlgorithmRow } from '../algorithms/algorithm.js'
import { ALGORITHMS, type Algorithm } from '../algorithms/algorithms.js'
import type { HostSign, SigningKey, VerificationKey } from '../keys/key-ring.js'
import type { CompactToken } from './compact-jws.js'

interface JwsHeader {
  alg: Algorithm
  [member: string]: unknown
}

/** Signs a payload: at once with a key in memory, and later with a function of the host. */
export type Signer = (payload: object) => string | Promise<string>

/** jsonwebtoken writes a header in Latin-1, so other texts would change. */
const ASCII = /^[\x20-\x7e]+$/

/**
 * Creates the signer of a key: jsonwebtoken for every key in memory whose algorithm it knows.
 * @param timeout the time limit of a host's `sign`, in milliseconds
 */
export function createSigner({ alg, kid, key, signingKey, sign }: SigningKey, typ: string, timeout: number): Signer {
  const header = { alg, typ, kid }
  if (sign) return createHostSigner({ alg, kid, key }, header, sign, timeout)
  const secret = signingKey as KeyObject
  if (!ALGORITHMS[alg].isInJsonwebtoken || !ASCII.test(kid)) return (payload) => signCompact(header, payload, secret)
  const { sign: signJwt } = jsonwebtoken()
  const options = hidden({ header, allowInvalidAsymmetricKeyTypes: true })
  // As text, because the package changes the members of an object.
  return (payload) => signJwt(JSON.stringify(payload), secret, options)
}

/**
 * Creates options that jsonwebtoken reads and does not check for every token, because it checks those that are enumerable. The keys of this
 * package fit their algorithm already. The object has no prototype, so a polluted one adds no options. V8 reads an object that is created
 * without a prototype more slowly. Without `toString`, lodash.isplainobject throws and catches an error for every token.
 */
function hidden(options: object): object {
  const members = Object.entries({ ...options, toString: String }).map(([name, value]) => [name, bare({ value })])
  return Object.defineProperties(Object.setPrototypeOf({}, null), Object.fromEntries(members))
}

/** The most signatures of one key that a host's `sign` may have under way. */
const MOST_PENDING = 1024

function createHostSigner(publicKey: VerificationKey, header: JwsHeader, sign: HostSign, timeout: number): Signer {
  const { normalize, verify } = ALGORITHMS[publicKey.alg] as PairAlgorithmRow
  const limited = limitTasks({ total: MOST_PENDING })
  return async (payload) => {
    const signed = signingInput(header, payload)
    const call = async () => {
      const made: unknown = await sign(Buffer.from(signed))
      if (!isUint8Array(made)) throw new TypeError('sign: must return the signature as a Uint8Array')
      const signature = normalize?.(Buffer.from(made)) ?? Buffer.from(made)
      // A signature of another key, or over other bytes, would issue tokens that no verifier accepts.
      if (!verify(signed, signature, publicKey.key))
        throw new TypeError('sign: the signature does not match "publicKey". Pass the public key of the key that signs')
      return signature
    }
    const signature = await limited(undefined, () => callHost('keys', call, { timeout }))
    return `${signed}.${signature.toString('base64url')}`
  }
}

/** Returns the JWS signing input (RFC 7515 section 5.1). */
function signingInput(header: JwsHeader, payload: object): string {
  return [header, payload].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
}

/** Signs a header and a payload as a JWS in compact form (RFC 7515 section 7.1). */
export function signCompact(header: JwsHeader, payload: object, key: KeyObject): string {
  const signed = signingInput(header, payload)
  return `${signed}.${ALGORITHMS[header.alg].sign(signed, key).toString('base64url')}`
}

/** Returns whether a key made a token's signature, by the key's own algorithm (RFC 7515 section 5.2). */
export function isSignedBy({ signed, signature }: CompactToken, { alg, key }: VerificationKey): boolean {
  return ALGORITHMS[alg].verify(signed, signature, key)
}

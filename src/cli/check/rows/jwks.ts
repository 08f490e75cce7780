import { isPlainObject, parseJson } from '../../../options/values.js'
import { isSignedBy } from '../../../tokens/jwt/signature.js'
import { readJwkSet } from '../../../tokens/keys/jwk-set.js'
import type { VerificationKey } from '../../../tokens/keys/key-ring.js'
import type { Probe } from '../probe/probe.js'
import type { ReadToken } from '../probe/token.js'
import type { Rows } from '../row.js'
import { must, needed, Unjudged } from '../verdict.js'

/** The private members of a JWK (RFC 7518 sections 6.2.2, 6.3.2 and 6.4). */
const PRIVATE_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k']
const DAY = 86_400

export const jwksRows: Rows = {
  'jwks-public': {
    title: 'the key set holds only public keys',
    source: 'RFC 7517 section 9.2',
    async run(probe) {
      const keys = await shownKeys(probe)
      must(keys, 'the response is not a key set')
      for (const jwk of keys) {
        const secret = isPlainObject(jwk) ? PRIVATE_MEMBERS.filter((name) => Object.hasOwn(jwk, name)) : []
        must(secret.length === 0, `a key shows its private members: ${secret.join(', ')}`)
      }
    },
  },
  'jwks-cache': {
    title: 'the key set may be cached for at most a day',
    source: 'RFC 9111 section 4.2.2',
    needs: needsKeys,
    async run({ responses, wire }) {
      const control = (await responses.keys()).headers['cache-control'] ?? ''
      // Without a header, RFC 9111 lets a cache guess only from Last-Modified.
      if (control === '' && !wire.own) return
      const seconds = /\bno-(store|cache)\b/i.test(control) ? 0 : Number(/\bmax-age=(\d+)/i.exec(control)?.[1])
      must(seconds <= DAY, 'Cache-Control names no max-age of at most a day')
    },
  },
  'jwks-signature': {
    title: "the token is signed by the set's key that it names",
    source: 'RFC 7515 section 5.2; OWASP ASVS 5, 9.1.1',
    async run(probe) {
      const token = await probe.jwt()
      const key = await publicKeyOf(probe, token)
      must(key, "the token's kid is not in the key set")
      must(isSignedBy(token, key), 'the signature does not match the key')
    },
  },
}

/** Returns the keys of the set, or undefined when the response is not a key set. */
async function shownKeys({ responses, target }: Probe): Promise<unknown[] | undefined> {
  const { status, body } = await responses.keys()
  if (status === 404) throw new Unjudged(`there is no key set at ${target.jwks?.pathname}`)
  const set = status === 200 ? parseJson(body) : undefined
  return isPlainObject(set) && Array.isArray(set['keys']) ? set['keys'] : undefined
}

async function needsKeys(probe: Probe): Promise<void> {
  needed(await shownKeys(probe), 'there is no key set')
}

/** Returns the key that the token names, if the set has this key. */
export async function publicKeyOf(probe: Probe, { alg, kid }: ReadToken): Promise<VerificationKey | undefined> {
  if (String(alg).startsWith('HS')) throw new Unjudged('the token is signed with a secret, not with a key pair')
  await needsKeys(probe)
  return readJwkSet((await probe.responses.keys()).body).get(String(kid))
}

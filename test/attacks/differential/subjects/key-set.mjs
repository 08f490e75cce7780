// JWK sets, each with a token that a key of the set may have signed. fast-jwt and jsonwebtoken read no sets: jwks-rsa reads them.
import { createPublicKey } from 'node:crypto'
import { remoteKeys } from 'express-token-endpoint'
import fc from 'fast-check'
import { createLocalJWKSet } from 'jose'
import { JwksClient } from 'jwks-rsa'
import { editedBy, isObject, jsonObject, jsonOf, own, pick, textOf, toBytes } from '../bytes.mjs'
import { classes } from '../compare.mjs'
import { BY_ALG, jwkOf, KID, PAIRS } from '../keys.mjs'
import { jose, jsonwebtoken, oauth4webapi, ours, startServer } from '../peers.mjs'
import { tokenSignedBy } from './token.mjs'

/** The signers of the token. Each key that is too weak, or of another kind, must not verify. */
const SIGNERS = {
  ES256: ['ES256', BY_ALG.ES256.sign],
  RS256: ['RS256', BY_ALG.RS256.sign],
  PS256: ['PS256', BY_ALG.RS256.sign],
  ES384: ['ES384', BY_ALG.ES384.sign],
  'RSA of 1024 bits': ['RS256', PAIRS['RSA of 1024 bits'].privateKey],
  'RSA with exponent 3': ['RS256', PAIRS['RSA with exponent 3'].privateKey],
  stranger: ['ES256', PAIRS.stranger.privateKey],
}
const TOKENS = Object.fromEntries(Object.entries(SIGNERS).map(([name, signer]) => [name, tokenSignedBy(...signer)]))

let url
let body

/** Starts the source of the sets at the first case. */
async function askOurs(bytes, token) {
  url ??= `http://127.0.0.1:${await startServer((_, res) => res.end(body))}/jwks`
  body = bytes
  return (await ours(remoteKeys(url, { onError: () => {} }), { cache: false }).verify(token)).accountId
}

/** The peers, each as a function of the set's text. */
const peersOf = (alg, text, token) => ({
  jose: async () => (await jose(alg, createLocalJWKSet(JSON.parse(text)))(token)).sub,
  'jwks-rsa': async () => {
    const source = new JwksClient({ jwksUri: url, cache: false, fetcher: async () => JSON.parse(text) })
    const key = (await source.getSigningKey(KID)).getPublicKey()
    return (await jsonwebtoken(alg, key)(token)).sub
  },
  oauth4webapi: async () => (await oauth4webapi(alg, text, { authorization: `Bearer ${token}` })).sub,
})

const CURVES = { 'P-256': 'ES256', 'P-384': 'ES384', 'P-521': 'ES512' }

/** Returns the members of a set with the token's key id. Other members are not candidates. */
const candidatesIn = (set) => {
  const keys = own(set, 'keys')
  return Array.isArray(keys) ? keys.filter((jwk) => own(jwk, 'kid') === KID) : []
}

const isPrivate = (jwk) => own(jwk, 'd') !== undefined
const hasOtherUse = (jwk) => own(jwk, 'use') !== undefined && jwk.use !== 'sig'
const hasOtherOperations = (jwk) =>
  own(jwk, 'key_ops') !== undefined && !(Array.isArray(jwk.key_ops) && jwk.key_ops.includes('verify'))
const isWeak = (jwk) => {
  if (own(jwk, 'kty') !== 'RSA' || typeof own(jwk, 'n') !== 'string' || typeof own(jwk, 'e') !== 'string') return false
  const modulus = Buffer.from(jwk.n, 'base64url').toString('hex').replace(/^0+/, '')
  const exponent = BigInt(`0x${Buffer.from(jwk.e, 'base64url').toString('hex') || '0'}`)
  return modulus.length < 512 || exponent < 65_537n || exponent % 2n === 0n
}
const namesNoAlgorithm = (jwk) => own(jwk, 'alg') === undefined && own(jwk, 'kty') === 'RSA'

/** Returns the algorithm that a JWK determines, or undefined when the key must not be used. */
function algorithmOf(jwk) {
  if ([isPrivate, hasOtherUse, hasOtherOperations, isWeak].some((is) => is(jwk))) return undefined
  const { kty, crv, alg } = jwk
  try {
    createPublicKey({ key: { ...jwk }, format: 'jwk' })
  } catch {
    return undefined
  }
  if (kty === 'RSA') return /^[RP]S(256|384|512)$/.test(alg) ? alg : undefined
  if (kty !== 'EC' || !Object.hasOwn(CURVES, crv)) return undefined
  return !Object.hasOwn(jwk, 'alg') || alg === CURVES[crv] ? CURVES[crv] : undefined
}

const publicKeyOf = (jwk) => createPublicKey({ key: { ...jwk }, format: 'jwk' })

/** Returns whether an earlier member of a set that can be used has the same key with another algorithm. */
function hasOtherAlgorithm(set, first) {
  const kids = new Set()
  for (const jwk of set.keys.slice(0, set.keys.indexOf(first))) {
    const kid = own(jwk, 'kid')
    const alg = typeof kid === 'string' && kid !== '' && !kids.has(kid) ? algorithmOf(jwk) : undefined
    if (alg === undefined) continue
    kids.add(kid)
    if (alg !== algorithmOf(first) && publicKeyOf(jwk).equals(publicKeyOf(first))) return true
  }
  return false
}

/** Returns a predicate: no candidate can be used, and one of them has this fault. */
const faulty =
  (is) =>
  ({ candidates, first }) =>
    !first && candidates.some(is)

const stricter = classes({
  'a private key in a set': [
    'Everyone who reads the set could sign, so the key is refused.',
    'RFC 7517 section 9.2',
    faulty(isPrivate),
  ],
  'a key for another use': ['`use` is not `sig`, or has a wrong type.', 'RFC 7517 section 4.2', faulty(hasOtherUse)],
  'a key for other operations': [
    '`key_ops` is not a list with `verify`.',
    'RFC 7517 section 4.3',
    faulty(hasOtherOperations),
  ],
  'a weak RSA key in a set': [
    'The modulus has fewer than 2048 bits, or the exponent is below 65,537.',
    'RFC 7518 section 3.3',
    faulty(isWeak),
  ],
  'a key for another algorithm': [
    '`alg` differs from the algorithm of the token, or has a wrong type.',
    'RFC 8725 section 3.1',
    ({ candidates, first, alg }) =>
      (!first || candidates.length === 1) && candidates.some((jwk) => own(jwk, 'alg') !== undefined && jwk.alg !== alg),
  ],
  'an RSA key without an algorithm': [
    'Six algorithms fit, and the key must determine one.',
    'RFC 8725 section 3.1',
    faulty(namesNoAlgorithm),
  ],
  'a repeated key id': [
    'Two keys have the `kid` of the token. Only the first usable key counts, and it did not sign the token.',
    'RFC 7517 section 4.5',
    ({ candidates, first, signer }) => candidates.length > 1 && first !== undefined && !isKeyOf(signer, first),
  ],
  'one key with two algorithms': [
    'A key has the first algorithm that the set names for it. To accept a different one, use the option `algorithms`.',
    'RFC 8725 section 3.1',
    ({ set, first, signer }) => first !== undefined && isKeyOf(signer, first) && hasOtherAlgorithm(set, first),
  ],
  'a set that is not UTF-8': [
    'Other parsers replace the bytes, so different key ids become equal.',
    'RFC 8259 section 8.1',
    ({ text }) => text === undefined,
  ],
})

/** Returns whether a JWK is the key of a signer, for its algorithm. */
function isKeyOf(signer, jwk) {
  const [alg, key] = SIGNERS[signer]
  return algorithmOf(jwk) === alg && createPublicKey({ key: { ...jwk }, format: 'jwk' }).equals(createPublicKey(key))
}

const lenient = [
  {
    name: 'members that are not objects',
    reason: 'The set has members that are not keys. This package skips every member it cannot use.',
    reference: 'RFC 7517 section 5',
    peers: ['jose', 'jwks-rsa', 'oauth4webapi'],
    holds: ({ set }) => Array.isArray(own(set, 'keys')) && !set.keys.every(isObject),
  },
  {
    name: 'a repeated key id',
    reason: 'Two keys have the `kid` of the token, and the first usable key verifies it.',
    reference: 'RFC 7517 section 4.5',
    peers: ['jose', 'jwks-rsa', 'oauth4webapi'],
    holds: ({ candidates }) => candidates.length > 1,
  },
  {
    name: 'members of the Web Cryptography API',
    reason: '`ext` is not a Boolean, or `key_ops` has `verify` and more. That API refuses both, RFC 7517 does not.',
    reference: 'RFC 7517 section 4.3',
    peers: ['jose', 'jwks-rsa', 'oauth4webapi'],
    holds: ({ candidates }) =>
      candidates.some(({ ext = true, key_ops = [] }) => typeof ext !== 'boolean' || key_ops?.length > 1),
  },
]

const NAMES = ['kty', 'kid', 'alg', 'use', 'key_ops', 'crv', 'x', 'n', 'e', 'd', 'x5c', 'ext', '__proto__', '']
const VALUES = [
  ...'"RSA" "EC" "oct" "OKP" "k1" "k2" "" null 1 [] {} "sig" "enc" ["sig"] ["verify"] ["sign"] "verify"'.split(' '),
  ...'["sign","verify"] "ES256" "RS256" "PS256" "none" "HS256" "P-256" "P-384" "AQAB" "AQ" "Aw"'.split(' '),
  ...'"AAAAAQAB" "AQABAQABAQAB" ["ES256"] "A" "AQAB=" true'.split(' '),
]

/** The member of a set for a signer's key: complete, or with changes. */
function memberFor(name) {
  const [alg, key] = SIGNERS[name]
  const jwk = jwkOf(BY_ALG[alg].sign === key ? BY_ALG[alg].verify : PAIRS[name].publicKey, {
    kid: KID,
    alg,
    use: 'sig',
  })
  const bases = [
    jwk,
    jwk,
    { ...jwk, alg: undefined, use: undefined },
    { ...key.export({ format: 'jwk' }), kid: KID, alg },
  ]
  return pick(...bases).chain((base) => jsonObject(JSON.parse(JSON.stringify(base)), NAMES, VALUES))
}

const WRAPPERS = [
  ...Array(15).fill('{"keys":[@]}'),
  ...'[@] @ {"keys":@} {"keys":[[@]]} {"keys":{"0":@}} {"keys":[],"keys":[@]}'.split(' '),
  ...['{"keys":[null,@,1,"x",[]]}', '{"Keys":[@]}', '\xef\xbb\xbf{"keys":[@]}', '{"keys":[@],"x":"\xff"}'],
]

function ofSigner(name) {
  const member = fc.oneof(memberFor(name), memberFor(name), pick(...Object.keys(SIGNERS)).chain(memberFor))
  const set = fc
    .tuple(fc.array(member, { minLength: 1, maxLength: 3 }), pick(...WRAPPERS))
    .map(([members, wrapper]) => wrapper.replace('@', () => members.join(',')))
  return fc.record({ signer: fc.constant(name), text: editedBy(set, ['"', ',', '{', '\xff', ' ']) })
}

export default {
  name: 'key-set',
  title: 'JWK sets',
  fixed: ['signer'],
  cases: fc.oneof(...Object.keys(SIGNERS).map(ofSigner)),
  stricter,
  lenient,
  isRefusal: (error) => error.code === 'invalid_token' || error.code === 'unavailable',
  run({ signer, text }) {
    const [alg] = SIGNERS[signer]
    const token = TOKENS[signer]
    const bytes = toBytes(text)
    const valid = textOf(bytes)?.replace(/^\ufeff/, '')
    const set = valid === undefined ? undefined : jsonOf(valid)
    const candidates = candidatesIn(set)
    return {
      input: { alg, signer, text: valid, set, candidates, first: candidates.find(algorithmOf) },
      ours: () => askOurs(bytes, token),
      peers: peersOf(alg, new TextDecoder().decode(bytes), token),
    }
  },
}

// Compact tokens. Every peer checks the same rules: one algorithm, one key, one issuer, one audience, the type and the claims.
import { constants, createHmac, sign } from 'node:crypto'
import fc from 'fast-check'
import {
  byteString,
  edited,
  editedBy,
  edits,
  isObject,
  jsonObject,
  jsonOf,
  own,
  pick,
  textOf,
  toBytes,
  weighted,
} from '../bytes.mjs'
import { classes } from '../compare.mjs'
import { BY_ALG, ISSUER, jwkOf, KID, NOW, PAIRS } from '../keys.mjs'
import { fastJwt, jose, jsonwebtoken, oauth4webapi, ours } from '../peers.mjs'

const CLAIMS = ['iss', 'aud', 'sub', 'jti', 'client_id', 'iat', 'exp']

const validHeader = (alg) => ({ alg, typ: 'at+jwt', kid: KID })
const validPayload = {
  iss: ISSUER,
  aud: ISSUER,
  sub: 'acc-1',
  client_id: ISSUER,
  iat: NOW - 60,
  exp: NOW + 3600,
  jti: 'jti-1',
}

const PSS = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }
const OPTIONS = { R: {}, P: PSS, E: { dsaEncoding: 'ieee-p1363' } }
const ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n

/** The ways to sign. Only the first and the last make a valid signature. */
const SIGNATURES = {
  own: (input, alg) => signed(input, alg, BY_ALG[alg].sign),
  stranger: (input, alg) => signed(input, alg, alg[0] === 'E' ? PAIRS.stranger.privateKey : BY_ALG.RS256.sign),
  'public key as secret': (input) => createHmac('sha256', PAIRS.ES256.publicPem).update(input).digest(),
  der: (input, alg) =>
    alg[0] === 'E' ? sign(`sha${alg.slice(2)}`, Buffer.from(input), BY_ALG[alg].sign) : Buffer.alloc(32),
  zero: (_, alg) => Buffer.alloc(alg === 'ES256' ? 64 : 32),
  none: () => Buffer.alloc(0),
  'second of two': (input, alg) => {
    const bytes = signed(input, alg, BY_ALG[alg].sign)
    if (alg !== 'ES256') return bytes
    const s = ORDER - BigInt(`0x${bytes.subarray(32).toString('hex')}`)
    return Buffer.concat([bytes.subarray(0, 32), Buffer.from(s.toString(16).padStart(64, '0'), 'hex')])
  },
}

/** Signs with the algorithm and a key. A key of another kind signs as its kind does. */
function signed(input, alg, key) {
  const hash = `sha${alg.slice(2)}`
  if (key.type === 'secret') return createHmac(hash, key).update(input).digest()
  const options = key.asymmetricKeyType === 'rsa' ? OPTIONS[alg[0] === 'P' ? 'P' : 'R'] : OPTIONS.E
  return sign(hash, Buffer.from(input), { key, ...options })
}

/** Returns the token of a case: both parts are edited, then signed, and the whole token is edited. */
function tokenOf({ alg, header, payload, parts, signature, token }) {
  const [head, body] = [header, payload].map((bytes) => toBytes(bytes).toString('base64url'))
  const input = `${edited(head, parts[0])}.${edited(body, parts[1])}`
  return edited(`${input}.${SIGNATURES[signature](input, alg).toString('base64url')}`, token)
}

/** Returns a valid token that a key has signed. */
export function tokenSignedBy(alg, key) {
  const part = (value) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const input = `${part(validHeader(alg))}.${part(validPayload)}`
  return `${input}.${signed(input, alg, key).toString('base64url')}`
}

/** Verifiers of one algorithm, each with the same rules. */
function verifiersOf(alg) {
  const key = BY_ALG[alg].verify
  const isSecret = key.type === 'secret'
  const keys = { alg, kid: KID, [isSecret ? 'secret' : 'publicKey']: key }
  const keySet = isSecret ? undefined : JSON.stringify({ keys: [jwkOf(key, { kid: KID, alg })] })
  const text = isSecret ? key.export() : key.export({ type: 'spki', format: 'pem' })
  return {
    ours: ours(keys),
    peers: {
      jsonwebtoken: jsonwebtoken(alg, key),
      jose: jose(alg, key, { typ: 'at+jwt', requiredClaims: CLAIMS }),
      'fast-jwt': fastJwt(alg, text, { checkTyp: 'at+jwt', requiredClaims: CLAIMS }),
      ...(!isSecret && { oauth4webapi: (token) => oauth4webapi(alg, keySet, { authorization: `Bearer ${token}` }) }),
    },
    // Of tokens of identity providers: any type, a list of audiences, no further claims.
    oursForProviders: ours(keys, { audience: ISSUER, accept: 'jwt' }),
    peersForProviders: {
      jsonwebtoken: jsonwebtoken(alg, key),
      jose: jose(alg, key, { requiredClaims: ['sub', 'iat', 'exp'] }),
    },
  }
}

const VERIFIERS = Object.fromEntries(Object.keys(BY_ALG).map((alg) => [alg, verifiersOf(alg)]))

/** The contents that this package read, as the payload that peers return. */
function payloadOf({ id, accountId, issuer, audience, scopes, issuedAt, expiresAt, claims }) {
  const times = { iat: Math.floor(issuedAt.getTime() / 1000), exp: expiresAt.getTime() / 1000 }
  return contentsOf({
    ...claims,
    ...times,
    iss: issuer,
    aud: audience,
    sub: accountId,
    jti: id,
    scope: scopes.join(' '),
  })
}

/** Omits what `req.auth` does not show: `nbf`, `client_id`, and the difference between no scope and an empty one. */
function contentsOf({ nbf: _, client_id: __, scope = '', ...payload }) {
  return JSON.parse(JSON.stringify({ ...payload, scope }))
}

/** Returns functions that ask this package and the peers about a token, and read its contents. */
const asking = (token, verifier, read, peers, readPeers) => ({
  ours: async () => read(await verifier.verify(token)),
  peers: Object.fromEntries(
    Object.entries(peers).map(([name, verify]) => [name, async () => readPeers(await verify(token))]),
  ),
})

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

/** Decodes base64url bit by bit, unlike src. Returns undefined unless it is the one spelling of its bytes (RFC 4648 section 3.5). */
function canonical(part) {
  const bytes = []
  let bits = 0
  let count = 0
  for (const letter of part) {
    const value = LETTERS.indexOf(letter)
    if (value < 0) return undefined
    bits = (bits << 6) | value
    count += 6
    if (count >= 8) {
      count -= 8
      bytes.push(bits >> count)
      bits &= (1 << count) - 1
    }
  }
  return part !== '' && bits === 0 && count < 6 ? Uint8Array.from(bytes) : undefined
}

/** Reads a token for the classes. Members are undefined when an earlier step failed. */
function readToken(alg, token) {
  const parts = token.split('.')
  const [headBytes, bodyBytes, signature] = parts.map(canonical)
  const isCanonical = Boolean(headBytes && bodyBytes && signature)
  const texts = [headBytes, bodyBytes].map((bytes) => (bytes ? textOf(bytes) : undefined))
  const [header, payload] = texts.map((text) => (text === undefined ? undefined : jsonOf(text)))
  return { alg, token, parts, isCanonical, texts, header, payload }
}

const isTime = (value) => Number.isInteger(value) && value >= 0 && value <= 8.64e12
const isText = (value) => typeof value === 'string' && value !== ''
const claim =
  (name, is) =>
  ({ payload }) =>
    isObject(payload) && is(own(payload, name), payload)
const header = (name, is) => (input) => isObject(input.header) && is(own(input.header, name), input)

const stricter = classes({
  'another spelling of base64url': [
    'A part has padding, spare bits, spaces or other letters, which give one token several texts.',
    'RFC 7515 section 2, RFC 4648 section 3.5',
    ({ parts, isCanonical }) => parts.length === 3 && !isCanonical,
  ],
  'bytes that are not UTF-8': [
    'The header or the payload is not UTF-8, so two parsers read different names.',
    'RFC 7515 section 5.2, RFC 7519 section 7.2',
    ({ isCanonical, texts }) => isCanonical && texts.includes(undefined),
  ],
  'byte order mark': [
    'The JSON of the header or the payload starts with a byte order mark.',
    'RFC 8259 section 8.1',
    ({ texts }) => texts.some((text) => text?.startsWith('\ufeff')),
  ],
  'critical header': [
    'The header has `crit`, even if it is empty or has a wrong type, and this package understands no extension.',
    'RFC 7515 section 4.1.11',
    (input) => isObject(input.header) && Object.hasOwn(input.header, 'crit'),
  ],
  'another type': [
    '`typ` is not exactly the text `at+jwt`.',
    'RFC 8725 section 3.11',
    header('typ', (typ) => typ !== 'at+jwt'),
  ],
  'another key id': [
    '`kid` is missing or does not name a key of the verifier.',
    'RFC 8725 section 3.10',
    header('kid', (kid) => kid !== KID),
  ],
  'a claim that is missing or not a text': [
    '`iss`, `aud`, `sub`, `jti` or `client_id` is missing, empty or not a text.',
    'RFC 9068 section 2.2',
    ({ payload }) =>
      isObject(payload) &&
      ['iss', 'aud', 'sub', 'jti', 'client_id'].some(
        (name) => !Array.isArray(own(payload, name)) && !isText(own(payload, name)),
      ),
  ],
  'a list of audiences': [
    '`aud` is a list, and a token of this package has one audience.',
    'RFC 8725 section 3.9',
    claim('aud', Array.isArray),
  ],
  'a claim that is a list': [
    '`iss`, `sub`, `jti` or `client_id` is a list.',
    'RFC 7519 section 4.1',
    ({ payload }) => ['iss', 'sub', 'jti', 'client_id'].some((name) => Array.isArray(own(payload, name))),
  ],
  'a time that is not a whole second': [
    '`iat`, `exp` or `nbf` is not a whole number from 0 to the last moment of a `Date`.',
    'RFC 7519 section 2',
    ({ payload }) =>
      isObject(payload) &&
      ['iat', 'exp', 'nbf'].some(
        (name) => !isTime(own(payload, name)) && (name !== 'nbf' || Object.hasOwn(payload, name)),
      ),
  ],
  'an end before its start': [
    '`exp` is not after `iat`.',
    'RFC 7519 section 4.1',
    ({ payload }) => own(payload, 'exp') <= own(payload, 'iat'),
  ],
  'issued in the future': [
    '`iat` is after the current time, so the issuer or its clock is wrong.',
    'RFC 7519 section 4.1.6',
    claim('iat', (iat) => iat > NOW),
  ],
  'expired in this second': [
    '`exp` is the current second.',
    'RFC 7519 section 4.1.4',
    claim('exp', (exp) => exp === NOW),
  ],
  'a malformed scope': [
    '`scope` is not a text of scope tokens with one space between them.',
    'RFC 6749 section 3.3',
    claim('scope', (scope, payload) => {
      if (!Object.hasOwn(payload, 'scope')) return false
      return typeof scope !== 'string' || !/^[!#-[\]-~]+( [!#-[\]-~]+)*$/.test(scope)
    }),
  ],
})

const lenient = [
  {
    name: 'a token that is bound to a key',
    reason:
      '`cnf` binds a token to a key of the client. oauth4webapi can check the proof, and a bearer guard ignores the claim.',
    reference: 'RFC 9449 section 7.2',
    peers: ['oauth4webapi'],
    holds: ({ payload }) => isObject(payload) && Object.hasOwn(payload, 'cnf'),
  },
]

/** Values of members, as JSON texts. */
const HEADER_VALUES = [
  ...'"none" "HS256" "ES256" "es256" "RS256" "PS256" ["ES256"] "" null 0 false {} [] "JWT" "AT+JWT"'.split(' '),
  ...['"application/at+jwt"', '"at+jwt "', '"k1"', '"K1"', '["k1"]', '"__proto__"', '["b64"]', '["exp"]', '"../k"'],
  ...['"k1\\u0000"', '"\\u006b1"', '"DEF"', '"https://evil.example"', '"\\ud800"', '"é"'],
]
const HEADER_NAMES = ['alg', 'typ', 'kid', 'crit', 'b64', 'jwk', 'jku', 'x5c', 'zip', 'cty', '__proto__', 'constructor']
const CLAIM_VALUES = [
  ...[`"${ISSUER}"`, `["${ISSUER}"]`, `["x","${ISSUER}"]`, `"${ISSUER}/"`, '"https://evil.example"', '"acc-2"', '""'],
  ...['" "', '"a"', 'null', 'true', '{}', '[]', '[null]', '0', '-0', '-1', '1e308', '1e400', '0.5'],
  ...['9007199254740993', '8640000000000'],
  ...[NOW, NOW - 1, NOW + 1, NOW - 60, NOW + 0.5, NOW + 3600, NOW - 3600].flatMap((time) => [
    `${time}`,
    `"${time}"`,
    `[${time}]`,
  ]),
  ...['"a b"', '"a  b"', '" a"', '"a\\\\"', '["a"]', '"\\ud800"', '"é"', '"\\u0000"', '{"jkt":"x"}'],
  ...['{"__proto__":{"a":1}}', '[[[[]]]]'],
]
const CLAIM_NAMES = [...CLAIMS, ...CLAIMS, 'nbf', 'scope', 'cnf', 'name', '__proto__', 'constructor', 'toString', '']
const SPELLINGS = ['=', '==', '.', ' ', '\n', '\0', ...'+/-_ABQgw~', '%3D', 'é', '\u0131']
const OTHER_TEXTS = ['[]', '""', 'null', '1', '{', '', '{}', '\xff', '{"a":"\xff"}', '\xef\xbb\xbf{}']

/** Generates the bytes of a JSON object: usually valid, sometimes other texts or a few changed bytes. */
const object = (base, names, values) =>
  weighted(
    [12, jsonObject(base, names, values)],
    [1, fc.oneof(pick(...OTHER_TEXTS), byteString(20))],
    [2, editedBy(jsonObject(base, names, values), ['"', ',', '\\', '\xff', '{'])],
  )

/** Generates tokens of an algorithm. Most of them have one change, because the first of two faults would hide the second one. */
function ofAlg(alg) {
  const valid = {
    alg: fc.constant(alg),
    header: fc.constant(JSON.stringify(validHeader(alg))),
    payload: fc.constant(JSON.stringify(validPayload)),
    parts: fc.constant([[], []]),
    signature: fc.constant('own'),
    token: fc.constant([]),
  }
  const changed = {
    header: object(validHeader(alg), HEADER_NAMES, [`"${alg}"`, ...HEADER_VALUES]),
    payload: object(validPayload, CLAIM_NAMES, CLAIM_VALUES),
    parts: fc.tuple(edits(SPELLINGS), edits(SPELLINGS)),
    signature: pick(...Object.keys(SIGNATURES)),
    token: edits(SPELLINGS),
  }
  const one = Object.entries(changed).map(([name, arbitrary]) => fc.record({ ...valid, [name]: arbitrary }))
  return fc.oneof(...one, fc.record({ ...valid, ...changed }))
}

const token = {
  name: 'token',
  title: 'Tokens',
  /** Members that are one of a few values. The fuzzer takes them from other cases only. */
  fixed: ['alg', 'signature'],
  cases: fc.oneof(...['ES256', 'ES256', 'ES256', 'HS256', 'HS256', 'RS256', 'PS256', 'ES384', 'ES512'].map(ofAlg)),
  stricter,
  lenient,
  isRefusal: (error) => error.code === 'invalid_token',
  run(one) {
    const token = tokenOf(one)
    const { ours, peers } = VERIFIERS[one.alg]
    return { input: readToken(one.alg, token), ...asking(token, ours, payloadOf, peers, contentsOf) }
  },
}

export default token

/** The contents of a token of an identity provider that peers and this package read. */
// JSON has no negative zero, and neither has a Date.
const essenceOf = ({ iss, sub, iat, exp }) => JSON.parse(JSON.stringify({ iss, sub, iat, exp }))

/** Makes a case that may be a token for a client other than the API, with a type of access tokens or of any JWT. */
const asProviders = (text) =>
  text.replace('"typ":"at+jwt"', '"typ":"JWT"').replace(`"client_id":"${ISSUER}"`, '"azp":"client-1"')

/** The same tokens for `accept: 'jwt'`. Peers know no ID tokens, so only what this package accepts is judged. */
export const providerToken = {
  ...token,
  name: 'provider token',
  title: undefined,
  corpus: 'token',
  isOnlyAccepted: true,
  stricter: [],
  lenient: [],
  run(one) {
    const text = tokenOf({ ...one, header: asProviders(one.header), payload: asProviders(one.payload) })
    const { oursForProviders, peersForProviders } = VERIFIERS[one.alg]
    const read = ({ issuer, accountId, issuedAt, expiresAt }) =>
      essenceOf({ iss: issuer, sub: accountId, iat: issuedAt.getTime() / 1000, exp: expiresAt.getTime() / 1000 })
    return {
      input: readToken(one.alg, text),
      ...asking(text, oursForProviders, read, peersForProviders, essenceOf),
    }
  },
}

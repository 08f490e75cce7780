import { constants, createHash, sign as cryptoSign, type KeyObject, privateEncrypt } from 'node:crypto'
import { createTokenVerifier, remoteKeys, type TokenVerifier } from 'express-token-endpoint'
import { describe, expect, it } from 'vitest'
import { newKeyPair } from '../../../src/tokens/algorithms/new-key-pair.js'
import { forge, goodParts, ISSUER, SECRET } from '../../support/fixtures.js'
import { startSource } from '../../support/jwks-source.js'
import { pairOf, publicPem } from '../../support/keys.js'
import { encode, signatureOf } from '../../support/tokens.js'

// Has the classes of C2SP/wycheproof's json_web_signature_test.json that concern signatures. No package registry has its vectors. Its
// payloads lack the typ and the claims that this package requires, so the tests create each case with their own keys and tokens. Other
// spellings of a valid token are in test/unit/tokens/jwt/compact-jws.test.ts.

const ALGS = ['HS256', 'RS256', 'PS256', 'ES256', 'ES384', 'ES512'] as const
type Alg = (typeof ALGS)[number]
type KeyPairAlg = Exclude<Alg, 'HS256'>

const secret = Buffer.from(`one ${SECRET}`)
const privateOf = (alg: KeyPairAlg, name?: string) => pairOf(alg, name).privateKey
const publicOf = (alg: KeyPairAlg) => pairOf(alg).publicKey

const verifierOf = (alg: Alg): TokenVerifier =>
  createTokenVerifier({
    issuer: ISSUER,
    keys: alg === 'HS256' ? { alg, secret, kid: 'k' } : { alg, publicKey: publicOf(alg), kid: 'k' },
  })
/** Verifies with a set of remote keys, whose only key names the algorithm or not. */
async function remoteVerifierOf(alg: KeyPairAlg, named: object = { alg }): Promise<TokenVerifier> {
  const jwk = { ...publicOf(alg).export({ format: 'jwk' }), kid: 'k', use: 'sig', ...named }
  const { url } = await startSource({ keys: [jwk] })
  return createTokenVerifier({ issuer: ISSUER, keys: remoteKeys(url, { onError() {} }) })
}

const PAYLOAD = goodParts().payload
const headerOf = (alg: unknown, more: object = {}) => ({ alg, typ: 'at+jwt', kid: 'k', ...more })
const PSS = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }
const keyOf = (alg: Alg) => (alg === 'HS256' ? secret : privateOf(alg))

/** Forges a token: what its header says, how and with what it is signed. */
const token = (
  alg: Alg,
  header: unknown = headerOf(alg),
  payload: unknown = PAYLOAD,
  as: string = alg,
  key: KeyObject | Buffer = keyOf(alg),
) => forge(header, payload, key, as)

const verdictOf = (verifier: TokenVerifier, text: string): Promise<string> =>
  verifier.verify(text).then(
    () => 'accepted',
    ({ code, reason }) => (code === 'invalid_token' ? reason : code),
  )

interface Parts {
  alg: Alg
  h: string
  p: string
  s: string
}

/** Replaces the signature of a token by other bytes. */
const signed =
  (change: (signature: Buffer) => Buffer) =>
  ({ h, p, s }: Parts) =>
    `${h}.${p}.${encode(change(Buffer.from(s, 'base64url')))}`
const flip = (bytes: Buffer, at: number) => Buffer.from(bytes.map((byte, i) => (i === at ? byte ^ 1 : byte)))
/** Replaces the header of a token. */
const headed =
  (header: (alg: Alg) => unknown) =>
  ({ alg, p, s }: Parts) =>
    `${encode(header(alg))}.${p}.${s}`

const EVERY: [string, string, (parts: Parts) => string][] = [
  ['the good one', 'accepted', ({ h, p, s }) => `${h}.${p}.${s}`],
  ['a modified signature', 'signature', signed((bytes) => flip(bytes, 0))],
  ['a signature modified at its end', 'signature', signed((bytes) => flip(bytes, bytes.length - 1))],
  ['a truncated signature', 'signature', signed((bytes) => bytes.subarray(0, -1))],
  ['half a signature', 'signature', signed((bytes) => bytes.subarray(0, bytes.length / 2))],
  ['one byte of a signature', 'signature', signed((bytes) => bytes.subarray(0, 1))],
  ['an extended signature', 'signature', signed((bytes) => Buffer.concat([bytes, Buffer.alloc(1)]))],
  ['a signature with a zero before it', 'signature', signed((bytes) => Buffer.concat([Buffer.alloc(1), bytes]))],
  ['a signature twice', 'signature', signed((bytes) => Buffer.concat([bytes, bytes]))],
  ['a signature of zeros', 'signature', signed(({ length }) => Buffer.alloc(length))],
  ['a signature of ones', 'signature', signed(({ length }) => Buffer.alloc(length, 255))],
  ['no signature', 'malformed', ({ h, p }) => `${h}.${p}.`],
  ['a modified payload', 'signature', ({ h, s }) => `${h}.${encode({ ...PAYLOAD, sub: 'acc-2' })}.${s}`],
  ['a modified header', 'signature', headed((alg) => headerOf(alg, { x: 1 }))],
  ['a header with its members in another order', 'signature', headed((alg) => ({ kid: 'k', typ: 'at+jwt', alg }))],
  ['a header with white space', 'signature', headed((alg) => JSON.stringify(headerOf(alg), null, 1))],
  ['payload and header swapped', 'type', ({ h, p, s }) => `${p}.${h}.${s}`],
  ['another kid', 'unknown_key', headed((alg) => headerOf(alg, { kid: 'K' }))],
  ['alg none, no signature', 'malformed', ({ p }) => `${encode(headerOf('none'))}.${p}.`],
  ...['none', 'None', 'NONE', 'nOnE', '', ' none', null, undefined, 0, [], ['none'], {}].map(
    (alg): (typeof EVERY)[0] => [`alg ${JSON.stringify(alg)}`, 'algorithm', headed(() => headerOf(alg))],
  ),
]

describe.each(ALGS)('%s', (alg) => {
  const verifier = verifierOf(alg)

  it.each(EVERY)('%s: %s', async (_, verdict, of) => {
    const [h = '', p = '', s = ''] = token(alg).split('.')
    expect(await verdictOf(verifier, of({ alg, h, p, s }))).toBe(verdict)
  })

  const NAMES = 'HS256 HS384 HS512 RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 ES256K EdDSA'.split(' ')
  it.each(NAMES.filter((name) => name !== alg))('a good signature under the name of %s', async (other) => {
    expect(await verdictOf(verifier, token(alg, headerOf(other)))).toBe('algorithm')
  })

  it('keys that the header brings along are not looked at', async () => {
    const { privateKey, publicKey } = newKeyPair('ec', { namedCurve: 'P-256' })
    const jwk = { ...publicKey.export({ format: 'jwk' }), kid: 'k', alg: 'ES256', use: 'sig' }
    const [jku, x5u] = ['https://attacker.example/jwks.json', 'https://attacker.example/x5c']
    const bringing = (as: string) => headerOf(as, { jwk, jku, x5c: ['MIIB'], x5u })
    const byAttacker = (as: string) => token(alg, bringing(as), PAYLOAD, 'ES256', privateKey)
    expect(await verdictOf(verifier, token(alg, bringing(alg)))).toBe('accepted')
    expect(await verdictOf(verifier, byAttacker('ES256'))).toBe(alg === 'ES256' ? 'signature' : 'algorithm')
    expect(await verdictOf(verifier, byAttacker(alg))).toBe('signature')
  })

  it('another key of its kind', async () => {
    const key = alg === 'HS256' ? Buffer.from(`two ${SECRET}`) : privateOf(alg, 'another')
    expect(await verdictOf(verifier, token(alg, headerOf(alg), PAYLOAD, alg, key))).toBe('signature')
  })

  it('a signature of the payload alone, or of the bytes that the parts stand for', async () => {
    const input = `${encode(headerOf(alg))}.${encode(PAYLOAD)}`
    const [header, payload] = [JSON.stringify(headerOf(alg)), JSON.stringify(PAYLOAD)]
    for (const other of [encode(PAYLOAD), payload, header + payload]) {
      expect(await verdictOf(verifier, `${input}.${encode(signatureOf(other, keyOf(alg), alg))}`)).toBe('signature')
    }
  })
})

describe('members of a header that is well signed', () => {
  const text = JSON.stringify(headerOf('HS256'))
  const first = (members: string) => text.replace('{', `{${members},`)
  const last = (members: string) => text.replace('}', `,${members}}`)

  it.each<[string, string, string]>([
    ['crit first', first('"crit":["x"]'), 'critical_header'],
    ['crit last', last('"crit":["x"]'), 'critical_header'],
    ['crit of b64 (RFC 7797)', last('"crit":["b64"],"b64":false'), 'critical_header'],
    ['crit of a registered member', last('"crit":["alg"]'), 'critical_header'],
    ['crit twice, the last one null', first('"crit":["x"],"crit":null'), 'critical_header'],
    ['crit spelt with an escape', first('"\\u0063rit":["x"]'), 'critical_header'],
    ['crit behind white space', first(' \n"crit" : [ "x" ] '), 'critical_header'],
    ['names that look like crit', first('"Crit":["x"],"crit ":["x"],"cr\\u0131t":["x"]'), 'accepted'],
    ['an object with crit inside', first('"x":{"crit":["x"]}'), 'accepted'],
    ['crit of the prototype', first('"__proto__":{"crit":["x"]}'), 'accepted'],
    ['alg twice, the first one none', first('"alg":"none"'), 'accepted'],
    ['alg twice, the last one none', last('"alg":"none"'), 'algorithm'],
    ['kid twice, the last one unknown', last('"kid":"k2"'), 'unknown_key'],
    ['typ twice, the last one JWT', last('"typ":"JWT"'), 'type'],
    ['alg and kid that it inherits', '{"__proto__":{"alg":"HS256","kid":"k"},"typ":"at+jwt"}', 'unknown_key'],
    ['a byte order mark', `\ufeff${text}`, 'malformed'],
    ['something behind it', `${text}{}`, 'malformed'],
  ])('%s, well signed: %s', async (_, header, verdict) => {
    const verifier = verifierOf('HS256')
    // A verifier may cache the header, and a valid header comes in between.
    for (const one of [header, text, header]) {
      expect(await verdictOf(verifier, token('HS256', one))).toBe(one === text ? 'accepted' : verdict)
    }
  })

  it('a payload spelt twice is read as it was signed, the last member counting', async () => {
    const twice = JSON.stringify(PAYLOAD).replace('{', '{"sub":"acc-2",')
    expect(await verifierOf('HS256').verify(token('HS256', text, twice))).toMatchObject({ accountId: 'acc-1' })
  })
})

const member = (key: KeyObject) => {
  const { n, x } = key.export({ format: 'jwk' })
  return n ?? x ?? ''
}
const PUBLIC_KEY_AS_SECRET: [string, (key: KeyObject) => string | Buffer][] = [
  ['PEM', publicPem],
  ['PEM without its last line end', (key) => publicPem(key).trimEnd()],
  ['PEM behind white space', (key) => `\r\n \t${publicPem(key)}`],
  ['PEM with CRLF', (key) => publicPem(key).replaceAll('\n', '\r\n')],
  ['DER', (key) => key.export({ type: 'spki', format: 'der' })],
  ['DER in base64', (key) => key.export({ type: 'spki', format: 'der' }).toString('base64')],
  ['JWK', (key) => JSON.stringify(key.export({ format: 'jwk' }))],
  ['modulus or point', (key) => Buffer.from(member(key), 'base64url')],
  ['modulus or point as text', member],
  ['nothing', () => ''],
]

describe.each(['RS256', 'PS256', 'ES256', 'ES384', 'ES512'] as const)('%s: the header chooses no algorithm', (alg) => {
  it.each(PUBLIC_KEY_AS_SECRET)('the public key as an HMAC secret: %s', async (_, secretOf) => {
    const key = Buffer.from(secretOf(publicOf(alg)))
    for (const verifier of [verifierOf(alg), await remoteVerifierOf(alg)]) {
      for (const hs of ['HS256', 'HS384', 'HS512']) {
        for (const name of [hs, hs.toLowerCase(), alg]) {
          const verdict = await verdictOf(verifier, token(alg, headerOf(name), PAYLOAD, hs, key))
          expect(verdict).toBe(name === alg ? 'signature' : 'algorithm')
        }
      }
    }
  })

  it('a remote key that names no algorithm takes none from the header', async () => {
    const verifier = await remoteVerifierOf(alg, {})
    const hmac = token(alg, headerOf('HS256'), PAYLOAD, 'HS256', Buffer.from(publicPem(publicOf(alg))))
    // The curve of an EC key is its algorithm. An RSA key without one cannot be used.
    const expected = alg[0] === 'E' ? ['accepted', 'algorithm'] : ['unknown_key', 'unknown_key']
    expect([await verdictOf(verifier, token(alg)), await verdictOf(verifier, hmac)]).toEqual(expected)
  })
})

describe('RSA', () => {
  it.each<[Alg, string]>([
    ['RS256', 'PS256'],
    ['PS256', 'RS256'],
    ['RS256', 'RS384'],
    ['RS256', 'RS512'],
    ['PS256', 'PS384'],
  ])('%s with a signature of the same key by %s', async (alg, as) => {
    expect(await verdictOf(verifierOf(alg), token(alg, headerOf(alg), PAYLOAD, as))).toBe('signature')
    expect(await verdictOf(verifierOf(alg), token(alg, headerOf(as), PAYLOAD, as))).toBe('algorithm')
  })

  it.each([0, 20, 31, 33, 64])('PS256 with a salt of %i bytes', async (saltLength) => {
    const input = `${encode(headerOf('PS256'))}.${encode(PAYLOAD)}`
    const signature = cryptoSign('sha256', Buffer.from(input), { key: privateOf('PS256'), ...PSS, saltLength })
    expect(await verdictOf(verifierOf('PS256'), `${input}.${encode(signature)}`)).toBe('signature')
  })

  const hex = (text: string) => Buffer.from(text, 'hex')
  const SHA256 = hex('3031300d060960864801650304020105000420')
  const NO_NULL = hex('302f300b06096086480165030402010420')
  const LONG_FORM = hex('308131300d060960864801650304020105000420')
  const ones = (length: number, byte = 0xff) => Buffer.alloc(length, byte)
  const hash = (input: string, name = 'sha256') => createHash(name).update(input).digest()
  const filled = (type: number, info: Buffer[], byte = 0xff) => {
    const length = 256 - 3 - Buffer.concat(info).length
    return Buffer.concat([Buffer.of(0, type), ones(length, byte), Buffer.alloc(1), ...info])
  }
  const shortened = (info: Buffer[]) =>
    Buffer.concat([Buffer.of(0, 1), ones(8), Buffer.alloc(1), ...info, ones(194, 7)])

  it.each<[string, string, (input: string) => Buffer]>([
    ['as it should be', 'accepted', (i) => filled(1, [SHA256, hash(i)])],
    ['of type 2', 'signature', (i) => filled(2, [SHA256, hash(i)])],
    ['of type 0', 'signature', (i) => filled(0, [SHA256, hash(i)])],
    ['filled with something else', 'signature', (i) => filled(1, [SHA256, hash(i)], 0xfe)],
    ['without the NULL of its algorithm', 'signature', (i) => filled(1, [NO_NULL, hash(i)])],
    ['with a length in the long form', 'signature', (i) => filled(1, [LONG_FORM, hash(i)])],
    ['without its algorithm', 'signature', (i) => filled(1, [hash(i)])],
    ['of SHA-1', 'signature', (i) => filled(1, [hex('3021300906052b0e03021a05000414'), hash(i, 'sha1')])],
    ['with the name of SHA-256 for a SHA-1', 'signature', (i) => filled(1, [SHA256, hash(i, 'sha1')])],
    ['with a byte behind the hash', 'signature', (i) => filled(1, [SHA256, hash(i), Buffer.alloc(1)])],
    ['short, with garbage behind the hash (Bleichenbacher)', 'signature', (i) => shortened([SHA256, hash(i)])],
    ['with nothing in it', 'signature', () => Buffer.concat([Buffer.alloc(255), Buffer.of(1)])],
  ])('RS256 with a padding %s', async (_, verdict, of) => {
    const input = `${encode(headerOf('RS256'))}.${encode(PAYLOAD)}`
    const signature = privateEncrypt({ key: privateOf('RS256'), padding: constants.RSA_NO_PADDING }, of(input))
    expect(await verdictOf(verifierOf('RS256'), `${input}.${encode(signature)}`)).toBe(verdict)
  })

  it.each(['RS256', 'PS256'] as const)('%s with a signature that the modulus was added to', async (alg) => {
    const n = BigInt(`0x${Buffer.from(member(publicOf(alg)), 'base64url').toString('hex')}`)
    for (let jti = 0; ; jti++) {
      const good = token(alg, headerOf(alg), { ...PAYLOAD, jti: `${jti}` })
      const [h, p, s = ''] = good.split('.')
      const sum = (BigInt(`0x${Buffer.from(s, 'base64url').toString('hex')}`) + n).toString(16)
      if (sum.length > 512) continue
      expect(await verdictOf(verifierOf(alg), good)).toBe('accepted')
      expect(await verdictOf(verifierOf(alg), `${h}.${p}.${encode(Buffer.from(sum, 'hex'))}`)).toBe('signature')
      return
    }
  })
})

const CURVES = [
  ['ES256', 32, 'ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551'],
  ['ES384', 48, 'ffffffffffffffffffffffffffffffffffffffffffffffffc7634d81f4372ddf581a0db248b0a77aecec196accc52973'],
  ['ES512', 66, `01ff${'f'.repeat(62)}fa51868783bf2f966b7fcc0148f709a5d03bb5c9b8899c47aebb6fb71e91386409`],
] as const

describe.each(CURVES)('%s', (alg, size, order) => {
  const n = BigInt(`0x${order}`)
  const number = (value: bigint) => Buffer.from(value.toString(16).padStart(size * 2, '0'), 'hex')
  const input = `${encode(headerOf(alg))}.${encode(PAYLOAD)}`
  const good = signatureOf(input, privateOf(alg), alg)
  const numberIn = (half: Buffer) => BigInt(`0x${half.toString('hex')}`)
  const [r, s] = [numberIn(good.subarray(0, size)), numberIn(good.subarray(size))]
  const rs = (one: bigint, two: bigint) => Buffer.concat([number(one), number(two)])
  const verdict = (signature: Buffer) => verdictOf(verifierOf(alg), `${input}.${encode(signature)}`)

  it.each<[string, Buffer]>([
    ...([0n, 1n, n - 1n, n, n + 1n, (1n << BigInt(size * 8)) - 1n] as const).flatMap((x): [string, Buffer][] => [
      [`r and s of ${x.toString(16)}`, rs(x, x)],
      [`r of ${x.toString(16)}`, rs(x, s)],
      [`s of ${x.toString(16)}`, rs(r, x)],
      [`r of ${x.toString(16)} and s of 0`, rs(x, 0n)],
      [`r of 0 and s of ${x.toString(16)}`, rs(0n, x)],
    ]),
    ['r and s swapped', rs(s, r)],
    ['r below zero', rs(n - r, s)],
    ['its DER form', cryptoSign(`sha${alg.slice(2)}`, Buffer.from(input), privateOf(alg))],
    ['a zero before each number', Buffer.concat([Buffer.alloc(1), number(r), Buffer.alloc(1), number(s)])],
    ['its first halves', Buffer.concat([number(r).subarray(1), number(s).subarray(1)])],
    ['a DER sequence of two zeros', Buffer.from('3006020100020100', 'hex')],
    ['an empty DER sequence', Buffer.from('3000', 'hex')],
  ])('%s', async (_, signature) => {
    expect(await verdict(signature)).toBe('signature')
  })

  it('the other s: every ECDSA signature has two, and RFC 7515 takes both; nothing is keyed on a token’s text', async () => {
    expect(await verdict(good)).toBe('accepted')
    expect(await verdict(rs(r, n - s))).toBe('accepted')
  })

  it.each(CURVES.filter(([other]) => other !== alg))('a key of the curve of %s', async (other) => {
    for (const as of [alg, other]) {
      const forged = token(alg, headerOf(alg), PAYLOAD, as, privateOf(other))
      expect(await verdictOf(verifierOf(alg), forged)).toBe('signature')
    }
  })
})

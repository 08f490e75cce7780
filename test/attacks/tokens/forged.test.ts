import {
  constants,
  createHash,
  createPrivateKey,
  createPublicKey,
  sign as cryptoSign,
  generateKeyPairSync,
  type KeyObject,
  privateEncrypt,
} from 'node:crypto'
import { type Algorithm, createTokenVerifier, type PrivateTokenKey, type TokenVerifier } from 'express-token-endpoint'
import { describe, expect, it } from 'vitest'
import { forge, ISSUER, SECRET, signingKey } from '../../support/fixtures.js'
import { encode, signatureOf } from '../../support/tokens.js'

// These are the classes of C2SP/wycheproof's json_web_signature_test.json that concern a verifier of compact signatures. No
// package registry has its vectors. Its payloads lack the typ and the claims that this package requires, so the tests create
// each case with their own keys and tokens.

type Json = Record<string, unknown>

const ALGS = ['HS256', 'RS256', 'PS256', 'ES256', 'ES384', 'ES512'] as const
type Alg = (typeof ALGS)[number]

const secret = Buffer.from(`one ${SECRET}`)
const privateOf = (alg: Algorithm, name?: string) =>
  createPrivateKey((signingKey(alg, name) as PrivateTokenKey).privateKey as string)
const publicOf = (alg: Algorithm) => createPublicKey(privateOf(alg))

const verifierOf = (alg: Alg): TokenVerifier =>
  createTokenVerifier({
    issuer: ISSUER,
    keys: alg === 'HS256' ? { alg, secret, kid: 'k' } : { alg, publicKey: publicOf(alg), kid: 'k' },
  })

const now = Math.floor(Date.now() / 1000)
const PAYLOAD = { iss: ISSUER, aud: ISSUER, sub: 'acc-1', client_id: ISSUER, iat: now, exp: now + 3600, jti: 'jti-1' }
const headerOf = (alg: string): Json => ({ alg, typ: 'at+jwt', kid: 'k' })

const PSS = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }

const keyOf = (alg: Alg) => (alg === 'HS256' ? secret : privateOf(alg))

/** A token: what its header says, how and with what it is signed, and how that is spelt. */
function token(
  alg: Alg,
  header: unknown = headerOf(alg),
  payload: unknown = PAYLOAD,
  as: string = alg,
  key: KeyObject | Buffer = keyOf(alg),
) {
  return forge(header, payload, key, as)
}

const verdictOf = (verifier: TokenVerifier, text: string): Promise<string> =>
  verifier.verify(text).then(
    () => 'accepted',
    ({ code, reason }) => (code === 'invalid_token' ? reason : code),
  )

const flip = (bytes: Buffer, at: number) => Buffer.from(bytes.map((byte, i) => (i === at ? byte ^ 1 : byte)))
/** Sets a bit of the last letter that stands for no byte. */
const spare = (part: string) => {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  return part.slice(0, -1) + letters[letters.indexOf(part.at(-1) as string) ^ 1]
}

interface Parts {
  alg: Alg
  h: string
  p: string
  s: string
  signature: Buffer
}

const EVERY: [string, string, (parts: Parts) => string][] = [
  ['the good one', 'accepted', ({ h, p, s }) => `${h}.${p}.${s}`],
  ['nothing', 'malformed', () => ''],
  ['a modified signature', 'signature', ({ h, p, signature }) => `${h}.${p}.${encode(flip(signature, 0))}`],
  [
    'a signature modified at its end',
    'signature',
    ({ h, p, signature }) => `${h}.${p}.${encode(flip(signature, signature.length - 1))}`,
  ],
  ['an empty signature', 'malformed', ({ h, p }) => `${h}.${p}.`],
  ['no signature and no dot before it', 'malformed', ({ h, p }) => `${h}.${p}`],
  ['a truncated signature', 'signature', ({ h, p, signature }) => `${h}.${p}.${encode(signature.subarray(0, -1))}`],
  [
    'half a signature',
    'signature',
    ({ h, p, signature }) => `${h}.${p}.${encode(signature.subarray(0, signature.length / 2))}`,
  ],
  ['one byte of a signature', 'signature', ({ h, p, signature }) => `${h}.${p}.${encode(signature.subarray(0, 1))}`],
  [
    'an extended signature',
    'signature',
    ({ h, p, signature }) => `${h}.${p}.${encode(Buffer.concat([signature, Buffer.alloc(1)]))}`,
  ],
  [
    'a signature with a zero before it',
    'signature',
    ({ h, p, signature }) => `${h}.${p}.${encode(Buffer.concat([Buffer.alloc(1), signature]))}`,
  ],
  [
    'a signature twice',
    'signature',
    ({ h, p, signature }) => `${h}.${p}.${encode(Buffer.concat([signature, signature]))}`,
  ],
  ['a signature of zeros', 'signature', ({ h, p, signature }) => `${h}.${p}.${encode(Buffer.alloc(signature.length))}`],
  [
    'a signature of ones',
    'signature',
    ({ h, p, signature }) => `${h}.${p}.${encode(Buffer.alloc(signature.length, 255))}`,
  ],
  ['a modified payload', 'signature', ({ h, s }) => `${h}.${encode({ ...PAYLOAD, sub: 'acc-2' })}.${s}`],
  ['an empty payload', 'malformed', ({ h, s }) => `${h}..${s}`],
  ['no payload and no dot before it', 'malformed', ({ h, s }) => `${h}.${s}`],
  ['a modified header', 'signature', ({ alg, p, s }) => `${encode({ ...headerOf(alg), x: 1 })}.${p}.${s}`],
  [
    'a header with its members in another order',
    'signature',
    ({ alg, p, s }) => `${encode({ kid: 'k', typ: 'at+jwt', alg })}.${p}.${s}`,
  ],
  [
    'a header with white space',
    'signature',
    ({ alg, p, s }) => `${encode(JSON.stringify(headerOf(alg), null, 1))}.${p}.${s}`,
  ],
  ['an empty header', 'malformed', ({ p, s }) => `.${p}.${s}`],
  ['no header and no dot behind it', 'malformed', ({ p, s }) => `${p}.${s}`],
  ['the payload between two dots', 'malformed', ({ p }) => `.${p}.`],
  ['the payload alone', 'malformed', ({ p }) => p],
  ['two dots', 'malformed', () => '..'],
  ['an extra empty part', 'malformed', ({ h, p, s }) => `${h}.${p}.${s}.`],
  ['an extra part', 'malformed', ({ h, p, s }) => `${h}.${p}.${s}.Zm9v`],
  ['an extra part before it', 'malformed', ({ h, p, s }) => `.${h}.${p}.${s}`],
  ['payload and header swapped', 'type', ({ h, p, s }) => `${p}.${h}.${s}`],
  ['JSON serialization', 'malformed', ({ h, p, s }) => JSON.stringify({ payload: p, protected: h, signature: s })],
  [
    'general JSON serialization',
    'malformed',
    ({ h, p, s }) => JSON.stringify({ payload: p, signatures: [{ protected: h, signature: s }] }),
  ],
  ['alg none, no signature', 'malformed', ({ p }) => `${encode(headerOf('none'))}.${p}.`],
  ...['none', 'None', 'NONE', 'nOnE', '', ' none'].map((alg): (typeof EVERY)[0] => [
    `alg "${alg}"`,
    'algorithm',
    ({ p, s }) => `${encode(headerOf(alg))}.${p}.${s}`,
  ]),
  [
    'alg none after the right one',
    'algorithm',
    ({ alg, p, s }) => `${encode(`{"alg":"${alg}","typ":"at+jwt","kid":"k","alg":"none"}`)}.${p}.${s}`,
  ],
  ['another kid', 'unknown_key', ({ alg, p, s }) => `${encode({ ...headerOf(alg), kid: 'K' })}.${p}.${s}`],
  ['padding', 'malformed', ({ h, p, s }) => `${h}.${p}.${s}=`],
  ['padding of the header', 'malformed', ({ h, p, s }) => `${h}==.${p}.${s}`],
  ['a space before it', 'malformed', ({ h, p, s }) => ` ${h}.${p}.${s}`],
  ['a line end behind it', 'malformed', ({ h, p, s }) => `${h}.${p}.${s}\n`],
  ['a line end in it', 'malformed', ({ h, p, s }) => `${h}.${p.slice(0, 20)}\r\n${p.slice(20)}.${s}`],
  ['a space in its signature', 'malformed', ({ h, p, s }) => `${h}.${p}.${s.slice(0, 4)} ${s.slice(4)}`],
  ['a NUL behind it', 'malformed', ({ h, p, s }) => `${h}.${p}.${s}\0`],
  ['a BOM before it', 'malformed', ({ h, p, s }) => `\ufeff${h}.${p}.${s}`],
  [
    'letters of base64 that are none of base64url',
    'malformed',
    ({ h, p, s }) => `${h}.${p}.${s.replaceAll('-', '+').replaceAll('_', '/')}`,
  ],
  ['full-width dots', 'malformed', ({ h, p, s }) => [h, p, s].join('\uff0e')],
]

describe.each(ALGS)('%s', (alg) => {
  const verifier = verifierOf(alg)
  const input = () => `${encode(headerOf(alg))}.${encode(PAYLOAD)}`

  /** Returns the parts of a valid token whose signature differs between base64 and base64url. */
  function parts(): Parts {
    for (let jti = 0; ; jti++) {
      const [h = '', p = '', s = ''] = token(alg, headerOf(alg), { ...PAYLOAD, jti: `jti-${jti}` }).split('.')
      if (/[-_]/.test(s)) return { alg, h, p, s, signature: Buffer.from(s, 'base64url') }
    }
  }

  it.each(EVERY)('%s: %s', async (_, verdict, of) => {
    expect(await verdictOf(verifier, of(parts()))).toBe(verdict)
  })

  it('a signature with bits that stand for no byte', async () => {
    const { h, p, s, signature } = parts()
    expect(signature.length % 3 === 0 || (await verdictOf(verifier, `${h}.${p}.${spare(s)}`)) === 'malformed').toBe(
      true,
    )
  })

  it.each(
    ['HS256', 'HS384', 'HS512', 'RS256', 'RS384', 'PS256', 'PS384', 'ES256', 'ES384', 'ES512'].filter((a) => a !== alg),
  )('a good signature under the name of %s', async (other) => {
    expect(await verdictOf(verifier, token(alg, headerOf(other)))).toBe('algorithm')
  })

  it.each<[string, Json]>([
    ['crit of what nobody knows', { crit: ['x'], x: 1 }],
    ['crit of b64', { crit: ['b64'], b64: false }],
    ['crit of exp', { crit: ['exp'] }],
    ['an empty crit', { crit: [] }],
    ['crit that is no list', { crit: 'exp' }],
    ['crit null', { crit: null }],
  ])('%s, well signed: critical_header', async (_, members) => {
    expect(await verdictOf(verifier, token(alg, { ...headerOf(alg), ...members }))).toBe('critical_header')
  })

  it.each<[string, unknown, string]>([
    [
      'a header that names a member twice: the last counts',
      `{"alg":"none","typ":"at+jwt","kid":"k","alg":"${alg}"}`,
      'accepted',
    ],
    [
      'a header that names another algorithm last',
      `{"alg":"${alg}","typ":"at+jwt","kid":"k","alg":"none"}`,
      'algorithm',
    ],
    ['a header that names another type last', `{"alg":"${alg}","typ":"at+jwt","kid":"k","typ":"JWT"}`, 'type'],
    ['a header of a list', [headerOf(alg)], 'malformed'],
    ['a header of text', '"at+jwt"', 'malformed'],
    ['a header with a BOM', `\ufeff${JSON.stringify(headerOf(alg))}`, 'malformed'],
    [
      'a header that is no UTF-8',
      Buffer.from(JSON.stringify(headerOf(alg)).replace('at', '\xff'), 'latin1'),
      'malformed',
    ],
    ['a header with something behind it', `${JSON.stringify(headerOf(alg))}{}`, 'malformed'],
    ['a header without alg', { typ: 'at+jwt', kid: 'k' }, 'algorithm'],
    ['a header without kid', { alg, typ: 'at+jwt' }, 'unknown_key'],
    ['a header without typ', { alg, kid: 'k' }, 'type'],
    ['alg and kid that it inherits', `{"__proto__":{"alg":"${alg}","kid":"k"},"typ":"at+jwt"}`, 'unknown_key'],
  ])('%s', async (_, header, verdict) => {
    expect(await verdictOf(verifier, token(alg, header))).toBe(verdict)
  })

  it('a payload spelt twice is read as it was signed, the last member counting', async () => {
    const text = JSON.stringify(PAYLOAD).replace('{', '{"sub":"acc-2",')
    expect(await verifier.verify(token(alg, headerOf(alg), text))).toMatchObject({ accountId: 'acc-1' })
  })

  it.each<[string, string]>([
    ['none', ''],
    ['another of its kind', 'attacker'],
  ])('keys that the header brings along are not looked at: signed with %s', async (_, name) => {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const jwk = { ...publicKey.export({ format: 'jwk' }), kid: 'k', alg: 'ES256', use: 'sig' }
    const brought = {
      jwk,
      jku: 'https://attacker.example/jwks.json',
      x5c: ['MIIB'],
      x5u: 'https://attacker.example/x5c',
    }
    const bringing = (as: string) => ({ ...headerOf(as), ...brought })
    expect(await verdictOf(verifier, token(alg, bringing(alg)))).toBe('accepted')
    if (!name) return
    expect(await verdictOf(verifier, token(alg, bringing('ES256'), PAYLOAD, 'ES256', privateKey))).toBe(
      alg === 'ES256' ? 'signature' : 'algorithm',
    )
    expect(await verdictOf(verifier, token(alg, bringing(alg), PAYLOAD, 'ES256', privateKey))).toBe('signature')
  })

  it('another key of its kind', async () => {
    const key = alg === 'HS256' ? Buffer.from(`two ${SECRET}`) : privateOf(alg, 'another')
    expect(await verdictOf(verifier, token(alg, headerOf(alg), PAYLOAD, alg, key))).toBe('signature')
  })

  it('a signature of the payload alone, or of the bytes that the parts stand for', async () => {
    for (const other of [
      encode(PAYLOAD),
      JSON.stringify(PAYLOAD),
      JSON.stringify(headerOf(alg)) + JSON.stringify(PAYLOAD),
    ]) {
      expect(await verdictOf(verifier, `${input()}.${encode(signatureOf(other, keyOf(alg), alg))}`)).toBe('signature')
    }
  })
})

const PUBLIC_KEY_AS_SECRET: [string, (key: KeyObject) => Buffer][] = [
  ['PEM', (key) => Buffer.from(key.export({ type: 'spki', format: 'pem' }))],
  [
    'PEM without its last line end',
    (key) => Buffer.from(key.export({ type: 'spki', format: 'pem' }).toString().trimEnd()),
  ],
  ['DER', (key) => key.export({ type: 'spki', format: 'der' })],
  ['JWK', (key) => Buffer.from(JSON.stringify(key.export({ format: 'jwk' })))],
  [
    'modulus or point',
    (key) => Buffer.from((key.export({ format: 'jwk' }).n ?? key.export({ format: 'jwk' }).x) as string, 'base64url'),
  ],
  ['nothing', () => Buffer.alloc(0)],
]

describe.each(['RS256', 'PS256', 'ES256', 'ES384', 'ES512'] as const)('%s: the public key as an HMAC secret', (alg) => {
  it.each(PUBLIC_KEY_AS_SECRET)('%s', async (_, secretOf) => {
    for (const hs of ['HS256', 'HS384', 'HS512']) {
      const key = secretOf(publicOf(alg))
      expect(await verdictOf(verifierOf(alg), token(alg, headerOf(hs), PAYLOAD, hs, key))).toBe('algorithm')
      expect(await verdictOf(verifierOf(alg), token(alg, headerOf(alg), PAYLOAD, hs, key))).toBe('signature')
    }
  })
})

describe('RSA', () => {
  it.each<[Alg, string, string]>([
    ['RS256', 'PS256', 'signature'],
    ['PS256', 'RS256', 'signature'],
    ['RS256', 'RS384', 'signature'],
    ['RS256', 'RS512', 'signature'],
    ['PS256', 'PS384', 'signature'],
  ])('%s with a signature of the same key by %s', async (alg, as, verdict) => {
    expect(await verdictOf(verifierOf(alg), token(alg, headerOf(alg), PAYLOAD, as))).toBe(verdict)
    expect(await verdictOf(verifierOf(alg), token(alg, headerOf(as), PAYLOAD, as))).toBe('algorithm')
  })

  it.each([0, 20, 31, 33, 64])('PS256 with a salt of %i bytes', async (saltLength) => {
    const input = `${encode(headerOf('PS256'))}.${encode(PAYLOAD)}`
    const signature = cryptoSign('sha256', Buffer.from(input), { key: privateOf('PS256'), ...PSS, saltLength })
    expect(await verdictOf(verifierOf('PS256'), `${input}.${encode(signature)}`)).toBe('signature')
  })

  const SHA256 = Buffer.from('3031300d060960864801650304020105000420', 'hex')
  const SHA256_WITHOUT_NULL = Buffer.from('302f300b0609608648016503040201 0420'.replace(' ', ''), 'hex')
  const SHA1 = Buffer.from('3021300906052b0e03021a05000414', 'hex')
  const SHA256_LONG_LENGTH = Buffer.from('308131300d060960864801650304020105000420', 'hex')
  const ones = (length: number, byte = 0xff) => Buffer.alloc(length, byte)
  const hash = (input: string, name = 'sha256') => createHash(name).update(input).digest()
  const filled = (before: number[], info: Buffer, byte = 0xff) =>
    Buffer.concat([Buffer.from(before), ones(256 - before.length - 1 - info.length, byte), Buffer.alloc(1), info])

  it.each<[string, string, (input: string) => Buffer]>([
    ['as it should be', 'accepted', (i) => filled([0, 1], Buffer.concat([SHA256, hash(i)]))],
    ['of type 2', 'signature', (i) => filled([0, 2], Buffer.concat([SHA256, hash(i)]))],
    ['of type 0', 'signature', (i) => filled([0, 0], Buffer.concat([SHA256, hash(i)]))],
    ['filled with something else', 'signature', (i) => filled([0, 1], Buffer.concat([SHA256, hash(i)]), 0xfe)],
    [
      'without the NULL of its algorithm',
      'signature',
      (i) => filled([0, 1], Buffer.concat([SHA256_WITHOUT_NULL, hash(i)])),
    ],
    [
      'with a length in the long form',
      'signature',
      (i) => filled([0, 1], Buffer.concat([SHA256_LONG_LENGTH, hash(i)])),
    ],
    ['without its algorithm', 'signature', (i) => filled([0, 1], hash(i))],
    ['of SHA-1', 'signature', (i) => filled([0, 1], Buffer.concat([SHA1, hash(i, 'sha1')]))],
    [
      'with the name of SHA-256 for a SHA-1',
      'signature',
      (i) => filled([0, 1], Buffer.concat([SHA256, hash(i, 'sha1')])),
    ],
    [
      'with a byte behind the hash',
      'signature',
      (i) => filled([0, 1], Buffer.concat([SHA256, hash(i), Buffer.alloc(1)])),
    ],
    [
      'short, with garbage behind the hash (Bleichenbacher)',
      'signature',
      (i) =>
        Buffer.concat([
          Buffer.from([0, 1]),
          ones(8),
          Buffer.alloc(1),
          SHA256,
          hash(i),
          ones(256 - 11 - SHA256.length - 32, 7),
        ]),
    ],
    ['with nothing in it', 'signature', () => Buffer.concat([Buffer.alloc(255), Buffer.from([1])])],
  ])('RS256 with a padding %s', async (_, verdict, of) => {
    const input = `${encode(headerOf('RS256'))}.${encode(PAYLOAD)}`
    const signature = privateEncrypt({ key: privateOf('RS256'), padding: constants.RSA_NO_PADDING }, of(input))
    expect(await verdictOf(verifierOf('RS256'), `${input}.${encode(signature)}`)).toBe(verdict)
  })

  it.each(['RS256', 'PS256'] as const)('%s with a signature that the modulus was added to', async (alg) => {
    const n = BigInt(
      `0x${Buffer.from(publicOf(alg).export({ format: 'jwk' }).n as string, 'base64url').toString('hex')}`,
    )
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
  const [r, s] = [good.subarray(0, size), good.subarray(size)].map((half) => BigInt(`0x${half.toString('hex')}`)) as [
    bigint,
    bigint,
  ]
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
      expect(await verdictOf(verifierOf(alg), token(alg, headerOf(alg), PAYLOAD, as, privateOf(other)))).toBe(
        'signature',
      )
    }
  })
})

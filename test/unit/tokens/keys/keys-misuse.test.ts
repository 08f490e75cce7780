// Tests tokens/keys/{key-material,key-pair-format}.ts

import { createECDH, createPublicKey, createSecretKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { createTokenIssuer, createTokenVerifier, remoteKeys } from 'express-token-endpoint'
import { describe, expect, it } from 'vitest'
import { expectMisuse, thrownBy } from '../../../support/failures.js'
import { ISSUER, SECRET, signingKey } from '../../../support/fixtures.js'
import { foreignUrl } from '../../../support/jwks-source.js'
import { pairOf, privatePem, publicPem, weakRsa } from '../../../support/keys.js'

const issuerOf = (keys: unknown) => () => createTokenIssuer({ issuer: ISSUER, keys: keys as never })
const verifierOf = (keys: unknown) => () => createTokenVerifier({ issuer: ISSUER, keys: keys as never })
const rsa = pairOf('RS256')
const ec = pairOf('ES256')
const rsaPem = privatePem(rsa.privateKey)
const ecPem = privatePem(ec.privateKey)

describe('a secret shorter than its hash', () => {
  it.each([
    ['HS256', 32],
    ['HS384', 48],
    ['HS512', 64],
  ] as const)('is refused: %s takes %i bytes', (alg, bytes) => {
    const short = SECRET.slice(0, bytes - 1)
    const says = new RegExp(`keys"\\.secret must be a secret of at least ${bytes} bytes`)
    for (const secret of [short, Buffer.from(short), createSecretKey(Buffer.from(short))]) {
      expectMisuse(issuerOf({ alg, secret }), says, [short])
      const hint = `Create a secret with: npx express-token-endpoint keygen --alg ${alg}`
      expectMisuse(issuerOf({ alg, secret }), hint)
    }
    expect(issuerOf({ alg, secret: SECRET.slice(0, bytes) })).not.toThrow()
  })

  it.each([
    ['empty', ''],
    ['no text or bytes', { toString: (): string => SECRET }],
    ['null', null],
    ['an array', [SECRET]],
    ['one character', 'x'.repeat(64)],
    ['a character of several bytes', '💻'.repeat(16)],
    ['bytes that are all 0', Buffer.alloc(64)],
    ['a JWK', { kty: 'oct', k: Buffer.from(SECRET).toString('base64url') }],
    ['a public KeyObject', rsa.publicKey],
    ['a private KeyObject', rsa.privateKey],
  ])('is refused: %s', (_, secret) => {
    expectMisuse(issuerOf({ alg: 'HS256', secret }), /keys"\.secret must be a secret of at least 32 bytes/, [SECRET])
  })
})

describe('material of the wrong kind', () => {
  it.each([
    ['a secret for RS256', { alg: 'RS256', secret: SECRET }, /must have "privateKey".* for RS256, but has secret/],
    ['a PEM for HS256', { alg: 'HS256', privateKey: rsaPem }, /must have "secret" for HS256, but has privateKey/],
    ['a public PEM for HS256', { alg: 'HS256', publicKey: rsaPem }, /must have "secret" for HS256, but has publicKey/],
    ['two materials', { alg: 'RS256', privateKey: rsaPem, publicKey: rsa.publicKey }, /has privateKey and publicKey/],
    ['no material', { alg: 'RS256' }, /has no key material/],
    ['a public PEM as privateKey', { alg: 'RS256', privateKey: publicPem(rsa.publicKey) }, /privateKey must be an RSA/],
    ['a public JWK as privateKey', { alg: 'ES256', privateKey: ec.publicKey.export({ format: 'jwk' }) }, /EC key/],
    ['a public KeyObject as privateKey', { alg: 'RS256', privateKey: rsa.publicKey }, /privateKey must be an RSA/],
    ['a secret KeyObject as privateKey', { alg: 'RS256', privateKey: createSecretKey(Buffer.from(SECRET)) }, /RSA/],
    ['text that is no PEM', { alg: 'RS256', privateKey: SECRET }, /privateKey must be an RSA key/],
    ['a PEM cut short', { alg: 'RS256', privateKey: rsaPem.slice(0, 400) }, /privateKey must be an RSA key/],
    ['a JWK of nothing', { alg: 'RS256', privateKey: {} }, /privateKey must be an RSA key/],
    ['a number', { alg: 'RS256', privateKey: 7 }, /an RSA key .*, as PEM text, a JWK or a KeyObject, but is a number$/],
    ['null', { alg: 'RS256', publicKey: null }, /an RSA key .*, as PEM text, a JWK or a KeyObject, but is null$/],
  ])('is refused: %s', (_, key, says) => {
    expectMisuse(issuerOf(key), says, [SECRET, ...rsaPem.split('\n').slice(1, 4)])
  })

  it.each([
    ['PKCS #8 PEM', rsaPem],
    ['PKCS #1 PEM', rsa.privateKey.export({ type: 'pkcs1', format: 'pem' })],
    ['JWK', rsa.privateKey.export({ format: 'jwk' })],
    ['KeyObject', rsa.privateKey],
  ])('a private key as publicKey is refused: %s', (_, publicKey) => {
    const { d = '' } = rsa.privateKey.export({ format: 'jwk' })
    const hides = [...rsaPem.split('\n').slice(1, 4), d]
    const says = /keys"\.publicKey must be an RSA key.*This is a private key. Did you mean "privateKey"\?/
    expectMisuse(verifierOf({ alg: 'RS256', publicKey }), says, hides)
  })

  it('a private JWK that is not complete is not called a public key', () => {
    const privateKey = { kty: 'EC', crv: 'P-256', d: 'AA' }
    expectMisuse(issuerOf({ alg: 'ES256', privateKey }), /^(?!.*public key).*an EC key on curve prime256v1/)
  })

  it('an encrypted PEM is refused', () => {
    const cipher = { cipher: 'aes-256-cbc', passphrase: SECRET }
    const privateKey = ec.privateKey.export({ type: 'pkcs8', format: 'pem', ...cipher }) as string
    expectMisuse(issuerOf({ alg: 'ES256', privateKey }), 'Decrypt an encrypted PEM', privateKey.split('\n').slice(1, 3))
  })

  it.each([
    ['the name of a file', 'keys/signing-key.pem', 'This is not PEM. If it is a file name'],
    [
      'a JWK as text',
      JSON.stringify(rsa.privateKey.export({ format: 'jwk' })),
      'a JWK as a string. Pass JSON.parse(text)',
    ],
    ['a JWK set as text', JSON.stringify({ keys: [{ kty: 'RSA' }] }), 'This is a JWK set. Pass one of its "keys"'],
    ['one line', rsaPem.replaceAll('\n', '\\n'), String.raw`a backslash and an n. Use .replaceAll('\\n', '\n')`],
    ['a public key', publicPem(rsa.publicKey), 'This is a public key. Did you mean "publicKey"?'],
    [
      'a public JWK',
      rsa.publicKey.export({ format: 'jwk' }) as never,
      'This is a public key. Did you mean "publicKey"?',
    ],
    ['a public KeyObject', rsa.publicKey as never, 'This is a public key. Did you mean "publicKey"?'],
    [
      'a secret as KeyObject',
      createSecretKey(Buffer.alloc(32)) as never,
      'This is a secret. Did you mean "secret", with an HS algorithm?',
    ],
    ['cut off', rsaPem.slice(0, 400), 'Is the PEM complete'],
    ['a JWK set', { keys: [] } as never, 'This is a JWK set. Pass one of its "keys"'],
  ])('says what a value that is no private key probably is: %s', (_, privateKey, hint) => {
    const hides = privateKey.length > 60 ? [privateKey.slice(30, 60)] : []
    expectMisuse(issuerOf({ alg: 'RS256', privateKey }), hint, hides)
  })
})

describe('a key that does not fit its algorithm', () => {
  const ed25519 = generateKeyPairSync('ed25519').privateKey
  const rsaPss = generateKeyPairSync('rsa-pss', { modulusLength: 2048 }).privateKey
  const p384 = pairOf('ES384').privateKey
  const secp256k1 = generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).privateKey

  it.each([
    ['RSA of 1024 bits', 'RS256', weakRsa(), /at least 2048 bits for RS256.*type rsa of 1024 bits$/],
    ['RSA of 1024 bits for PSS', 'PS512', weakRsa(), /at least 2048 bits for PS512.*of 1024 bits/],
    ['RSA for ES256', 'ES256', rsa.privateKey, /curve prime256v1 for ES256.*type rsa of 2048 bits$/],
    ['EC for RS256', 'RS256', ec.privateKey, /RSA key.* for RS256.*type ec/],
    ['EC for PS256', 'PS256', ec.privateKey, /RSA key.* for PS256.*type ec/],
    ['P-384 for ES256', 'ES256', p384, /curve prime256v1 for ES256.*on curve secp384r1/],
    ['P-256 for ES384', 'ES384', ec.privateKey, /curve secp384r1 for ES384.*on curve prime256v1/],
    ['P-256 for ES512', 'ES512', ec.privateKey, /curve secp521r1 for ES512.*on curve prime256v1/],
    ['secp256k1 for ES256', 'ES256', secp256k1, /curve prime256v1 for ES256.*on curve secp256k1/],
    ['RSA-PSS for RS256', 'RS256', rsaPss, /RSA key.* for RS256.*type rsa-pss of 2048 bits/],
    ['Ed25519 for ES256', 'ES256', ed25519, /curve prime256v1 for ES256.*type ed25519$/],
  ])('is refused: %s', (_, alg, privateKey, says) => {
    const pem = privatePem(privateKey)
    expectMisuse(issuerOf({ alg, privateKey }), says)
    expectMisuse(issuerOf({ alg, privateKey: pem }), says, pem.split('\n').slice(1, 3))
  })

  it('is refused as a public key too', () => {
    const weak = createPublicKey(weakRsa())
    expectMisuse(verifierOf({ alg: 'RS256', publicKey: weak }), /keys"\.publicKey must be .* at least 2048 bits/)
  })

  it.each([
    ['alg', { alg: 'RS256' }, 'The "alg" of the JWK differs'],
    ['use', { use: 'enc' }, 'The "use" of the JWK is not "sig"'],
  ])('is refused when its JWK says so: %s', (_, members, says) => {
    const privateKey = { ...ec.privateKey.export({ format: 'jwk' }), ...members }
    expectMisuse(issuerOf({ alg: 'ES256', privateKey }), says, [privateKey.d as string])
  })

  it.each([undefined, null, '', 'none', 'hs256', 'HS1', 'EdDSA', 'constructor', 7, ['HS256']])(
    'is refused when there is no such algorithm: %j',
    (alg) => {
      expectMisuse(issuerOf({ alg, secret: SECRET }), /option "alg" must be one of HS256, .*ES512/, [SECRET])
      const meant = /Did you mean "Ed25519"/.test(String(thrownBy(issuerOf({ alg, secret: SECRET }))))
      expect(meant).toBe(alg === 'EdDSA')
    },
  )
})

it.each([
  ['secret', 'HS256'],
  ['privateKey', 'RS256'],
  ['publicKey', 'ES256'],
])('a variable of the environment that is not set is told as %s', (field, alg) => {
  const says = `createTokenIssuer: option "keys".${field} is missing. Is an environment variable not set?`
  expectMisuse(issuerOf({ alg, [field]: undefined }), says)
})

describe('a list of keys', () => {
  const hs256 = { alg: 'HS256', secret: SECRET }

  it.each([
    ['none', [], /"keys" must contain at least one key/],
    [
      'a secret beside a key pair',
      [hs256, { alg: 'RS256', publicKey: rsa.publicKey }],
      /but mixes both\. Use only HS algorithms, or only key pairs/,
    ],
    [
      'a key pair beside a secret',
      [{ alg: 'RS256', privateKey: rsaPem }, hs256],
      /but mixes both\. Use only HS algorithms, or only key pairs/,
    ],
    ['the same secret twice', [hs256, hs256], /the same "kid" twice\. Is the same key listed twice/],
    ['both halves of one key pair', [signingKey('ES256'), { alg: 'ES256', publicKey: ec.publicKey }], /"kid" twice/],
    [
      'one key pair with two algorithms',
      [
        { alg: 'RS256', privateKey: rsaPem, kid: 'a' },
        { alg: 'PS256', privateKey: rsaPem, kid: 'b' },
      ],
      /one key with two algorithms \(RFC 8725 section 3\.1\)\. Create a key for each algorithm/,
    ],
    [
      'one secret with two algorithms',
      [
        { alg: 'HS256', secret: SECRET.repeat(2), kid: 'a' },
        { alg: 'HS512', secret: SECRET.repeat(2), kid: 'b' },
      ],
      /one key with two algorithms/,
    ],
    [
      'one kid twice',
      [
        { ...hs256, kid: 'a' },
        { alg: 'HS256', secret: `${SECRET}!`, kid: 'a' },
      ],
      /"kid" twice/,
    ],
    [
      'a public key first',
      [{ alg: 'RS256', publicKey: rsa.publicKey }, signingKey('ES256')],
      /first key in "keys" signs, so it must be a "privateKey", a "secret" or/,
    ],
    ['a bad second', [hs256, { alg: 'HS256', secret: 'short' }], /option "keys\[1\]"\.secret must be/],
    [
      '"sign" beside a private key',
      { alg: 'ES256', privateKey: ecPem, sign: async () => new Uint8Array() },
      /with "sign" must have no other key material than "publicKey"\. Pass the public key of the key that signs/,
    ],
    [
      '"sign" beside a secret',
      { ...hs256, sign: async () => new Uint8Array() },
      /with "sign" must have no other key material than "publicKey"/,
    ],
    [
      '"sign" that is no function',
      { alg: 'ES256', publicKey: ec.publicKey, sign: true },
      /"sign" must be a function \(data\) => signature/,
    ],
    ['a hole', [hs256, undefined], /option "keys\[1\]" must be \{ alg, secret \}/],
    ['a list inside', [[hs256]], /option "keys\[0\]" must be \{ alg, secret \}/],
  ])('is refused: %s', (_, keys, says) => {
    expectMisuse(issuerOf(keys), says, [SECRET])
  })
})

it('a public key with "sign" signs', () => {
  const { publicKey } = ec
  expect(issuerOf({ alg: 'ES256', publicKey, sign: async () => new Uint8Array() })).not.toThrow()
})

describe('a key that is no key', () => {
  it.each([
    ['missing', undefined],
    ['null', null],
    ['a secret alone', SECRET],
    ['a PEM alone', ecPem],
    ['bytes alone', 7],
    ['a KeyObject alone', ec.privateKey],
    ['a function', () => signingKey('HS256')],
  ])('is refused: %s', (_, keys) => {
    expectMisuse(issuerOf(keys), /"keys" must be \{ alg, secret \}/, [SECRET, ...ecPem.split('\n')].filter(Boolean))
  })

  const MEANT = {
    alg: ['algorithm', 'Alg'],
    privateKey: ['key', 'private', 'private_key'],
    publicKey: ['public'],
    kid: ['keyid'],
    secret: ['secretOrKey', 'Secret'],
  }
  it.each(Object.entries(MEANT))('is refused with another name of %s: %j', (meant, names) => {
    for (const name of names) {
      const says = `createTokenIssuer: option "keys": unknown option "${name}". Did you mean "${meant}"?`
      expectMisuse(issuerOf({ alg: 'HS256', secret: SECRET, [name]: SECRET }), says, [SECRET])
    }
  })

  it.each([null, '', 7, ['k1']])('is refused with the kid %j', (kid) => {
    expectMisuse(issuerOf({ alg: 'HS256', secret: SECRET, kid }), /option "kid" must be a non-empty string/, [SECRET])
  })
})

describe('an RSA key that is weak though it is long', () => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048, publicExponent: 3 })
  const says = /must be an RSA key of at least 2048 bits for RS256/
  const jwkOf = (n: Buffer, ...e: number[]) => ({
    kty: 'RSA',
    n: n.toString('base64url'),
    e: Buffer.from(e).toString('base64url'),
  })
  const ones = (bytes: number) => Buffer.alloc(bytes, 0xff)

  it('for its public exponent of 3 signs nothing and verifies nothing', () => {
    expectMisuse(issuerOf({ alg: 'RS256', privateKey }), says, [privateKey.export({ format: 'jwk' }).d ?? ''])
    expectMisuse(verifierOf({ alg: 'RS256', publicKey: publicPem(publicKey) }), says)
  })

  it.each([
    ['1', jwkOf(ones(256), 1)],
    ['0', jwkOf(ones(256), 0)],
    ['65536', jwkOf(ones(256), 1, 0, 0)],
    ['65538', jwkOf(ones(256), 1, 0, 2)],
    ['65537, and its modulus of more than 16,384 bits', jwkOf(Buffer.concat([Buffer.of(1), ones(2048)]), 1, 0, 1)],
  ])('for its public exponent of %s verifies nothing', (_, key) => {
    expectMisuse(verifierOf({ alg: 'RS256', publicKey: key }), says)
    expectMisuse(verifierOf({ alg: 'PS256', publicKey: key }), /must be an RSA key/)
  })

  it('is not weak at 16,384 bits, and with another odd exponent', () => {
    expect(verifierOf({ alg: 'RS256', publicKey: jwkOf(ones(2048), 1, 0, 1) })).not.toThrow()
    expect(verifierOf({ alg: 'RS256', publicKey: jwkOf(ones(256), 1, 0, 3) })).not.toThrow()
  })
})

/** The ways in which a PEM gets into a secret, after CVE-2026-34950: a library looked for PEM at the start only. */
const WRAPPED: [string, (pem: string) => string | Uint8Array][] = [
  ['as it is', (pem) => pem],
  ['a space before it', (pem) => ` ${pem}`],
  ['many line ends before it', (pem) => `${'\r\n'.repeat(100)}${pem}`],
  ['other white space before it', (pem) => `\t\v\f\u00a0\ufeff${pem}`],
  ['a NUL before it', (pem) => `\0${pem}`],
  ['text before it', (pem) => `subject=/CN=example\n${pem}`],
  ['indented', (pem) => pem.replace(/^/gm, '    ')],
  ['CRLF', (pem) => pem.replaceAll('\n', '\r\n')],
  ['in one line', (pem) => pem.replaceAll('\n', '\\n')],
  ['without its last line end', (pem) => pem.trimEnd()],
  ['in quotes', (pem) => JSON.stringify(pem)],
  ['bytes', (pem) => new Uint8Array(Buffer.from(`\ufeff${pem}`))],
  ['UTF-16', (pem) => Buffer.from(`\ufeff${pem}`, 'utf16le')],
  ['base64', (pem) => Buffer.from(pem).toString('base64')],
  ['base64 behind a space', (pem) => ` ${Buffer.from(pem).toString('base64')}`],
]

describe.each([
  ['public RSA', publicPem(rsa.publicKey)],
  ['private RSA', rsaPem],
  ['public EC', publicPem(ec.publicKey)],
  ['private EC', ecPem],
])('a PEM as a secret is refused: %s', (_kind, pem) => {
  it.each(WRAPPED)('%s', (_, wrap) => {
    const material = wrap(pem)
    const lines = Buffer.from(material)
      .toString()
      .split(/[\r\n]+/)
    const hides = lines.slice(1, 3).filter((line) => line.length > 30)
    const says = /keys"\.secret must be .*This is a PEM\. Did you mean/
    for (const secret of [material, Buffer.from(material), createSecretKey(Buffer.from(material))]) {
      expectMisuse(issuerOf({ alg: 'HS256', secret }), says, hides)
      expectMisuse(verifierOf({ alg: 'HS512', secret }), says, hides)
    }
  })
})

/** An X.509 certificate of an Ed25519 key, in DER. */
const CERTIFICATE = [
  'MIIBLjCB4aADAgECAhQUtmBT4AuOnXlAQCKqk4NQsLrAFjAFBgMrZXAwDDEKMAgGA1UEAwwBYTAgFw0yNjExMjMyMDE2MThaGA8yMTI2MTAzMD',
  'IwMTYxOFowDDEKMAgGA1UEAwwBYTAqMAUGAytlcAMhAAOYBKj+nyBrj9tNUpZw6xDhxqOfY/l11fAzEGLU5B5Co1MwUTAdBgNVHQ4EFgQUXI1T',
  'bBaBmYOuX027n8UinRWFn8cwHwYDVR0jBBgwFoAUXI1TbBaBmYOuX027n8UinRWFn8cwDwYDVR0TAQH/BAUwAwEB/zAFBgMrZXADQQBIIo4u93',
  'jRp6YPM9nGkpjr4xcFd71LXUdTc3x+WqNKf8/xoayMlavQ2vMs0dDe8l+ZNgLpDmVcJN9dSfv6m20N',
].join('')

/** Raw points, also of a curve that no algorithm of this package uses. */
const POINTS = ['prime256v1', 'secp256k1', 'secp384r1', 'secp521r1'].flatMap((curve) => {
  const ecdh = createECDH(curve)
  const uncompressed = ecdh.generateKeys()
  return [
    [`a point of ${curve}`, uncompressed],
    [`a compressed point of ${curve}`, ecdh.getPublicKey(null, 'compressed')],
  ] as const
})

describe('another form of a key pair as a secret', () => {
  const der = (key: KeyObject, type: 'spki' | 'pkcs1' | 'pkcs8' | 'sec1') =>
    key.export({ format: 'der', type: type as 'spki' }) as unknown as Buffer
  const spki = der(rsa.publicKey, 'spki')
  const { n = '', e = '' } = rsa.publicKey.export({ format: 'jwk' })
  const field = (bytes: Buffer) => Buffer.concat([Buffer.from([0, 0, bytes.length >> 8, bytes.length & 255]), bytes])
  const numbers = [Buffer.from(e, 'base64url'), Buffer.concat([Buffer.of(0), Buffer.from(n, 'base64url')])]
  const ssh = Buffer.concat([Buffer.from('ssh-rsa'), ...numbers].map(field))
  const colons = spki.toString('hex').toUpperCase().match(/../g)?.join(':')
  const pem = publicPem(rsa.publicKey)
  const jwk = JSON.stringify({ kty: 'RSA', n, e })

  it.each<[string, string, string | Buffer | undefined]>([
    ['a public key in DER', 'key in DER', spki],
    ['a public key of PKCS #1', 'key in DER', der(rsa.publicKey, 'pkcs1')],
    ['an EC key in DER', 'key in DER', der(ec.publicKey, 'spki')],
    ['a private key in DER', 'key in DER', der(rsa.privateKey, 'pkcs8')],
    ['a private key of PKCS #1', 'key in DER', der(rsa.privateKey, 'pkcs1')],
    ['a private EC key in DER', 'key in DER', der(ec.privateKey, 'pkcs8')],
    ['a private key of SEC 1', 'key in DER', der(ec.privateKey, 'sec1')],
    ['a private key of Ed25519', 'key in DER', der(generateKeyPairSync('ed25519').privateKey, 'pkcs8')],
    ['a certificate', 'key in DER', Buffer.from(CERTIFICATE, 'base64')],
    ['DER and a line end', 'key in DER', Buffer.concat([spki, Buffer.from('\n')])],
    ['DER in hex', 'key in DER', spki.toString('hex')],
    ['DER in hex with colons and lines', 'key in DER', colons?.replaceAll(/(.{48})/g, '$1\n')],
    ['DER in hex with a prefix', 'key in DER', `0x${spki.toString('hex')}`],
    ['DER in base64', 'key in DER', spki.toString('base64')],
    ['the lines of a PEM without its first and its last', 'key in DER', pem.split('\n').slice(1, -2).join('\n')],
    ['DER in base64url', 'key in DER', spki.toString('base64url')],
    ['DER in hex in base64', 'key in DER', Buffer.from(spki.toString('hex')).toString('base64')],
    ['DER in base64 in UTF-16', 'key in DER', Buffer.from(spki.toString('base64'), 'utf16le')],
    ['a line of OpenSSH', 'key of SSH', `ssh-rsa ${ssh.toString('base64')} alice@example.com`],
    ['a line of authorized_keys', 'key of SSH', `no-pty ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI${'A'.repeat(43)}`],
    ['a key of OpenSSH without its name', 'key of SSH', ssh.toString('base64')],
    ['a key of OpenSSH in bytes', 'key of SSH', ssh],
    ['a key of RFC 4716', 'PEM', `---- BEGIN SSH2 PUBLIC KEY ----\n${ssh.toString('base64')}`],
    ['a PEM in hex', 'PEM', Buffer.from(pem).toString('hex')],
    ['a JWK', 'JWK', jwk],
    ['a JWK over several lines', 'JWK', `\n\ufeff${JSON.stringify(ec.publicKey.export({ format: 'jwk' }), null, 2)}\n`],
    ['a JWK with text around it', 'JWK', `key = ${jwk};`],
    ['a JWK set', 'JWK', `{"keys":[${jwk}]}`],
    ['a JWK in UTF-16', 'JWK', Buffer.from(jwk, 'utf16le')],
    ['a JWK in base64', 'JWK', Buffer.from(jwk).toString('base64')],
    ['two JWKs', 'JWK', `[${jwk},{"kty":"EC"}]`],
    ['a JWK within other JSON', 'JWK', `{"empty":{},"key": ${jwk}}`],
    ['a JWK in a JSON string', 'JWK', JSON.stringify(jwk)],
    ['a JWK as a literal', 'JWK', `{ kty: 'RSA', n: '${n}' }`],
    ['an EC point in hex', 'point of an EC key', POINTS[0]?.[1].toString('hex')],
    ['a compressed EC point in base64', 'point of an EC key', POINTS[1]?.[1].toString('base64')],
    ...POINTS.map(([name, bytes]) => [name, 'point of an EC key', bytes] as [string, string, Buffer]),
  ])('is refused: %s', (_, format, secret) => {
    const message = new RegExp(
      `keys"\\.secret must be .*This is a ${format}\\. Did you mean "privateKey" or "publicKey"`,
    )
    expectMisuse(issuerOf({ alg: 'HS256', secret }), message, [n.slice(0, 20), String(secret).slice(20, 40)])
    expectMisuse(verifierOf({ alg: 'HS256', secret: createSecretKey(Buffer.from(secret ?? '')) }), message)
  })

  it.each<[string, string | Buffer]>([
    ['white space before it', ` \n${SECRET}`],
    ['a NUL in it', `\0${SECRET}`],
    ['JSON', JSON.stringify({ secret: SECRET })],
    ['a JWK of a secret', JSON.stringify({ kty: 'oct', k: SECRET })],
    ['braces', `{${SECRET}}`],
    ['random bytes', Buffer.from(Array.from({ length: 64 }, (_, i) => (i * 37) % 256))],
    ['bytes that begin as DER does', Buffer.from([0x30, 62, ...Array(62).fill(7)])],
    ['bytes that begin as an EC point does', Buffer.from([4, ...Array(64).fill(7)])],
    ['bytes that begin as a compressed EC point does', Buffer.from([2, ...Array(32).fill(3)])],
    ['hex', '0123456789abcdef'.repeat(4)],
    ['base64', Buffer.alloc(48, 'secret 7').toString('base64')],
    ['a JWK of a secret', JSON.stringify({ kty: 'oct', k: n })],
    ['bytes that begin almost as a key of SSH does', `\0\x07sk-${SECRET}`],
    ['a sentence about a key of SSH', 'the passphrase of my ssh-rsa key, which nobody knows'],
  ])('is not seen in a secret: %s', (_, secret) => {
    expect(issuerOf({ alg: 'HS256', secret })).not.toThrow()
    expect(issuerOf({ alg: 'RS256', privateKey: rsaPem })).not.toThrow()
  })
})

describe.each([
  ['privateKey', 'sign', rsa.privateKey.export({ format: 'jwk' }), 'verify'],
  ['publicKey', 'verify', rsa.publicKey.export({ format: 'jwk' }), 'sign'],
])('the "key_ops" of a JWK as %s must have "%s"', (field, operation, jwk, other) => {
  const make = field === 'privateKey' ? issuerOf : verifierOf

  it.each([[['encrypt']], [[other]], [[]], [operation], [{ [operation]: true }]])('and are not %j', (key_ops) => {
    const says = `"key_ops" of the JWK do not include "${operation}"`
    expectMisuse(make({ alg: 'RS256', [field]: { ...jwk, key_ops } }), says, jwk.d ? [jwk.d] : [])
  })

  it.each([[[operation]], [[other, operation]]])('and may be %j', (key_ops) => {
    expect(make({ alg: 'RS256', [field]: { ...jwk, key_ops } })).not.toThrow()
  })
})

describe('a verifier', () => {
  it.each([
    ['one key', signingKey('RS256')],
    ['a list', [{ alg: 'RS256', publicKey: rsa.publicKey }, signingKey('ES256')]],
  ])('holds no signing key: %s', (_, keys) => {
    const says = 'createTokenVerifier: option "keys" must not contain a "privateKey"'
    expectMisuse(verifierOf(keys), says, rsaPem.split('\n').slice(1, 3))
  })

  it('cannot issue', () => {
    expect(verifierOf({ alg: 'HS256', secret: SECRET })()).not.toHaveProperty('issue')
  })
})

describe('remote keys', () => {
  const url = 'https://api.example.com/jwks'
  const keys = remoteKeys(url)

  it.each([
    ['in a list', [keys], /option "keys" must be either one remoteKeys\(\) or a list of other keys/],
    [
      'beside a key',
      [{ alg: 'ES256', publicKey: ec.publicKey }, keys],
      /option "keys" must be either one remoteKeys\(\) or a list/,
    ],
    ['as an address', url, /option "keys" must contain keys, but is a URL. Did you mean remoteKeys\(url\)\?/],
    ['as a URL', new URL(url), /Did you mean remoteKeys\(url\)\?/],
    ['as a URL of another realm', foreignUrl(url), /Did you mean remoteKeys\(url\)\?/],
    ['as an address without TLS', 'HTTP://127.0.0.1/jwks.json', /Did you mean remoteKeys\(url\)\?/],
    ['as an address in other text', `see ${url}`, /"keys" must be \{ alg, secret \}/],
    ['as an address in a list', [url], /"keys\[0\]" must be \{ alg, secret \}/],
    ['copied', { ...keys }, /option "keys"/],
    ['made by hand', { url, find: () => undefined }, /option "keys"/],
    ['not called', remoteKeys, /option "keys" must be/],
  ])('are refused by a verifier: %s', (_, given, says) => expectMisuse(verifierOf(given), says))

  it.each([[keys], [[keys]], [[signingKey('ES256'), keys]]])('are refused by an issuer, which has to sign', (given) => {
    const says = /createTokenIssuer: option "keys" must hold a key that signs, .*use createTokenVerifier/
    expectMisuse(issuerOf(given), says)
  })
})

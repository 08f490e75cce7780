// Tests passwords/hashers/{firebase-scrypt,pbkdf2,scrypt,stored-key}.ts

import { pbkdf2Sync } from 'node:crypto'
import { argon2id, createPasswords, firebaseScrypt, pbkdf2, scrypt } from 'express-token-endpoint'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { expectMisuse, rejectionOf } from '../../../support/failures.js'
import { outcomeOf, polluted } from '../../../support/pollution.js'
import { anyText } from '../../../support/values/any-text.js'

const base64 = (bytes: Buffer) => bytes.toString('base64')
const unpadded = (bytes: Buffer) => base64(bytes).replace(/=+$/, '')
const base64url = (text: string) => text.replaceAll('+', '-').replaceAll('/', '_')

const PBKDF2_KEY = 'hlDLKsxgkgb1aeOppkM5atCYw5rPzAjCNQZ4NYyUROw='
const PBKDF2 = `pbkdf2_sha256$12000$seasalt2$${PBKDF2_KEY}`

const phc = (costs: string, salt = 'c2FsdA', key = `${'d'.repeat(42)}A`) => `$scrypt$${costs}$${salt}$${key}`
const CHEAP = 'ln=4,r=8,p=1'
const PHC = phc(CHEAP)
const django = (N: number | string, r = '8', p = '1', salt = 'seasalt') =>
  `scrypt$${N}$${salt}$${r}$${p}$Qj3+9PPyRjSJIebHnG81TMjsqtaIGxNQG/aEB/NYafTJ7tibgfYz71m0ldQESkXFRkdVCBhhY8mx7rQwite/Pw==`
const DJANGO = django(16)

/** Returns a test vector of RFC 7914 section 12 in PHC string format. */
const rfc = (costs: string, salt: string, key: string) =>
  phc(costs, unpadded(Buffer.from(salt)), unpadded(Buffer.from(key, 'hex')))
const RFC_7914 = {
  NaCl: 'fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b3731622eaf30d92e22a3886ff109279d9830dac727afb94a83ee6d8360cbdfa2cc0640',
  SodiumChloride:
    '7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2d5432955613f0fcf62d49705242a9af9e61e85dc0d651e40dfcf017b45575887',
}

/** Firebase's sample project: https://github.com/firebase/scrypt#sample-params. */
const PROJECT = {
  signerKey: 'jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==',
  saltSeparator: 'Bw==',
  rounds: 8,
  memCost: 14,
}
const SALT = '42xEC+ixf3L2lw=='
const DIGEST = 'lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ=='
const firebase = (salt: string, digest: string) => `$firebase-scrypt$${salt}$${digest}`
const FIREBASE = firebase(SALT, DIGEST)

/** Hashes that match a password, hashes that are almost those of the first password, hashes that are refused, and the format. */
const HASHERS = [
  {
    name: 'pbkdf2',
    hasher: pbkdf2(),
    right: [
      ['Django 1.7', 'lètmein', PBKDF2],
      ['Django 5.1', 'lètmein', 'pbkdf2_sha256$870000$seasalt$wJSpLMQRQz0Dhj/pFpbyjMj71B2gUYp6HJS5AU+32Ac='],
      ['Django 3.2, SHA-1', 'lètmein', 'pbkdf2_sha1$260000$seasalt2$wAibXvW6jgvatCdONi6SMJ6q7mI='],
      ['passlib, SHA-1', 'not a password', 'pbkdf2_sha1$10000$wz5B6WkasRoF$atJmJ1o+XfJxKq1+Nu1f1i57Z5I='],
    ],
    wrong: [
      ['salt', PBKDF2.replace('seasalt2', 'seasalt')],
      ['count', PBKDF2.replace('12000', '12001')],
      ['key', PBKDF2.replace('hlDL', 'hlDM')],
    ],
    refused: [
      ['10,000,001 iterations', PBKDF2.replace('12000', '10000001')],
      ['more iterations', PBKDF2.replace('12000', '99999999')],
      ['more iterations than 32 bits hold', PBKDF2.replace('12000', '4294967297')],
      ['no iterations', PBKDF2.replace('12000', '0')],
      ['a leading zero', PBKDF2.replace('12000', '012000')],
      ['an exponent', PBKDF2.replace('12000', '1e3')],
      ['an unusable password', '!wSOYtOGZ0iXGBTZ8kBlBgnqoWYIsUPBdjBYQmTd7'],
      ['SHA-512', PBKDF2.replace('sha256', 'sha512')],
      ['a name of every object', PBKDF2.replace('sha256', 'constructor')],
      ['no salt', PBKDF2.replace('seasalt2', '')],
      ['a salt with a space', PBKDF2.replace('seasalt2', 'sea salt')],
      ['a salt with a letter above ASCII', PBKDF2.replace('seasalt2', 'sèasalt')],
      ['a salt of 129 characters', PBKDF2.replace('seasalt2', 's'.repeat(129))],
      ['a key of 20 bytes for SHA-256', `pbkdf2_sha256$12000$seasalt2$${base64(Buffer.alloc(20, 7))}`],
      ['a key of 32 bytes for SHA-1', `pbkdf2_sha1$12000$seasalt2$${PBKDF2_KEY}`],
      ['no padding', PBKDF2.slice(0, -1)],
      ['bits behind the key', PBKDF2.replace('ROw=', 'ROx=')],
      ['base64url', PBKDF2.replace('hlDL', 'hl_L')],
    ],
    valid: [PBKDF2, PBKDF2.replace('12000', '10000000')],
    format: /^pbkdf2_(sha1\$[1-9]\d*\$[^$]+\$.{28}|sha256\$[1-9]\d*\$[^$]+\$.{44})$/,
  },
  {
    name: 'scrypt',
    hasher: scrypt(),
    right: [
      ['Django 4.0', 'lètmein', django(16384)],
      ['RFC 7914', 'password', rfc('ln=10,r=8,p=16', 'NaCl', RFC_7914.NaCl)],
      ['RFC 7914', 'pleaseletmein', rfc('ln=14,r=8,p=1', 'SodiumChloride', RFC_7914.SodiumChloride)],
      ['passlib', 'test', '$scrypt$ln=8,r=8,p=1$wlhLyXmP8b53bm1NKYVQqg$mTpvG8lzuuDk+DWz8HZIB6Vum6erDuUm0As5yU+VxWA'],
      [
        'passlib',
        'password',
        '$scrypt$ln=8,r=2,p=1$dO6d0xoDoLT2PofQGoNQag$g/Wf2A0vhHhaJM+addK61QPBthSmYB6uVTtQzh8CM3o',
      ],
    ],
    wrong: [
      ['salt', django(16384, '8', '1', 'seasalt2')],
      ['N', django(8192)],
      ['r', django(16384, '4')],
      ['p', django(16384, '8', '2')],
    ],
    refused: [
      ['a cost of 0', phc('ln=0,r=8,p=1')],
      ['a leading zero', phc('ln=04,r=8,p=1')],
      ['a version', PHC.replace('$ln', '$v=1$ln')],
      ['no salt', phc(CHEAP, '')],
      ['a salt of 130 bytes', phc(CHEAP, unpadded(Buffer.alloc(130)))],
      ['a key of 15 bytes', phc(CHEAP, 'c2FsdA', unpadded(Buffer.alloc(15)))],
      ['a key of 65 bytes', phc(CHEAP, 'c2FsdA', unpadded(Buffer.alloc(65)))],
      ['bits behind the salt', phc(CHEAP, 'c2FsdB')],
      ['bits behind the key', `${PHC.slice(0, -1)}B`],
      ['padding', `${PHC}=`],
      ['base64url', phc(CHEAP, 'c2F_dA')],
      ['scrypt of another library', '$7$C6..../....SodiumChloride$kBGj9fHznVYFQMEn/qDCfrDevf9YDtcDdKvEqHJLV8D'],
      ['Django’s form with a short key', `${DJANGO.slice(0, -12)}==`],
      ['Django’s form without a salt', django(16, '8', '1', '')],
      ['Django’s form with a long salt', django(16, '8', '1', 's'.repeat(129))],
      ['bits behind the key of Django’s form', DJANGO.replace(/w==$/, 'x==')],
    ],
    valid: [PHC, DJANGO],
    format:
      /^(\$scrypt\$ln=[1-9]\d?,r=[1-9]\d?,p=[1-9]\d?\$[^$=]+\$[^$=]{22,86}|scrypt\$[1-9]\d*\$[^$]+(\$[1-9]\d?){2}\$.{88})$/,
  },
  {
    name: 'firebaseScrypt',
    hasher: firebaseScrypt(PROJECT),
    right: [
      ['Firebase, as exported', 'user1password', FIREBASE],
      ['Firebase, in base64url', 'user1password', base64url(FIREBASE)],
      ['Firebase, without padding', 'user1password', FIREBASE.replaceAll('=', '')],
    ],
    wrong: [['salt', firebase('42xEC+ixf3L2lg==', DIGEST)]],
    refused: [
      ['the hash alone', DIGEST],
      ['no salt', firebase('', DIGEST)],
      ['a salt of 130 bytes', firebase(base64(Buffer.alloc(130)), DIGEST)],
      ['no hash', firebase(SALT, '')],
      ['a hash shorter than the signer key', firebase(SALT, base64(Buffer.alloc(63)))],
      ['a hash longer than the signer key', firebase(SALT, base64(Buffer.alloc(65)))],
      ['bits behind the salt', firebase('42xEC+ixf3L2lx==', DIGEST)],
      ['bits behind the hash', `${FIREBASE.slice(0, -3)}R==`],
      ['half of the padding', FIREBASE.slice(0, -1)],
      ['costs of its own', FIREBASE.replace('$42', '$ln=30$42')],
    ],
    valid: [FIREBASE],
    format: /^\$firebase-scrypt\$[\w+/-]{2,}={0,2}\$[\w+/-]{86}(==)?$/,
  },
] as const

/** Returns strings that resemble a hash: with changed, missing, repeated and moved characters and parts, and any other text. */
function almost(hash: string): fc.Arbitrary<string> {
  const text = anyText({ maxLength: 40 })
  const number = fc.oneof(fc.integer().map(String), fc.bigInt().map(String), fc.double().map(String))
  const position = fc.nat({ max: hash.length })
  const parts = hash.split(/(?<=[$=,])|(?=[$=,])/)
  return fc.oneof(
    text,
    fc
      .tuple(position, fc.nat({ max: 3 }), text)
      .map(([at, cut, put]) => hash.slice(0, at) + put + hash.slice(at + cut)),
    fc.tuple(position, position).map(([from, to]) => hash.slice(from, to)),
    fc.shuffledSubarray(parts).map((some) => some.join('')),
    fc
      .tuple(fc.nat({ max: parts.length - 1 }), fc.oneof(number, text))
      .map(([at, put]) => parts.with(at, put).join('')),
    fc.constantFrom('\n', '\0', ' ', '$', '=', 'A').map((end) => hash + end),
  )
}

describe.each(HASHERS)('$name', ({ name, hasher, right, wrong, refused, valid, format }) => {
  const [[, first, hash]] = right

  it.each([...right])('checks a hash of %s: %s', async (_, password, hash) => {
    expect(hasher.accepts(hash)).toBe(true)
    const others = [password, `${password}z`, '', `${password}\0`]
    const matches = await Promise.all(others.map((other) => hasher.verify(other, hash)))
    expect(matches).toEqual([true, false, false, false])
  })

  it.each([...wrong])('matches nobody with another %s', async (_, hash) => {
    expect(hasher.accepts(hash)).toBe(true)
    expect(await hasher.verify(first, hash)).toBe(false)
  })

  const around = valid.flatMap((one): [why: string, hash: string][] => [
    ['a space before', ` ${one}`],
    ['a newline behind', `${one}\n`],
    ['a part more', `${one}$AA`],
  ])
  it.each<readonly [string, string]>([['nothing', ''], ...around, ...refused])(
    'does not accept %s',
    async (_, hash) => {
      expect(hasher.accepts(hash)).toBe(false)
      expect(await rejectionOf(hasher.verify('x', hash) as Promise<boolean>)).toMatchObject({
        message: `${name}: the stored hash is malformed, or its cost is above the limit. Call "accepts" before "verify"`,
      })
    },
  )

  it.each([...valid])('accepts nothing that resembles a hash, but for texts of the format: %s', (one) => {
    expect(hasher.accepts(one)).toBe(true)
    const accepted = (hash: string) => {
      if (hasher.accepts(hash)) expect(hash).toMatch(format)
    }
    fc.assert(fc.property(almost(one), accepted), { numRuns: 2000 })
  })

  it('accepts its own hashes alone, and refuses long text at once', () => {
    for (const { name: other, valid } of HASHERS) expect(hasher.accepts(valid[0])).toBe(other === name)
    for (const text of ['A', '1', '=', '$', '$A', '\n', hash]) {
      const long = text.repeat(200_000)
      for (const one of [long, hash + long, hash.replace(/\d/, long)]) expect(hasher.accepts(one)).toBe(false)
    }
  })

  it('makes no hashes, so it cannot be the first hasher', () => {
    const says =
      /must be an array whose first hasher has "hash", but is an array\. Put argon2id\(\) first, because the first hasher creates new hashes\. pbkdf2\(\), scrypt\(\) and firebaseScrypt\(\) only check old hashes$/
    expectMisuse(() => createPasswords({ hashers: [hasher, argon2id()] }), says)
  })

  it('reads nothing from a polluted prototype', async () => {
    const members = { iterations: 1, N: 2, r: 1, p: 1, cost: 2, maxmem: 1, blockSize: 1, parallelization: 2, ln: '1' }
    const { value } = await polluted(members, () => outcomeOf(() => hasher.verify(first, hash)))
    expect(value).toBe(true)
  })
})

/** Makes a PBKDF2 hash as Django does. */
function djangoHash(password: string, digest = 'sha256'): string {
  const key = pbkdf2Sync(password, 'salt', 10, digest === 'sha1' ? 20 : 32, digest)
  return `pbkdf2_${digest}$10$salt$${base64(key)}`
}

it('pbkdf2 counts NULs behind a password that fills a block of HMAC', async () => {
  const password = 'x'.repeat(64)
  expect(await pbkdf2().verify(`${password}\0`, djangoHash(password))).toBe(false)
})

it.each(['sha1', 'sha256'])('pbkdf2 matches any password to its own hash: %s', async (digest) => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'grapheme' }), async (password) => {
      const hash = djangoHash(password, digest)
      expect(await pbkdf2().verify(password, hash)).toBe(!password.endsWith('\0'))
      expect(await pbkdf2().verify(`${password}x`, hash)).toBe(false)
    }),
    { numRuns: 50 },
  )
})

describe('scrypt limits the costs:', () => {
  it.each<[string, string, boolean]>([
    ['256 MiB', phc('ln=18,r=8,p=1'), true],
    ['512 MiB', phc('ln=19,r=8,p=1'), false],
    ['256 MiB in larger blocks', phc('ln=15,r=64,p=1'), true],
    ['260 MiB in larger blocks', phc('ln=15,r=65,p=1'), false],
    ['8 times OWASP’s work', phc('ln=17,r=8,p=8'), true],
    ['9 times OWASP’s work', phc('ln=17,r=8,p=9'), false],
    ['the most passes', phc('ln=1,r=1,p=99'), true],
    ['more passes', phc('ln=1,r=1,p=100'), false],
    ['the largest blocks', phc('ln=1,r=99,p=1'), true],
    ['larger blocks', phc('ln=1,r=100,p=1'), false],
    ['N below 2^(16r)', phc('ln=15,r=1,p=1'), true],
    ['N of 2^(16r)', phc('ln=16,r=1,p=1'), false],
    ['more than a number can hold', phc('ln=99,r=8,p=1'), false],
    ...([262_144, 2] as const).map((N): [string, string, boolean] => [`N of ${N}`, django(N), true]),
    ...[524_288, 1, 0, 16_383, 10_000_000, '016384', '1e3'].map((N): [string, string, boolean] => {
      return [`N of ${N}`, django(N), false]
    }),
    ['r of 32 in Django’s form', django(16, '32'), true],
    ['r of 8a', django(16, '8a'), false],
    ['r of 100', django(16, '100'), false],
    ['p of 16 in Django’s form', django(16, '8', '16'), true],
    ['p of 1a', django(16, '8', '1a'), false],
    ['p of 100', django(16, '1', '100'), false],
  ])('%s', (_, hash, expected) => {
    expect(scrypt().accepts(hash)).toBe(expected)
  })

  it('accepts what Node takes, and nothing else', async () => {
    const cost = fc.integer({ min: 0, max: 12 })
    await fc.assert(
      fc.asyncProperty(cost, fc.integer({ min: 0, max: 20 }), cost, async (ln, r, p) => {
        const hash = phc(`ln=${ln},r=${r},p=${p}`)
        expect(scrypt().accepts(hash)).toBe(ln > 0 && r > 0 && p > 0)
        if (scrypt().accepts(hash)) expect(await scrypt().verify('x', hash)).toBe(false)
      }),
      // Each is cheap, and at another limit.
      {
        numRuns: 50,
        examples: [
          ...[
            [1, 1, 99],
            [1, 99, 99],
            [15, 1, 1],
            [16, 2, 1],
          ],
        ] as [number, number, number][],
      },
    )
  })
})

describe('firebaseScrypt', () => {
  it.each([
    ['signer key', { signerKey: `k${PROJECT.signerKey.slice(1)}` }],
    ['salt separator', { saltSeparator: 'CA==' }],
    ['rounds', { rounds: 7 }],
    ['memory cost', { memCost: 13 }],
  ])('matches nobody with another %s', async (_, other) => {
    expect(await firebaseScrypt({ ...PROJECT, ...other }).verify('user1password', FIREBASE)).toBe(false)
  })

  it('takes parameters in base64url, too', async () => {
    const same = firebaseScrypt({ ...PROJECT, signerKey: base64url(PROJECT.signerKey) })
    expect(await same.verify('user1password', FIREBASE)).toBe(true)
  })

  const bytes = (length: number) => base64(Buffer.alloc(length, 7))

  it.each([
    [
      'signerKey',
      "the project's signer key, 32 to 128 bytes in base64",
      [undefined, '', 'not base64!', bytes(31), bytes(129), 7, Buffer.alloc(64)],
    ],
    ['saltSeparator', "the project's salt separator, 1 to 32 bytes in base64", [undefined, '', '?', bytes(33), null]],
    ['rounds', 'a number of rounds, a whole number from 1 to 8', [undefined, 0, 9, 1.5, '8', null]],
    ['memCost', 'a memory cost, a whole number from 1 to 14', [undefined, 0, 15, 1.5, '14', 16_384]],
  ] as const)('refuses a wrong %s, and says that it is %s', (name, what, values) => {
    for (const value of values) {
      const says = `firebaseScrypt: option "${name}" must be ${what}, but is `
      expectMisuse(() => firebaseScrypt({ ...PROJECT, [name]: value } as never), says, [PROJECT.signerKey])
    }
  })

  it('refuses a signer key that is wrong, without showing it', () => {
    const signerKey = PROJECT.signerKey.replace('jx', 'j*')
    const says = 'Copy it from the password hash parameters in the Firebase console'
    expectMisuse(() => firebaseScrypt({ ...PROJECT, signerKey }), says, [signerKey])
  })

  it.each([
    ['key', 'signerKey'],
    ['salt_separator', 'saltSeparator'],
    ['mem_cost', 'memCost'],
  ])('refuses the name %s, and says that %s is meant', (name = '', meant) => {
    expectMisuse(() => firebaseScrypt({ [name]: 1 } as never), `unknown option "${name}". Did you mean "${meant}"?`)
  })

  it('takes whatever is within the limits', () => {
    const most = { signerKey: bytes(128), saltSeparator: bytes(32), rounds: 8, memCost: 14 }
    const least = { signerKey: bytes(32), saltSeparator: bytes(1), rounds: 1, memCost: 1 }
    for (const options of [most, least]) expect(() => firebaseScrypt(options)).not.toThrow()
  })

  it('refuses to work without options', () => {
    expectMisuse(() => firebaseScrypt(undefined as never), 'firebaseScrypt: option "signerKey" must be')
  })
})

import { scryptSync } from 'node:crypto'
import { scrypt } from 'express-token-endpoint'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { rejectionOf } from '../../../../support/failures.js'
import { almost } from './verify-only.js'

const hasher = scrypt()
const base64 = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '')
const phc = (costs: string, salt = 'c2FsdA', key = `${'d'.repeat(42)}A`) => `$scrypt$${costs}$${salt}$${key}`
const django = (N: number | string, r = '8', p = '1', salt = 'seasalt') =>
  `scrypt$${N}$${salt}$${r}$${p}$Qj3+9PPyRjSJIebHnG81TMjsqtaIGxNQG/aEB/NYafTJ7tibgfYz71m0ldQESkXFRkdVCBhhY8mx7rQwite/Pw==`

/** Makes a hash in PHC string format. */
const hashOf = (password: string) =>
  phc('ln=1,r=1,p=1', 'c2FsdA', base64(scryptSync(password, 'salt', 32, { N: 2, r: 1, p: 1 })))

/** Test vectors of RFC 7914 section 12. */
const RFC_7914: [string, string, string, string][] = [
  [
    'password',
    'NaCl',
    'ln=10,r=8,p=16',
    'fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b3731622eaf30d92e22a3886ff109279d9830dac727afb94a83ee6d8360cbdfa2cc0640',
  ],
  [
    'pleaseletmein',
    'SodiumChloride',
    'ln=14,r=8,p=1',
    '7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2d5432955613f0fcf62d49705242a9af9e61e85dc0d651e40dfcf017b45575887',
  ],
]

describe('scrypt checks hashes of', () => {
  it.each<[string, string, string]>([
    ...RFC_7914.map(([password, salt, costs, key]): [string, string, string] => [
      `RFC 7914 with ${salt}`,
      password,
      phc(costs, base64(Buffer.from(salt)), base64(Buffer.from(key, 'hex'))),
    ]),
    ['passlib', 'test', '$scrypt$ln=8,r=8,p=1$wlhLyXmP8b53bm1NKYVQqg$mTpvG8lzuuDk+DWz8HZIB6Vum6erDuUm0As5yU+VxWA'],
    ['passlib', 'password', '$scrypt$ln=8,r=2,p=1$dO6d0xoDoLT2PofQGoNQag$g/Wf2A0vhHhaJM+addK61QPBthSmYB6uVTtQzh8CM3o'],
    ['passlib', 'password', '$scrypt$ln=16,r=8,p=1$aM15713r3Xsvxbi31lqr1Q$nFNh2CVHVjNldFVKDHDlm4CbdRSCdEBsjjJxD+iCs5E'],
    ['Django 4.0', 'lètmein', django(16384)],
    [
      'Django 5.1',
      'lètmein',
      'scrypt$16384$seasalt$8$5$ECMIUp+LMxMSK8xB/IVyba+KYGTI7FTnet025q/1f/vBAVnnP3hdYqJuRi+mJn6ji6ze3Fbb7JEFPKGpuEf5vw==',
    ],
  ])('%s: %s matches, and nothing else', async (_, password, hash) => {
    expect(hasher.accepts(hash)).toBe(true)
    expect(await hasher.verify(password, hash)).toBe(true)
    expect(await hasher.verify(`${password}z`, hash)).toBe(false)
    expect(await hasher.verify('', hash)).toBe(false)
  })

  it.each([
    ['another salt', django(16384, '8', '1', 'seasalt2')],
    ['another N', django(8192)],
    ['another r', django(16384, '4')],
    ['another p', django(16384, '8', '2')],
  ])('nobody when a part was changed: %s', async (_, hash) => {
    expect(await hasher.verify('lètmein', hash)).toBe(false)
  })
})

describe('to scrypt every byte counts', () => {
  it.each([
    ['a NUL behind', 'password', 'password\0'],
    ['composed and decomposed letters', 'caf\u00e9', 'cafe\u0301'],
    ['a space behind', 'password', 'password '],
    ['the last of 5001', `${'x'.repeat(5000)}a`, `${'x'.repeat(5000)}b`],
  ])('%s', async (_, one, other) => {
    expect(await hasher.verify(one, hashOf(one))).toBe(true)
    expect(await hasher.verify(other, hashOf(one))).toBe(false)
  })
})

describe('scrypt limits the costs:', () => {
  it.each([
    ['256 MiB', 'ln=18,r=8,p=1', true],
    ['512 MiB', 'ln=19,r=8,p=1', false],
    ['256 MiB in larger blocks', 'ln=15,r=64,p=1', true],
    ['260 MiB in larger blocks', 'ln=15,r=65,p=1', false],
    ['8 times OWASP’s work', 'ln=17,r=8,p=8', true],
    ['9 times OWASP’s work', 'ln=17,r=8,p=9', false],
    ['the most passes', 'ln=1,r=1,p=99', true],
    ['more passes', 'ln=1,r=1,p=100', false],
    ['the largest blocks', 'ln=1,r=99,p=1', true],
    ['larger blocks', 'ln=1,r=100,p=1', false],
    ['N below 2^(16r)', 'ln=15,r=1,p=1', true],
    ['N of 2^(16r)', 'ln=16,r=1,p=1', false],
    ['more than a number can hold', 'ln=99,r=8,p=1', false],
  ])('%s', (_, costs, expected) => {
    expect(hasher.accepts(phc(costs))).toBe(expected)
  })

  it.each([
    [262_144, true],
    [524_288, false],
    [2, true],
    [1, false],
    [0, false],
    [16_383, false],
    [10_000_000, false],
    ['016384', false],
    ['1e3', false],
  ])('N of %s in Django’s form', (N, expected) => {
    expect(hasher.accepts(django(N))).toBe(expected)
  })

  it.each([
    ['32', '1', true],
    ['8', '16', true],
    ['8a', '1', false],
    ['8', '1a', false],
    ['100', '1', false],
    ['1', '100', false],
  ])('r of %s and p of %s in Django’s form', (r, p, expected) => {
    expect(hasher.accepts(django(16, r, p))).toBe(expected)
  })

  // Each is cheap, and at another limit.
  it.each(['ln=1,r=1,p=99', 'ln=1,r=99,p=99', 'ln=15,r=1,p=1', 'ln=1,r=99,p=1', 'ln=16,r=2,p=1'])(
    'Node takes what is accepted: %s',
    async (costs) => {
      expect(hasher.accepts(phc(costs))).toBe(true)
      expect(await hasher.verify('x', phc(costs))).toBe(false)
    },
  )
})

describe('scrypt does not accept', () => {
  const VALID = phc('ln=4,r=8,p=1')

  it.each([
    ['nothing', ''],
    ['costs in another order', phc('r=8,ln=4,p=1')],
    ['a cost of 0', phc('ln=0,r=8,p=1')],
    ['a leading zero', phc('ln=04,r=8,p=1')],
    ['a sign', phc('ln=-4,r=8,p=1')],
    ['a fraction', phc('ln=4.5,r=8,p=1')],
    ['another cost', phc('ln=4,r=8,p=1,x=1')],
    ['a version', VALID.replace('$ln', '$v=1$ln')],
    ['no salt', phc('ln=4,r=8,p=1', '')],
    ['a salt of 130 bytes', phc('ln=4,r=8,p=1', base64(Buffer.alloc(130)))],
    ['a key of 15 bytes', phc('ln=4,r=8,p=1', 'c2FsdA', base64(Buffer.alloc(15)))],
    ['a key of 65 bytes', phc('ln=4,r=8,p=1', 'c2FsdA', base64(Buffer.alloc(65)))],
    ['bits behind the salt', phc('ln=4,r=8,p=1', 'c2FsdB')],
    ['bits behind the key', `${VALID.slice(0, -1)}B`],
    ['padding', `${VALID}=`],
    ['base64url', phc('ln=4,r=8,p=1', 'c2F_dA')],
    ['scrypt of another library', '$7$C6..../....SodiumChloride$kBGj9fHznVYFQMEn/qDCfrDevf9YDtcDdKvEqHJLV8D'],
    ['Django’s form with a short key', `${django(16).slice(0, -12)}==`],
    ['Django’s form without a salt', django(16, '8', '1', '')],
    ['Django’s form with a long salt', django(16, '8', '1', 's'.repeat(129))],
    ['a space before', ` ${VALID}`],
    ['a newline behind', `${VALID}\n`],
    ['a space before Django’s form', ` ${django(16)}`],
    ['a newline behind Django’s form', `${django(16)}\n`],
    ['bits behind the key of Django’s form', django(16).replace(/w==$/, 'x==')],
    ['a part more', `${VALID}$AA`],
  ])('%s, and verify rejects', async (_, hash) => {
    expect(hasher.accepts(VALID)).toBe(true)
    expect(hasher.accepts(hash)).toBe(false)
    expect(await rejectionOf(hasher.verify('x', hash) as Promise<boolean>)).toMatchObject({
      message: 'scrypt: the stored hash is malformed, or its cost is above the limit. Call "accepts" before "verify"',
    })
  })

  it.each([phc('ln=4,r=8,p=1'), django(16)])('anything else that is not exactly of the format: %s', (valid) => {
    const FORMAT =
      /^(\$scrypt\$ln=[1-9]\d?,r=[1-9]\d?,p=[1-9]\d?\$[^$=]+\$[^$=]{22,86}|scrypt\$[1-9]\d*\$[^$]+(\$[1-9]\d?){2}\$.{88})$/
    fc.assert(
      fc.property(almost(valid), (hash) => {
        if (hasher.accepts(hash)) expect(hash).toMatch(FORMAT)
      }),
      { numRuns: 2000 },
    )
  })

  it('costs that Node refuses: whatever is accepted can be checked', async () => {
    const cost = fc.integer({ min: 0, max: 12 })
    await fc.assert(
      fc.asyncProperty(cost, fc.integer({ min: 0, max: 20 }), cost, async (ln, r, p) => {
        const hash = phc(`ln=${ln},r=${r},p=${p}`)
        expect(hasher.accepts(hash)).toBe(ln > 0 && r > 0 && p > 0)
        if (hasher.accepts(hash)) expect(await hasher.verify('x', hash)).toBe(false)
      }),
      { numRuns: 50 },
    )
  })
})

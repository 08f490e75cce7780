import { scrypt } from 'express-token-endpoint'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { expectMatch, expectOnly, expectRefused } from './verify-only.js'

const hasher = scrypt()
const base64 = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '')
const phc = (costs: string, salt = 'c2FsdA', key = `${'d'.repeat(42)}A`) => `$scrypt$${costs}$${salt}$${key}`
const django = (N: number | string, r = '8', p = '1', salt = 'seasalt') =>
  `scrypt$${N}$${salt}$${r}$${p}$Qj3+9PPyRjSJIebHnG81TMjsqtaIGxNQG/aEB/NYafTJ7tibgfYz71m0ldQESkXFRkdVCBhhY8mx7rQwite/Pw==`

/** Returns a test vector of RFC 7914 section 12 in PHC string format. */
const rfc = (costs: string, salt: string, key: string) =>
  phc(costs, base64(Buffer.from(salt)), base64(Buffer.from(key, 'hex')))

const RFC_7914 = {
  NaCl: 'fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b3731622eaf30d92e22a3886ff109279d9830dac727afb94a83ee6d8360cbdfa2cc0640',
  SodiumChloride:
    '7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2d5432955613f0fcf62d49705242a9af9e61e85dc0d651e40dfcf017b45575887',
}

describe('scrypt checks hashes', () => {
  it.each([
    ['RFC 7914', 'password', rfc('ln=10,r=8,p=16', 'NaCl', RFC_7914.NaCl)],
    ['RFC 7914', 'pleaseletmein', rfc('ln=14,r=8,p=1', 'SodiumChloride', RFC_7914.SodiumChloride)],
    ['passlib', 'test', '$scrypt$ln=8,r=8,p=1$wlhLyXmP8b53bm1NKYVQqg$mTpvG8lzuuDk+DWz8HZIB6Vum6erDuUm0As5yU+VxWA'],
    ['passlib', 'password', '$scrypt$ln=8,r=2,p=1$dO6d0xoDoLT2PofQGoNQag$g/Wf2A0vhHhaJM+addK61QPBthSmYB6uVTtQzh8CM3o'],
    ['Django 4.0', 'lètmein', django(16384)],
  ])('of %s: %s', async (_, password, hash) => {
    await expectMatch(hasher, password, hash)
  })

  it.each([
    ['salt', django(16384, '8', '1', 'seasalt2')],
    ['N', django(8192)],
    ['r', django(16384, '4')],
    ['p', django(16384, '8', '2')],
  ])('with another %s: nobody matches', async (_, hash) => {
    expect(await hasher.verify('lètmein', hash)).toBe(false)
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
  it.each(['ln=1,r=1,p=99', 'ln=1,r=99,p=99', 'ln=15,r=1,p=1', 'ln=16,r=2,p=1'])(
    'Node takes what is accepted: %s',
    async (costs) => {
      expect(await hasher.verify('x', phc(costs))).toBe(false)
    },
  )
})

describe('scrypt does not accept', () => {
  const VALID = phc('ln=4,r=8,p=1')

  it.each([
    ['nothing', ''],
    ['a cost of 0', phc('ln=0,r=8,p=1')],
    ['a leading zero', phc('ln=04,r=8,p=1')],
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
  ])('%s', async (_, hash) => {
    await expectRefused('scrypt', hasher, hash)
  })

  it.each([VALID, django(16)])('anything else that is not exactly of the format: %s', (valid) => {
    const costs = 'ln=[1-9]\\d?,r=[1-9]\\d?,p=[1-9]\\d?'
    const own = `\\$scrypt\\$${costs}\\$[^$=]+\\$[^$=]{22,86}`
    expectOnly(hasher, valid, new RegExp(`^(${own}|scrypt\\$[1-9]\\d*\\$[^$]+(\\$[1-9]\\d?){2}\\$.{88})$`))
  })

  it('costs that Node refuses', async () => {
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

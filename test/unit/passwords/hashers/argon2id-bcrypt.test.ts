// Tests passwords/hashers/{argon2id,bcrypt,node-argon2}.ts

import crypto from 'node:crypto'
import { hashRaw } from '@node-rs/argon2'
import * as blowfish from '@node-rs/bcrypt'
import { AuthError, argon2id, bcrypt, createPasswords } from 'express-token-endpoint'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { expectMisuse, rejectionOf } from '../../../support/failures.js'
import { outcomeOf, polluted } from '../../../support/pollution.js'

const cheap = { argon2id: argon2id({ memoryCost: 64, timeCost: 1 }), bcrypt: bcrypt({ cost: 4 }) }
const SALT = 'c29tZXNhbHQ'
const DIGEST = 'nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4'
const phc = (costs: string, salt = SALT, digest = DIGEST) => `$argon2id$v=19$${costs}$${salt}$${digest}`
const BCRYPT_BODY = 'CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW'

describe('hashes that other software made', () => {
  it('argon2id: the reference implementation’s test vector', async () => {
    expect(await cheap.argon2id.verify('password', phc('m=256,t=2,p=1'))).toBe(true)
    expect(await cheap.argon2id.verify('Password', phc('m=256,t=2,p=1'))).toBe(false)
  })

  it.each(['2a', '2b', '2y'])('bcrypt: crypt_blowfish’s test vector, as $%s$', async (version) => {
    expect(await cheap.bcrypt.verify('U*U', `$${version}$05$${BCRYPT_BODY}`)).toBe(true)
    expect(await cheap.bcrypt.verify('U*V', `$${version}$05$${BCRYPT_BODY}`)).toBe(false)
  })
})

describe('new hashes', () => {
  it.each([
    [
      'argon2id have OWASP’s costs: 19456 KiB, 2 passes, 1 lane',
      argon2id(),
      /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/,
    ],
    [
      'argon2id have the costs that are set',
      argon2id({ memoryCost: 128, timeCost: 3, parallelism: 2 }),
      /\$m=128,t=3,p=2\$/,
    ],
    ['bcrypt have a cost of 12', bcrypt(), /^\$2b\$12\$/],
    ['bcrypt have the cost that is set', cheap.bcrypt, /^\$2b\$04\$[./\w]{53}$/],
  ])('of %s, differ each time, and are its own', async (_, hasher, format) => {
    const hashes = await Promise.all([hasher.hash('x'), hasher.hash('x')])
    expect(hashes[0]).not.toBe(hashes[1])
    for (const hash of hashes) {
      expect(hash).toMatch(format)
      expect([hasher.accepts(hash), hasher.outdated(hash), await hasher.verify('x', hash)]).toEqual([true, false, true])
    }
  })
})

it('new hashes of argon2id contain no secret of a polluted prototype', async () => {
  const { value = '' } = await polluted({ secret: Buffer.from('pepper') }, () =>
    outcomeOf(() => cheap.argon2id.hash('x')),
  )
  expect(await cheap.argon2id.verify('x', value)).toBe(true)
})

describe('argon2id', () => {
  it.each(['m=19456,t=2,p=1', 'm=8,t=1,p=1', 'm=4864,t=64,p=64', 'm=155648,t=2,p=1'])('accepts %s', (costs) => {
    expect(cheap.argon2id.accepts(phc(costs))).toBe(true)
  })

  const VALID = phc('m=256,t=2,p=1')
  it.each([
    ...['', 'hunter2', ` ${VALID}`, `${VALID} `, `${VALID}\n`, `${VALID}\nx`, `${VALID}$AA`, `${VALID}=`],
    // More than 8 times the default memory or work, and costs without end.
    ...['m=155649,t=1,p=1', 'm=4865,t=64,p=1', 'm=4294967295,t=2,p=1', 'm=64,t=4294967295,p=1'].map((c) => phc(c)),
    ...['m=64,t=65,p=1', 'm=1024,t=1,p=65', 'm=1024,t=1,p=1000', 'm=64,t=0,p=1', 'm=64,t=1,p=0'].map((c) => phc(c)),
    ...['m=00000000008,t=1,p=1', 'm=064,t=1,p=1', 'm=-8,t=1,p=1', 'm=64.5,t=1,p=1', 'm=1e3,t=1,p=1'].map((c) => phc(c)),
    ...['t=2,m=256,p=1', 'm=256,t=2,p=1,keyid=AA'].map((costs) => phc(costs)),
    ...['argon2i', 'argon2d'].map((kind) => VALID.replace('argon2id', kind)),
    VALID.replace('v=19', 'v=16'),
    VALID.replace('$v=19', ''),
    // A salt below 8 bytes, no salt, a digest cut short, no digest, base64url, another hasher's hash.
    ...['c29tZXNhbH', ''].map((salt) => phc('m=256,t=2,p=1', salt)),
    phc('m=256,t=2,p=1', SALT, 'nf65EOgLrQMR/uI'),
    `$argon2id$v=19$m=256,t=2,p=1$${SALT}`,
    phc('m=256,t=2,p=1', SALT, DIGEST.replace('/', '_')),
    `$2b$12$${BCRYPT_BODY}`,
  ])('does not accept %j', (hash) => {
    expect(cheap.argon2id.accepts(hash)).toBe(false)
  })
})

describe('bcrypt', () => {
  const hashOf = (prefix: string) => `$${prefix}$${BCRYPT_BODY}`
  it.each(['2a$04', '2b$10', '2y$12', '2b$15'].map(hashOf))('accepts %s', (hash) => {
    expect(cheap.bcrypt.accepts(hash)).toBe(true)
  })

  const VALID = hashOf('2b$05')
  it.each([
    ...['', 'hunter2', ` ${VALID}`, `${VALID} `, `${VALID}\n`, `${VALID}C`],
    ...[VALID.slice(0, -1), `${VALID.slice(0, -1)}+`],
    ...['2b$03', '2b$00', '2b$16', '2b$19', '2b$31', '2b$4', '2b$010', '2x$05', '2$05', '1$05'].map(hashOf),
    phc('m=256,t=2,p=1'),
  ])('does not accept %j', (hash) => {
    expect(cheap.bcrypt.accepts(hash)).toBe(false)
  })
})

describe('the limit of the cost', () => {
  const accepts = (options: Parameters<typeof argon2id>[0], costs: string) => argon2id(options).accepts(phc(costs))
  const bcryptAccepts = (options: Parameters<typeof bcrypt>[0], cost: string) =>
    bcrypt(options).accepts(`$2b$${cost}$${BCRYPT_BODY}`)

  it('is what the option says, times the default costs', () => {
    expect(accepts({ costLimit: 1 }, 'm=19456,t=2,p=1')).toBe(true)
    expect(accepts({ costLimit: 1 }, 'm=19457,t=1,p=1')).toBe(false)
    expect(accepts({ costLimit: 1 }, 'm=12972,t=3,p=1')).toBe(false)
    expect(['12', '13'].map((cost) => bcryptAccepts({ costLimit: 1 }, cost))).toEqual([true, false])
  })

  it('is higher when new hashes cost more', () => {
    expect(accepts({ costLimit: 2, memoryCost: 65_536, timeCost: 3 }, 'm=131072,t=3,p=4')).toBe(true)
    expect(accepts({ costLimit: 2, memoryCost: 65_536, timeCost: 3 }, 'm=131072,t=4,p=4')).toBe(false)
    expect(['15', '16'].map((cost) => bcryptAccepts({ costLimit: 2, cost: 14 }, cost))).toEqual([true, false])
  })

  it('is at most 1 GiB, 64 passes and 64 lanes, and a bcrypt cost of 18', () => {
    expect(accepts({ costLimit: 1024 }, 'm=1048576,t=38,p=64')).toBe(true)
    expect(accepts({ costLimit: 1024 }, 'm=1048577,t=1,p=1')).toBe(false)
    expect(['18', '19'].map((cost) => bcryptAccepts({ costLimit: 1024 }, cost))).toEqual([true, false])
  })
})

describe('a hash is outdated', () => {
  const current = argon2id({ memoryCost: 64, timeCost: 2, parallelism: 2 })

  it.each([
    ...['m=64,t=2,p=2', 'm=64,t=2,p=1', 'm=128,t=2,p=2', 'm=64,t=3,p=2', 'm=128,t=1,p=2'].map(
      (c) => [c, false] as const,
    ),
    ...['m=32,t=2,p=2', 'm=63,t=2,p=2', 'm=64,t=1,p=2', 'm=127,t=1,p=2'].map((c) => [c, true] as const),
  ] as const)('argon2id of %s: %s', (costs, expected) => {
    expect(current.outdated(phc(costs))).toBe(expected)
  })

  it.each([
    ...['2b$05', '2a$05', '2y$05', '2b$06', '2y$14'].map((prefix) => [prefix, false] as const),
    ...['2b$04', '2y$04'].map((prefix) => [prefix, true] as const),
  ])('bcrypt of $%s: %s', (prefix, expected) => {
    expect(bcrypt({ cost: 5 }).outdated(`$${prefix}$${BCRYPT_BODY}`)).toBe(expected)
  })

  it.each(Object.entries(cheap))('%s of what is none of its hashes: true', (_, hasher) => {
    expect(hasher.outdated('md5:x')).toBe(true)
  })
})

describe('options', () => {
  it.each([
    ['argon2id', 'memoryCost', 'KiB of memory', argon2id, [7, 1_048_577, 64.5, '64', null, Number.NaN, -64]],
    ['argon2id', 'timeCost', 'a number of passes', argon2id, [0, 65, 1.5, '2', null]],
    ['argon2id', 'parallelism', 'a number of lanes', argon2id, [0, 65, 1.5, '1', null]],
    ['argon2id', 'costLimit', 'a multiple of the cost of a new hash', argon2id, [0, 1025]],
    ['bcrypt', 'cost', 'a cost', bcrypt, [3, 19, 10.5, '10', null, Number.NaN]],
    ['bcrypt', 'costLimit', 'a multiple of the cost of a new hash', bcrypt, [0, 1025]],
  ] as const)('%s refuses a %s out of range, and says that it is %s', (caller, name, what, make, values) => {
    for (const value of values) {
      const says = `${caller}: option "${name}" must be ${what}, a whole number from `
      expectMisuse(() => make({ [name]: value } as never), says)
    }
  })

  it.each([
    ['argon2id', argon2id, { memory: 'memoryCost', time: 'timeCost' }],
    ['bcrypt', bcrypt, { saltRounds: 'cost' }],
  ] as const)('%s refuses an unknown option, and says which is meant', (caller, make, names) => {
    for (const [name, meant] of Object.entries(names)) {
      expectMisuse(() => make({ [name]: 4 }), `${caller}: unknown option "${name}". Did you mean "${meant}"?`)
    }
  })

  it('of argon2id have 8 KiB of memory for each lane (RFC 9106)', () => {
    const says = 'argon2id: option "memoryCost" must be at least 8 KiB for each of "parallelism" (RFC 9106)'
    expectMisuse(() => argon2id({ memoryCost: 15, parallelism: 2 }), says)
    expect(() => argon2id({ memoryCost: 16, parallelism: 2 })).not.toThrow()
  })

  it.each([null, '', 'wasm', ' native', 'native ', 1])('of argon2id have a known engine, not %j', (engine) => {
    const says = /^argon2id: option "engine" must be 'native' or 'node', but is /
    expectMisuse(() => argon2id({ engine } as never), says)
  })

  it('that are undefined are absent, and the caller’s object is not changed', async () => {
    const options = Object.freeze({ memoryCost: 64, timeCost: 1, parallelism: undefined })
    expect(await argon2id(options as never).hash('x')).toMatch(/\$m=64,t=1,p=1\$/)
    const hash = `$2b$12$${BCRYPT_BODY}`
    expect(bcrypt({ cost: undefined } as never).outdated(hash)).toBe(false)
  })
})

describe('every byte counts', () => {
  const TO_BOTH = [
    ['letter case', 'Password', 'password'],
    ['a space behind', 'password ', 'password'],
    ['nothing', ' ', ''],
    ['composed and decomposed letters', 'caf\u00e9', 'cafe\u0301'],
    ['a NUL behind', 'password', 'password\0'],
  ]
  it.each([
    ...TO_BOTH,
    ['only spaces', '  ', ' '],
    ['compatibility forms', '\ufb01sh', 'fish'],
    ['the last of 5001', `${'x'.repeat(5000)}a`, `${'x'.repeat(5000)}b`],
    ['what is behind a NUL', 'pass\0word', 'pass\0ward'],
    ['astral characters', '\u{1f511}', '\u{1f510}'],
  ])('to argon2id: %s', async (_, one = '', other = '') => {
    const hash = await cheap.argon2id.hash(one)
    expect(await cheap.argon2id.verify(one, hash)).toBe(true)
    expect(await cheap.argon2id.verify(other, hash)).toBe(false)
  })

  it.each([
    ...TO_BOTH,
    ['the 72nd byte', `${'x'.repeat(71)}a`, `${'x'.repeat(71)}b`],
    ['a byte behind the 72nd', 'x'.repeat(72), `${'x'.repeat(72)}y`],
    ['a byte of a letter behind the 72nd', 'é'.repeat(36), `${'é'.repeat(36)}é`],
    ['repetition around a NUL', 'ab', 'ab\0ab\0ab\0ab'],
  ])('to bcrypt: %s', async (_, one = '', other = '') => {
    const hash = await cheap.bcrypt.hash(one)
    expect(await cheap.bcrypt.verify(one, hash)).toBe(true)
    expect(await cheap.bcrypt.verify(other, hash)).toBe(false)
  })

  it.each([
    ['73 bytes', 'x'.repeat(73)],
    ['37 letters of 2 bytes', 'é'.repeat(37)],
    ['a NUL', 'a\0b'],
    ['a NUL alone', '\0'],
  ])('bcrypt makes no hash of %s, and says why to the user', async (_, password) => {
    for (const { hash } of [cheap.bcrypt, bcrypt({ cost: 4, truncate: true })]) {
      const error = (await rejectionOf(hash(password) as Promise<string>)) as AuthError
      expect(error).toBeInstanceOf(AuthError)
      expect(error).toMatchObject({ code: 'weak_password', status: 422, reason: 'too_long' })
      expect(error.message).toMatch(/at most 72 bytes in UTF-8, without NUL/)
      expect(error.message).not.toContain(password)
    }
  })

  it.each([
    ['80 bytes', 'x'.repeat(80)],
    ['a letter that is cut in its middle', `${'x'.repeat(71)}éy`],
    ['72 bytes', 'x'.repeat(72)],
  ])('bcrypt with truncate takes %s as older code did, by the first 72 bytes', async (_, password) => {
    const truncating = bcrypt({ cost: 4, truncate: true })
    // The module cuts a password itself, as the older code did.
    const hash = await blowfish.hash(password, 4)
    expect(await truncating.verify(password, hash)).toBe(true)
    expect(await truncating.verify(`${password}z`, hash)).toBe(true)
    expect(await truncating.verify(`y${password}`, hash)).toBe(false)
    expect(await bcrypt({ cost: 4 }).verify(`${password}z`, hash)).toBe(false)
  })

  it('bcrypt with truncate still takes no text after a NUL', async () => {
    const { hash, verify } = bcrypt({ cost: 4, truncate: true })
    expect(await verify('ab\0ab', await hash('ab'))).toBe(false)
    expect(await verify(`${'x'.repeat(72)}\0`, await hash('x'.repeat(72)))).toBe(false)
  })
})

describe('argon2id with the engine of Node', () => {
  type Costs = Record<'memory' | 'passes' | 'parallelism' | 'tagLength', number>
  type Parameters = Costs & { message: string; nonce: Buffer; secret?: Buffer }

  /** Computes what `crypto.argon2` computes, for a Node that has none. */
  function standIn(algorithm: string, parameters: Parameters, done: (error: Error | null, tag?: Buffer) => void) {
    if (algorithm !== 'argon2id') return done(new Error(`unknown algorithm: ${algorithm}`))
    const { message, nonce, memory, passes, parallelism, tagLength, secret } = parameters
    const costs = { memoryCost: memory, timeCost: passes, parallelism, outputLen: tagLength }
    const options = Object.assign(Object.create(null), { ...costs, salt: nonce, secret })
    hashRaw(message, options).then((tag) => done(null, tag), done)
  }

  const host = crypto as { argon2?: unknown }
  const ofNode = host.argon2
  beforeAll(() => {
    host.argon2 ??= standIn
  })
  afterAll(() => {
    if (!ofNode) delete host.argon2
  })

  const onNode = (options = {}) => argon2id({ memoryCost: 64, timeCost: 1, ...options, engine: 'node' })
  const native = cheap.argon2id
  const VECTOR = phc('m=256,t=2,p=1')

  it.each([undefined, 'native', 'node'] as const)(
    'is refused on a Node without it, which has the others: %s',
    async (engine) => {
      const { argon2 } = host
      delete host.argon2
      try {
        const says = `argon2id: option "engine" must be 'native' on Node ${process.versions.node}, because crypto.argon2 is missing. Use Node 24.7 or newer for 'node'`
        if (engine === 'node') expectMisuse(() => argon2id({ engine }), says)
        else expect(await argon2id({ engine }).verify('password', VECTOR)).toBe(true)
      } finally {
        host.argon2 = argon2
      }
    },
  )

  it('checks the reference implementation’s test vector, whatever a polluted prototype has', async () => {
    const members = { secret: Buffer.from('pepper'), associatedData: Buffer.from('data'), memory: 8 }
    for (const [password, matches] of [
      ['password', true],
      ['Password', false],
      ['', false],
    ] as const) {
      const { value } = await polluted(members, () => outcomeOf(() => onNode().verify(password, VECTOR)))
      expect(value).toBe(matches)
    }
  })

  it('makes hashes that differ each time, with OWASP’s costs or those that are set', async () => {
    const hashes = await Promise.all([argon2id({ engine: 'node' }).hash('x'), argon2id({ engine: 'node' }).hash('x')])
    for (const hash of hashes) expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/)
    expect(hashes[0]).not.toBe(hashes[1])
    expect(await onNode({ memoryCost: 128, timeCost: 3, parallelism: 2 }).hash('x')).toMatch(/\$m=128,t=3,p=2\$/)
  })

  it('and the native engine check each other’s hashes, with any password and costs', async () => {
    const costs = fc.record({
      memoryCost: fc.integer({ min: 32, max: 256 }),
      timeCost: fc.integer({ min: 1, max: 3 }),
      parallelism: fc.integer({ min: 1, max: 4 }),
    })
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'grapheme' }), costs, async (password, some) => {
        const [made, other] = await Promise.all([onNode(some).hash(password), argon2id(some).hash(password)])
        expect(await native.verify(password, made)).toBe(true)
        expect(await onNode().verify(password, other)).toBe(true)
        expect(await native.verify(`${password}\0`, made)).toBe(false)
        expect(await onNode().verify(`${password}\0`, other)).toBe(false)
      }),
      { numRuns: 40 },
    )
  })

  it.each([
    ['bits behind the salt', VECTOR.replace('hbHQ$', 'hbHR$')],
    ['bits behind the tag', `${VECTOR.slice(0, -1)}5`],
    ['a salt that is no base64', VECTOR.replace('hbHQ$', 'hbHQAA$')],
    ['too little memory for its lanes', VECTOR.replace('m=256,t=2,p=1', 'm=8,t=1,p=4'), /./],
    ['another format', 'md5:x'],
  ])(
    'cannot check a hash with %s, nor can the native engine',
    async (_, hash, says = /^argon2id: the stored hash is/) => {
      const error = await rejectionOf(onNode().verify('password', hash) as Promise<boolean>)
      expect(error).toMatchObject({ message: expect.stringMatching(says) })
      expect(await rejectionOf(native.verify('password', hash) as Promise<boolean>)).toBeInstanceOf(Error)
    },
  )

  it('is a first hasher', async () => {
    const passwords = createPasswords({ hashers: [onNode()] })
    const hash = await passwords.hash('x')
    expect([await passwords.verify('x', hash), await passwords.verify('x', null)]).toEqual([true, false])
  })
})

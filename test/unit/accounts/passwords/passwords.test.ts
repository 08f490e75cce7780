import { argon2id, bcrypt, createPasswords, type Hasher } from 'express-token-endpoint'
import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { expectMisuse, rejectionOf } from '../../../support/failures.js'
import { countingHasher, PASSWORD } from '../../../support/fixtures.js'

const cheap = argon2id({ memoryCost: 64, timeCost: 1 })
const passwordsOf = (...hashers: Hasher[]) => createPasswords({ hashers })

describe('equal work', () => {
  it.each([
    ['of an account', `plain:${PASSWORD}`],
    ['that is wrong', 'plain:other'],
    ['null: no password', null],
    ['undefined: no account', undefined],
  ])('one verification for a hash %s', async (_, hash) => {
    const hasher = countingHasher()
    await passwordsOf(hasher).verify(PASSWORD, hash)
    expect(hasher.asked).toHaveLength(1)
  })

  it('a decoy is made once, ahead of the first login, of the first hasher’s own', async () => {
    const hasher = countingHasher()
    const hash = vi.spyOn(hasher, 'hash')
    const passwords = passwordsOf(hasher, countingHasher('second:'))
    expect(hash).toHaveBeenCalledOnce()
    await passwords.verify('a', null)
    await passwords.verify('b', undefined)
    expect(hash).toHaveBeenCalledOnce()
    expect(hasher.asked).toEqual([hash.mock.results[0]?.value, hash.mock.results[0]?.value])
  })

  it('nobody knows the decoy’s password: another one in each object, and long', () => {
    const hasher = countingHasher()
    const hash = vi.spyOn(hasher, 'hash')
    passwordsOf(hasher)
    passwordsOf(hasher)
    const [one = '', other = ''] = hash.mock.calls.map(([password]) => password)
    expect(one).not.toBe(other)
    expect(Buffer.from(one, 'base64')).toHaveLength(32)
  })

  it('a decoy never matches, whatever the hasher says', async () => {
    const passwords = passwordsOf({ accepts: () => true, verify: () => true, hash: () => 'x' })
    expect(await passwords.verify(PASSWORD, null)).toBe(false)
    expect(await passwords.verify(PASSWORD, undefined)).toBe(false)
    expect(await passwords.verify(PASSWORD, 'x')).toBe(true)
  })

  it('a decoy that could not be made is made again', async () => {
    const hasher = countingHasher()
    const hash = vi.fn(async (password: string) => hasher.hash(password)).mockRejectedValueOnce(new Error('no memory'))
    const passwords = passwordsOf({ ...hasher, hash })
    await new Promise(setImmediate)
    expect(await passwords.verify(PASSWORD, null)).toBe(false)
    expect(hash).toHaveBeenCalledTimes(2)
    expect(hasher.asked).toHaveLength(1)
  })

  it('a decoy that cannot be made fails the check, and not the process', async () => {
    const unhandled = vi.fn()
    process.on('unhandledRejection', unhandled)
    const passwords = passwordsOf({ ...countingHasher(), hash: () => Promise.reject(new Error('no memory')) })
    await new Promise(setImmediate)
    process.off('unhandledRejection', unhandled)
    expect(unhandled).not.toHaveBeenCalled()
    expect(await rejectionOf(passwords.verify(PASSWORD, null))).toMatchObject({ message: 'no memory' })
  })
})

describe('several hashers', () => {
  const first = countingHasher('new:')
  const second = countingHasher('old:')
  const passwords = passwordsOf(first, second)

  it('the first makes new hashes', async () => {
    expect(await passwords.hash('x')).toBe('new:x')
  })

  it('each checks its own', async () => {
    expect(await passwords.verify('x', 'new:x')).toBe(true)
    expect(await passwords.verify('x', 'old:x')).toBe(true)
    expect(await passwords.verify('x', 'old:y')).toBe(false)
    expect(second.asked).toEqual(['old:x', 'old:y'])
  })

  it.each(['', 'other:x', 'x', ' new:x'])('none checks %j: the check fails, and matches nothing', async (hash) => {
    const error = (await rejectionOf(passwords.verify('x', hash))) as Error
    expect(error.message).toContain('a stored hash is of no format that a hasher accepts')
    expect(() => passwords.needsRehash(hash)).toThrow('of no format')
  })

  it('cannot be added later by changing the list', async () => {
    const hashers: Hasher[] = [first]
    const made = createPasswords({ hashers })
    hashers.push(second)
    expect(await rejectionOf(made.verify('x', 'old:x'))).toBeInstanceOf(Error)
  })

  it('are argon2id and bcrypt unless set', async () => {
    const made = createPasswords()
    expect(await made.verify(PASSWORD, await cheap.hash(PASSWORD))).toBe(true)
    expect(await made.verify(PASSWORD, await bcrypt({ cost: 4 }).hash(PASSWORD))).toBe(true)
    expect(await made.hash(PASSWORD)).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
  })
})

describe('needsRehash', () => {
  it.each([
    ['of the first hasher, at its costs', () => cheap.hash('x'), false],
    ['of the first hasher, at other costs', () => argon2id({ memoryCost: 128, timeCost: 1 }).hash('x'), true],
    ['of another hasher', () => bcrypt({ cost: 4 }).hash('x'), true],
  ])('a hash %s: %s', async (_, hash, expected) => {
    expect(passwordsOf(cheap, bcrypt({ cost: 4 })).needsRehash(await hash())).toBe(expected)
  })

  it('is false for a hasher that cannot tell', () => {
    expect(passwordsOf(countingHasher()).needsRehash('plain:x')).toBe(false)
  })

  const external = { ...countingHasher('directory:'), external: true }

  it('is false for the mark of an external hasher, whose password is kept elsewhere', () => {
    const passwords = passwordsOf(countingHasher(), external, countingHasher('old:'))
    expect(passwords.needsRehash('directory:x')).toBe(false)
    expect(passwords.needsRehash('old:x')).toBe(true)
  })

  it('is false where the first hasher is external: its mark is not put in the place of a hash', () => {
    const passwords = passwordsOf({ ...external, outdated: () => true }, countingHasher())
    expect(passwords.needsRehash('plain:x')).toBe(false)
    expect(passwords.needsRehash('directory:x')).toBe(false)
  })
})

describe('a place', () => {
  const hung = () => new Promise<never>(() => {})

  it('waits for a new hash no longer than it was told', async () => {
    const place = await passwordsOf({ ...countingHasher(), hash: hung }).reserve({ timeout: 20 })
    expect(await rejectionOf(place.hash(PASSWORD))).toMatchObject({ message: 'no result within 20 ms' })
  })

  it('checks a password while its time is not over, and not after: a slow look-up counts', async () => {
    vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] })
    try {
      const passwords = passwordsOf(countingHasher())
      const [early, late] = [await passwords.reserve({ timeout: 1000 }), await passwords.reserve({ timeout: 1000 })]
      vi.advanceTimersByTime(999)
      expect(await early.verify('x', 'plain:x')).toBe(true)
      vi.advanceTimersByTime(1)
      expect(await rejectionOf(late.verify('x', 'plain:x'))).toMatchObject({ code: 'overloaded' })
    } finally {
      vi.useRealTimers()
    }
  })

  it('waits for a thread no longer than the look-up has left of its time', async () => {
    vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] })
    try {
      const passwords = createPasswords({ hashers: [{ ...countingHasher(), verify: hung }], concurrency: 1 })
      const [first, second] = [await passwords.reserve(), await passwords.reserve({ timeout: 1000 })]
      first.verify('x', 'plain:x')
      vi.advanceTimersByTime(400)
      const settled = vi.fn()
      const refused = rejectionOf(second.verify('x', 'plain:x')).finally(settled)
      await vi.advanceTimersByTimeAsync(599)
      expect(settled).not.toHaveBeenCalled()
      await vi.advanceTimersByTimeAsync(1)
      expect(settled).toHaveBeenCalledOnce()
      expect(await refused).toMatchObject({ code: 'overloaded' })
    } finally {
      vi.useRealTimers()
    }
  })

  it('is left when a hash or a check has ended, also when it failed', async () => {
    const passwords = createPasswords({ hashers: [countingHasher()], concurrency: 1, queue: 0 })
    expect(await passwords.hash('x')).toBe('plain:x')
    expect(await passwords.verify('x', 'plain:x')).toBe(true)
    expect(await rejectionOf(passwords.verify('x', 'other:x'))).toBeInstanceOf(Error)
    expect(passwords.load()).toEqual({ active: 0, waiting: 0 })
    expect(await passwords.verify('x', 'plain:x')).toBe(true)
  })

  it('makes a new hash though the client has gone, and checks nothing for it', async () => {
    const client = new AbortController()
    const place = await passwordsOf(countingHasher()).reserve({ signal: client.signal })
    client.abort()
    expect(await place.hash('x')).toBe('plain:x')
    expect(await rejectionOf(place.verify('x', 'plain:x'))).toMatchObject({ code: 'client_closed_request' })
  })
})

describe('a hasher of the host’s', () => {
  it('checks marks of its own with another service', async () => {
    const bind = vi.fn(async (_dn: string, password: string) => password === PASSWORD)
    const ldap: Hasher = {
      accepts: (hash) => hash.startsWith('ldap:'),
      verify: (password, hash) => bind(hash.slice('ldap:'.length), password),
    }
    const passwords = passwordsOf(cheap, ldap)
    expect(await passwords.verify(PASSWORD, 'ldap:uid=alice')).toBe(true)
    expect(await passwords.verify('wrong', 'ldap:uid=alice')).toBe(false)
    expect(bind.mock.calls).toEqual([
      ['uid=alice', PASSWORD],
      ['uid=alice', 'wrong'],
    ])
  })

  it.each([1, 'true', {}, [], null, undefined, Promise])('matches only by true, not by %s', async (answer) => {
    const passwords = passwordsOf({ ...countingHasher(), verify: () => answer as never })
    expect(await passwords.verify(PASSWORD, `plain:${PASSWORD}`)).toBe(false)
  })

  it.each([
    ['throws', () => expect.fail('directory down')],
    ['rejects', () => Promise.reject(new Error('directory down'))],
  ])('that %s fails the check', async (_, verify) => {
    const passwords = passwordsOf({ ...countingHasher(), verify })
    const error = await rejectionOf(passwords.verify(PASSWORD, `plain:${PASSWORD}`))
    expect((error as Error).message).toContain('directory down')
  })

  it('may be an object of a class', async () => {
    class Reversed implements Hasher {
      readonly #mark = 'r:'
      accepts = (hash: string) => hash.startsWith(this.#mark)
      verify(password: string, hash: string) {
        return hash === this.hash(password)
      }
      hash(password: string) {
        return this.#mark + [...password].reverse().join('')
      }
    }
    const passwords = passwordsOf(new Reversed())
    expect(await passwords.verify('abc', await passwords.hash('abc'))).toBe(true)
    expect(await passwords.verify('cba', 'r:cba')).toBe(false)
  })
})

describe('a password is well-formed Unicode', () => {
  const LONE = ['\ud800', 'a\udc00b', '\udc00\ud800']

  it.each(LONE)('else no hash is made: %j', async (password) => {
    const error = await rejectionOf(passwordsOf(cheap).hash(password))
    expect(error).toBeInstanceOf(TypeError)
    expect((error as Error).message).toContain('passwords: a password must be a well-formed Unicode string')
  })

  it.each([undefined, null, 7, {}, ['x'], Buffer.from('x')])('nor of %o', async (password) => {
    expect(await rejectionOf(passwordsOf(countingHasher()).hash(password as never))).toBeInstanceOf(TypeError)
  })

  it.each([7, null, { isWellFormed: () => true }])('nor of %o, and it says why', async (password) => {
    const error = await rejectionOf(passwordsOf(countingHasher()).hash(password as never))
    expect(error).toMatchObject({
      message: expect.stringContaining('passwords: a password must be a well-formed Unicode string'),
    })
  })

  it.each(LONE)('else it matches nothing, after the same work: %j', async (password) => {
    const replaced = password.replace(/[\ud800-\udfff]/g, '\ufffd')
    const hash = await cheap.hash(replaced)
    const verify = vi.spyOn(cheap, 'verify')
    expect(await passwordsOf(cheap).verify(password, hash)).toBe(false)
    expect(verify).toHaveBeenCalledOnce()
    expect(await verify.mock.results[0]?.value).toBe(true)
    verify.mockRestore()
    expect(await passwordsOf(cheap).verify(replaced, hash)).toBe(true)
  })

  it('and any such password matches itself alone', async () => {
    const passwords = passwordsOf(cheap)
    const text = fc.string({ unit: 'binary' })
    const units = fc.array(fc.integer({ min: 0, max: 0xffff })).map((list) => String.fromCharCode(...list))
    await fc.assert(
      fc.asyncProperty(text, fc.oneof(text, units), async (password, other) => {
        const hash = await passwords.hash(password)
        expect(await passwords.verify(password, hash)).toBe(true)
        expect(await passwords.verify(other, hash)).toBe(other === password)
      }),
      { numRuns: 60 },
    )
  })
})

describe('createPasswords refuses', () => {
  const { hash: _, asked: __, ...checksOnly } = countingHasher()

  it.each<[string, unknown, string]>([
    ['no hashers', [], 'an array of hashers'],
    ['one that is no list', cheap, 'an array of hashers'],
    ['null', null, 'an array of hashers'],
    ['makers instead of hashers', [argon2id], 'an array of hashers'],
    ['a hole', [cheap, undefined], 'an array of hashers'],
    ['a hasher without verify', [{ accepts: () => true, hash: () => 'x' }], 'A hasher has "accepts" and "verify"'],
    ['a hasher without accepts', [{ verify: () => true, hash: () => 'x' }], 'A hasher has "accepts" and "verify"'],
    ['a first hasher without hash', [checksOnly, cheap], 'whose first hasher has "hash"'],
  ])('%s', (_, hashers, says) => {
    expectMisuse(() => createPasswords({ hashers: hashers as never }), /^createPasswords: option "hashers" must be /)
    expectMisuse(() => createPasswords({ hashers: hashers as never }), says)
  })

  it('an unknown option, and says which is meant', () => {
    const says = 'createPasswords: unknown option "hasher". Did you mean "hashers"?'
    expectMisuse(() => createPasswords({ hasher: cheap } as never), says)
  })

  it.each<[string, unknown, string]>([
    ['a maker', [argon2id], 'Are the brackets of argon2id() missing?'],
    ['a maker among hashers', [cheap, bcrypt], 'Are the brackets of argon2id() missing?'],
    ['no hasher', [{}], 'A hasher has "accepts" and "verify"'],
    ['a first hasher that makes no hashes', [checksOnly], 'Put argon2id() first: it makes new hashes'],
    ['a word for whether it is external', [cheap, { ...checksOnly, external: 'no' }], '"external" is true or false'],
  ])('%s, and gives a hint', (_, hashers, hint) => {
    expectMisuse(() => createPasswords({ hashers: hashers as never }), hint)
  })

  it.each([
    ['parallelism', 'concurrency'],
    ['maxQueue', 'queue'],
  ])('"%s", and says that "%s" is meant', (name, meant) => {
    expectMisuse(() => createPasswords({ [name]: 4 }), `unknown option "${name}". Did you mean "${meant}"?`)
  })

  it.each<[string, unknown[], string]>([
    ['concurrency', [0, 1025, 1.5, '4', null], 'a number of passwords, a whole number from 1 to 1024'],
    ['queue', [-1, 100_001, 1.5, '4', null], 'a number of logins, a whole number from 0 to 100000'],
  ])('a wrong %s, and says what it takes', (name, values, what) => {
    for (const value of values) {
      expectMisuse(
        () => createPasswords({ hashers: [cheap], [name]: value }),
        `createPasswords: option "${name}" must be ${what}, but is `,
      )
    }
  })

  it('nothing that is within the limits', () => {
    for (const options of [{ concurrency: 1 }, { concurrency: 1024 }, { queue: 0 }, { queue: 100_000 }]) {
      expect(() => createPasswords({ hashers: [countingHasher()], ...options })).not.toThrow()
    }
    const hashers = [true, false, undefined].map((external) => ({ ...countingHasher(), external }))
    expect(() => createPasswords({ hashers: hashers as never })).not.toThrow()
  })

  it('nothing when there is nothing, or what is undefined', () => {
    for (const options of [undefined, {}, { hashers: undefined }]) {
      expect(() => createPasswords(options as never)).not.toThrow()
    }
  })
})

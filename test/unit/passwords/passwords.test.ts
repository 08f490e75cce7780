// Tests passwords/passwords-options.ts

import {
  AuthError,
  argon2id,
  bcrypt,
  createPasswords,
  type Hasher,
  type PasswordsOptions,
  SignInRefusal,
} from 'express-token-endpoint'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { QueuedPasswords } from '../../../src/passwords/passwords.js'
import { settled } from '../../support/concurrency.js'
import { expectMisuse, rejectionOf } from '../../support/failures.js'
import { countingHasher, PASSWORD } from '../../support/fixtures.js'
import { unhandledRejections } from '../../support/host.js'
import { anyText } from '../../support/values/any-text.js'
import { NOT_TRUE } from '../../support/values/invalid-results.js'

const cheap = argon2id({ memoryCost: 64, timeCost: 1 })
const createQueued = (options: PasswordsOptions) => createPasswords(options) as QueuedPasswords
const passwordsOf = (...hashers: Hasher[]) => createQueued({ hashers })

describe('equal work', () => {
  it.each([`plain:${PASSWORD}`, 'plain:other', null, undefined])('one verification for the hash %s', async (hash) => {
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
    // Nobody knows its password: it is long, and another one in each object.
    passwordsOf(hasher)
    const [one = '', other = ''] = hash.mock.calls.map(([password]) => password)
    expect(one).not.toBe(other)
    expect(Buffer.from(one, 'base64')).toHaveLength(32)
  })

  it('the hasher of the option "unknown" does the work without a hash, and no stored hash reaches it', async () => {
    const [first, unknown] = [countingHasher(), countingHasher('slow:')]
    const passwords = createPasswords({ hashers: [first], unknown })
    for (const hash of [null, undefined]) expect(await passwords.verify(PASSWORD, hash)).toBe(false)
    expect([first.asked.length, unknown.asked.length]).toEqual([0, 2])
    expect(unknown.asked[0]).toMatch(/^slow:/)
    expect(await passwords.verify(PASSWORD, `plain:${PASSWORD}`)).toBe(true)
    expect(await passwords.hash(PASSWORD)).toBe(`plain:${PASSWORD}`)
    expect(unknown.asked).toHaveLength(2)
    expect(await rejectionOf(passwords.verify(PASSWORD, 'slow:x'))).toBeInstanceOf(TypeError)
  })

  it.each([[{}], [true], [{ ...countingHasher(), hash: undefined }], [() => countingHasher()]])(
    'the option "unknown" is a hasher that makes hashes, and not %j',
    (unknown) => {
      expectMisuse(
        () => createPasswords({ unknown: unknown as never }),
        /option "unknown" must be a hasher with "hash"/,
      )
    },
  )

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
    const rejections = unhandledRejections()
    const passwords = passwordsOf({ ...countingHasher(), hash: () => Promise.reject(new Error('no memory')) })
    await settled()
    expect(rejections).toEqual([])
    expect(await rejectionOf(passwords.verify(PASSWORD, null))).toMatchObject({ message: 'no memory' })
  })
})

describe('several hashers', () => {
  const first = countingHasher('new:')
  const second = countingHasher('old:')
  const passwords = passwordsOf(first, second)

  it('the first makes new hashes, and each checks its own', async () => {
    expect(await passwords.hash('x')).toBe('new:x')
    expect(await passwords.verify('x', 'new:x')).toBe(true)
    expect(await passwords.verify('x', 'old:x')).toBe(true)
    expect(await passwords.verify('x', 'old:y')).toBe(false)
    expect(second.asked).toEqual(['old:x', 'old:y'])
  })

  it.each(['', ' new:x'])('none checks %j: the check fails, and matches nothing', async (hash) => {
    const error = (await rejectionOf(passwords.verify('x', hash))) as Error
    expect(error.message).toContain('no hasher accepts the format or the cost of a stored hash')
    expect(() => passwords.needsRehash(hash)).toThrow('no hasher accepts')
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
    ['of the first hasher, at its costs', cheap, false],
    ['of another hasher', bcrypt({ cost: 4 }), true],
    ['of another hasher, at a high cost', bcrypt({ cost: 6 }), true],
  ])('a hash %s: %s', async (_, maker, expected) => {
    expect(passwordsOf(cheap, bcrypt({ cost: 4 })).needsRehash(await maker.hash('x'))).toBe(expected)
  })

  const argon2Hash = (m: number, t: number, p = 1) =>
    `$argon2id$v=19$m=${m},t=${t},p=${p}$c29tZXNhbHQ$${Buffer.alloc(32, 1).toString('base64').replace('=', '')}`
  const bcryptHash = (cost: string) => `$2b$${cost}$${'a'.repeat(53)}`
  it.each([
    ['less memory', argon2id(), argon2Hash(19_455, 2), true],
    ['fewer passes', argon2id(), argon2Hash(19_456, 1), true],
    ['the same costs', argon2id(), argon2Hash(19_456, 2), false],
    ['the same costs and more lanes', argon2id(), argon2Hash(19_456, 2, 4), false],
    ['more memory and more passes, as by default of other packages', argon2id(), argon2Hash(65_536, 3, 4), false],
    ['more memory, and fewer passes in all', argon2id({ timeCost: 4 }), argon2Hash(38_911, 2), true],
    ['more memory, and as much work', argon2id({ timeCost: 4 }), argon2Hash(38_912, 2), false],
    ['a lower cost', bcrypt(), bcryptHash('11'), true],
    ['the same cost', bcrypt(), bcryptHash('12'), false],
    ['a higher cost', bcrypt(), bcryptHash('14'), false],
  ])('a hash of the first hasher with %s: %#', (_, hasher, hash, expected) => {
    expect(passwordsOf(hasher).needsRehash(hash)).toBe(expected)
  })

  const plain = countingHasher()
  const external = { ...countingHasher('directory:'), external: true, outdated: () => true }
  it.each([
    ['a hasher that cannot tell', [plain], 'plain:x', false],
    ['the mark of an external hasher, whose password is kept elsewhere', [plain, external], 'directory:x', false],
    ['another hash beside an external hasher', [plain, external, countingHasher('old:')], 'old:x', true],
    ['a hash whose place the mark of an external hasher would take', [external, plain], 'plain:x', false],
    ['the mark of an external hasher that comes first', [external, plain], 'directory:x', false],
  ])('%s: %#', (_, hashers, hash, expected) => {
    expect(passwordsOf(...hashers).needsRehash(hash)).toBe(expected)
  })
})

describe('a slot', () => {
  const hung = () => new Promise<never>(() => {})
  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] }))
  afterEach(() => void vi.useRealTimers())

  it('waits for a new hash no longer than it was told', async () => {
    const passwords = createQueued({ hashers: [{ ...countingHasher(), hash: hung }], concurrency: 1 })
    const [one, other] = [await passwords.reserve({ timeout: 20 }), await passwords.reserve({ timeout: 20 })]
    const failed = [one, other].map((slot) => rejectionOf(slot.hash(PASSWORD)))
    await vi.advanceTimersByTimeAsync(20)
    // The thread of the first hash stays busy, so the other one does not begin.
    expect(await Promise.all(failed)).toMatchObject([{ message: 'no result within 20 ms' }, { code: 'overloaded' }])
    expect(passwords.load().active).toBe(1)
  })

  it.each([true, false])('of an external service frees its thread after the time limit: %s', async (external) => {
    const hasher = { ...countingHasher(), verify: hung, external }
    const passwords = createQueued({ hashers: [hasher], concurrency: 1 })
    const slot = await passwords.reserve({ timeout: 20 })
    const failed = rejectionOf(slot.verify('x', 'plain:x'))
    await vi.advanceTimersByTimeAsync(20)
    await failed
    expect(passwords.load().active).toBe(external ? 0 : 1)
  })

  it('checks a password while its time is not over, and not after: a slow look-up counts', async () => {
    const passwords = passwordsOf(countingHasher())
    const [early, late] = [await passwords.reserve({ timeout: 1000 }), await passwords.reserve({ timeout: 1000 })]
    vi.advanceTimersByTime(999)
    expect(await early.verify('x', 'plain:x')).toBe(true)
    vi.advanceTimersByTime(1)
    expect(await rejectionOf(late.verify('x', 'plain:x'))).toMatchObject({ code: 'overloaded' })
  })

  it('waits for a thread no longer than the look-up has left of its time', async () => {
    const passwords = createQueued({ hashers: [{ ...countingHasher(), verify: hung }], concurrency: 1 })
    const [first, second] = [await passwords.reserve(), await passwords.reserve({ timeout: 1000 })]
    first.verify('x', 'plain:x')
    vi.advanceTimersByTime(400)
    const refused = vi.fn()
    second.verify('x', 'plain:x').catch(refused)
    await vi.advanceTimersByTimeAsync(599)
    expect(refused).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(1)
    expect(refused).toHaveBeenCalledWith(expect.objectContaining({ code: 'overloaded' }))
  })

  it('is left when a hash or a check has ended, also when it failed', async () => {
    const passwords = createQueued({ hashers: [countingHasher()], concurrency: 1, queue: 0 })
    expect(await passwords.hash('x')).toBe('plain:x')
    expect(await passwords.verify('x', 'plain:x')).toBe(true)
    expect(await rejectionOf(passwords.verify('x', 'other:x'))).toBeInstanceOf(Error)
    expect(passwords.load()).toEqual({ active: 0, waiting: 0 })
    expect(await passwords.verify('x', 'plain:x')).toBe(true)
  })

  it('makes a new hash though the client has gone, and checks nothing for it', async () => {
    const client = new AbortController()
    const slot = await passwordsOf(countingHasher()).reserve({ signal: client.signal })
    client.abort()
    expect(await slot.hash('x')).toBe('plain:x')
    expect(await rejectionOf(slot.verify('x', 'plain:x'))).toMatchObject({ code: 'client_closed_request' })
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

  it.each(NOT_TRUE)('matches only by true, not by %s', async (answer) => {
    const passwords = passwordsOf({ ...countingHasher(), verify: () => answer as never })
    expect(await passwords.verify(PASSWORD, `plain:${PASSWORD}`)).toBe(false)
  })
})

describe('a password is well-formed Unicode', () => {
  const LONE = ['\ud800', 'a\udc00b', '\udc00\ud800']

  it.each([...LONE, undefined, null, 7, ['x'], Buffer.from('x'), Object('x')])(
    'else no hash is made: %o',
    async (password) => {
      const error = (await rejectionOf(passwordsOf(countingHasher()).hash(password as never))) as Error
      expect(error).toBeInstanceOf(TypeError)
      expect(error.message).toContain('passwords: a password must be a well-formed Unicode string')
    },
  )

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
    const text = anyText()
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
    ['a maker', [argon2id], 'Are the parentheses of argon2id() missing?'],
    ['a maker among hashers', [cheap, bcrypt], 'Are the parentheses of argon2id() missing?'],
    ['a hole', [cheap, undefined], 'an array of hashers'],
    ['a hasher without verify', [{ accepts: () => true, hash: () => 'x' }], 'A hasher has "accepts" and "verify"'],
    ['a hasher without accepts', [{ verify: () => true, hash: () => 'x' }], 'A hasher has "accepts" and "verify"'],
    [
      'a first hasher without hash',
      [checksOnly, cheap],
      'whose first hasher has "hash", but is an array. Put argon2id() first',
    ],
    ['a word for whether it is external', [cheap, { ...checksOnly, external: 'no' }], '"external" is true or false'],
  ])('%s', (_, hashers, says) => {
    const create = () => createPasswords({ hashers: hashers as never })
    expectMisuse(create, /^createPasswords: option "hashers" must be /)
    expectMisuse(create, says)
  })

  it.each([
    ['hasher', 'hashers'],
    ['queues', 'queue'],
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

  it.each<object | undefined>([
    ...[
      { concurrency: 1 },
      { concurrency: 1024 },
      { queue: 0 },
      { queue: 100_000 },
      {},
      undefined,
      { hashers: undefined },
    ],
    { hashers: [true, false, undefined].map((external) => ({ ...countingHasher(), external })) },
  ])('nothing that is within the limits: %j', (options) => {
    expect(() => createPasswords(options)).not.toThrow()
  })
})

describe('isForbidden', () => {
  const passwordsWith = (isForbidden: unknown) => {
    const hasher = countingHasher()
    const hash = vi.spyOn(hasher, 'hash')
    const passwords = createQueued({ hashers: [hasher], isForbidden: isForbidden as never })
    hash.mockClear() // the decoy
    return { passwords, hash }
  }

  it.each([
    ['at once', (password: string) => password === 'leaked'],
    ['later', async (password: string) => password === 'leaked'],
  ])('refuses a password, before it waits for a hashing thread: %s', async (_, isForbidden) => {
    const { passwords, hash } = passwordsWith(isForbidden)
    const error = (await rejectionOf(passwords.hash('leaked'))) as AuthError
    expect(error).toBeInstanceOf(AuthError)
    expect(error).toMatchObject({ code: 'weak_password', status: 422, reason: 'forbidden' })
    expect(JSON.stringify(error)).not.toContain('leaked')
    expect(hash).not.toHaveBeenCalled()
    expect(await passwords.hash('fresh')).toBe('plain:fresh')
  })

  it('is not asked about a login, about the hash that a login replaces, or about text that is no password', async () => {
    const isForbidden = vi.fn(() => true)
    const { passwords } = passwordsWith(isForbidden)
    await passwords.verify('leaked', 'plain:leaked')
    const slot = await passwords.reserve()
    expect(await slot.hash('leaked')).toBe('plain:leaked')
    slot.leave()
    for (const bad of ['\ud800', undefined])
      expect(await rejectionOf(passwords.hash(bad as never))).toBeInstanceOf(TypeError)
    expect(isForbidden).not.toHaveBeenCalled()
  })

  it('may refuse with a code of the host', async () => {
    const { passwords } = passwordsWith(() => {
      throw new SignInRefusal('too_short', { status: 422 })
    })
    expect(await rejectionOf(passwords.hash('x'))).toMatchObject({ code: 'too_short', status: 422 })
  })

  it.each<[string, () => unknown]>([
    ['an error', () => Promise.reject(new Error('down'))],
    ...NOT_TRUE.map((value) => [JSON.stringify(value) ?? 'undefined', () => value] as [string, () => unknown]),
  ])('fails closed with %s', async (_, isForbidden) => {
    const { passwords, hash } = passwordsWith(isForbidden)
    const refusal = (await rejectionOf(passwords.hash('x'))) as Error
    expect(refusal).toMatchObject({ code: 'unavailable', dependency: 'passwords' })
    expect(String(refusal.cause)).toMatch(/down|passwords: isForbidden must return true or false/)
    expect(hash).not.toHaveBeenCalled()
  })

  it('fails closed after 5 s', async () => {
    vi.useFakeTimers()
    const { passwords } = passwordsWith(() => new Promise(() => {}))
    const refused = rejectionOf(passwords.hash('x'))
    await vi.advanceTimersByTimeAsync(5000)
    expect(await refused).toMatchObject({ code: 'unavailable', dependency: 'passwords' })
    vi.useRealTimers()
  })

  it('must be a function', () => {
    expectMisuse(() => createPasswords({ isForbidden: true as never }), /option "isForbidden" must be a function/)
  })
})

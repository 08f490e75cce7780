import crypto from 'node:crypto'
import { hashRaw } from '@node-rs/argon2'
import { argon2id, createPasswords } from 'express-token-endpoint'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { expectMisuse, rejectionOf } from '../../../../support/failures.js'
import { outcomeOf, polluted } from '../../../../support/pollution.js'
import { almost } from './verify-only.js'

interface Parameters {
  secret?: Buffer
  message: string
  nonce: Buffer
  memory: number
  passes: number
  parallelism: number
  tagLength: number
}
type Done = (error: Error | null, tag?: Buffer) => void

const host = crypto as { argon2?: unknown }
const ofNode = host.argon2

/** Computes what `crypto.argon2` computes, for a Node that has none. */
function standIn(algorithm: string, parameters: Parameters, done: Done) {
  if (algorithm !== 'argon2id') return done(new Error(`unknown algorithm: ${algorithm}`))
  const { message, nonce, memory, passes, parallelism, tagLength, secret } = parameters
  const costs = { memoryCost: memory, timeCost: passes, parallelism, outputLen: tagLength }
  const options = Object.assign(Object.create(null), { ...costs, salt: nonce, secret })
  hashRaw(message, options).then((tag) => done(null, tag), done)
}

const VECTOR = '$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4'
const COSTS = { memoryCost: 64, timeCost: 1 }

describe('argon2id on a Node without crypto.argon2', () => {
  beforeAll(() => {
    delete host.argon2
  })
  afterAll(() => {
    if (ofNode) host.argon2 = ofNode
  })

  it('refuses the engine "node", and says which Node has it', () => {
    const says = `argon2id: option "engine" must be 'native' on Node ${process.versions.node}, because crypto.argon2 is missing. Use Node 24.7 or newer for 'node'`
    expectMisuse(() => argon2id({ engine: 'node' }), says)
  })

  it.each([undefined, 'native'] as const)('works with the engine %s', async (engine) => {
    expect(await argon2id({ engine }).verify('password', VECTOR)).toBe(true)
  })
})

describe('argon2id on Node’s own Argon2', () => {
  beforeAll(() => {
    host.argon2 ??= standIn
  })
  afterAll(() => {
    if (!ofNode) delete host.argon2
  })

  const onNode = (options = {}) => argon2id({ ...COSTS, ...options, engine: 'node' })
  const native = argon2id(COSTS)

  it('checks the reference implementation’s test vector', async () => {
    expect(await onNode().verify('password', VECTOR)).toBe(true)
    expect(await onNode().verify('Password', VECTOR)).toBe(false)
    expect(await onNode().verify('', VECTOR)).toBe(false)
  })

  it('makes hashes that differ each time, with OWASP’s costs or those that are set', async () => {
    expect(await argon2id({ engine: 'node' }).hash('x')).toMatch(
      /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/,
    )
    const hasher = onNode({ memoryCost: 128, timeCost: 3, parallelism: 2 })
    const hashes = await Promise.all([hasher.hash('x'), hasher.hash('x')])
    expect(hashes[0]).not.toBe(hashes[1])
    for (const hash of hashes) {
      expect(hash).toMatch(/^\$argon2id\$v=19\$m=128,t=3,p=2\$/)
      expect([hasher.accepts(hash), hasher.outdated(hash), onNode().outdated(hash)]).toEqual([true, false, true])
    }
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

  it('accepts what the native engine accepts', () => {
    fc.assert(
      fc.property(almost(VECTOR), (hash) => onNode().accepts(hash) === native.accepts(hash)),
      { numRuns: 2000 },
    )
  })

  it('reads nothing from a polluted prototype', async () => {
    const members = { secret: Buffer.from('pepper'), associatedData: Buffer.from('data'), memory: 8 }
    const { value } = await polluted(members, () => outcomeOf(() => onNode().verify('password', VECTOR)))
    expect(value).toBe(true)
  })

  it('is a first hasher', async () => {
    const passwords = createPasswords({ hashers: [onNode()] })
    const hash = await passwords.hash('x')
    expect(await passwords.verify('x', hash)).toBe(true)
    expect(await passwords.verify('x', null)).toBe(false)
    expect(passwords.needsRehash(hash)).toBe(false)
  })
})

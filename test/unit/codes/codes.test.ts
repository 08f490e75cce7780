// Tests codes/{codes,memory-codes}.ts

import { type CodeStore, createCodes, memoryCodes } from 'express-token-endpoint'
import { describe, expect, it } from 'vitest'
import { expectCodeStore } from '../../support/code-store.js'
import { expectMisuse, refusalOf, rejectionOf } from '../../support/failures.js'
import { frozenClock } from '../../support/fixtures.js'

const NEW = { purpose: 'verify', accountId: 'acc-1' }

function start(options: Parameters<typeof createCodes>[1] = {}) {
  const clock = frozenClock()
  const store = memoryCodes()
  const seen: unknown[] = []
  const noting: CodeStore = {
    ...store,
    add: (...args) => {
      seen.push(args[0])
      return store.add(...args)
    },
  }
  return { codes: createCodes(noting, { clock, ...options }), clock, seen }
}

describe('a code', () => {
  it('is taken once, with its account and its data', async () => {
    const { codes } = start()
    const code = await codes.create({ ...NEW, data: { email: 'new@example.com' } })
    expect(code).toMatch(/^[\w-]{43}$/)
    const taken = await Promise.all([codes.take('verify', code), codes.take('verify', code)])
    expect(taken).toEqual([{ accountId: 'acc-1', data: { email: 'new@example.com' } }, undefined])
    expect(await codes.take('verify', code)).toBeUndefined()
  })

  it('is not used up by another purpose', async () => {
    const { codes } = start()
    const code = await codes.create(NEW)
    expect(await codes.take('reset', code)).toBeUndefined()
    expect(await codes.take('verify', code)).toEqual({ accountId: 'acc-1', data: undefined })
  })

  it('expires', async () => {
    const { codes, clock } = start()
    const [short, long] = [await codes.create({ ...NEW, lifetime: '10m' }), await codes.create(NEW)]
    clock.advance(600_000)
    expect(await codes.take('verify', short)).toBeUndefined()
    clock.advance(3_000_000 - 1)
    expect(await codes.take('verify', long)).toBeDefined()
  })

  it('is not in the store', async () => {
    const { codes, seen } = start()
    const code = await codes.create(NEW)
    expect(JSON.stringify(seen)).not.toContain(code)
    expect(seen).toMatchObject([
      { purpose: 'verify', accountId: 'acc-1', digest: expect.stringMatching(/^[\w-]{43}$/) },
    ])
  })

  it.each([undefined, null, 7, '', 'x', { $ne: 1 }, 'x'.repeat(44)])('is not %j', async (text) => {
    const { codes } = start()
    await codes.create(NEW)
    expect(await codes.take('verify', text)).toBeUndefined()
  })
})

describe('the codes of an account', () => {
  it('are limited for each purpose, until one expires or is taken', async () => {
    const { codes, clock } = start({ maxPerAccount: 2 })
    const first = await codes.create(NEW)
    clock.advance(1000)
    await codes.create(NEW)
    const refusal = await refusalOf(codes.create(NEW))
    expect(refusal).toMatchObject({ code: 'too_many_attempts', accountId: 'acc-1', headers: { 'Retry-After': '3600' } })
    await codes.create({ ...NEW, purpose: 'reset' })
    await codes.create({ ...NEW, accountId: 'acc-2' })
    await codes.take('verify', first)
    await codes.create(NEW)
    clock.advance(3_600_000)
    await codes.create(NEW)
  })

  it('end together: of one purpose, or all', async () => {
    const { codes } = start()
    const [verify, reset] = [await codes.create(NEW), await codes.create({ ...NEW, purpose: 'reset' })]
    const other = await codes.create({ ...NEW, accountId: 'acc-2' })
    await codes.removeAll('acc-1', 'reset')
    expect(await codes.take('reset', reset)).toBeUndefined()
    expect(await codes.take('verify', verify)).toBeDefined()
    const again = await codes.create(NEW)
    await codes.removeAll('acc-1')
    expect(await codes.take('verify', again)).toBeUndefined()
    expect(await codes.take('verify', other)).toBeDefined()
  })

  it('leave memory when they have expired', async () => {
    const { codes, clock } = start({ maxPerAccount: 1 })
    const store = memoryCodes()
    for (let i = 0; i < 100; i++) {
      clock.advance(3_600_000)
      await codes.create(NEW)
      const now = new Date(clock())
      expect(store.add({ ...NEW, digest: String(i), expiresAt: new Date(now.getTime() + 1), data: null }, 1, now)).toBe(
        true,
      )
      clock.advance(1)
    }
    expect([...Array(99).keys()].filter((i) => store.take(String(i)))).toEqual([])
  })
})

describe('a store of codes', () => {
  it('in memory fulfils the contract', () => expectCodeStore(memoryCodes()))

  const failing = (changes: Partial<CodeStore>) => createCodes({ ...memoryCodes(), ...changes })
  const code = 'x'.repeat(43)

  it.each<[string, Partial<CodeStore>]>([
    ['throws', { take: () => Promise.reject(new Error('down')) }],
    ['returns a text', { take: () => 'x' as never }],
    ['returns another code', { take: () => ({ ...NEW, digest: 'x', expiresAt: new Date(), data: null }) }],
    ['returns a code without a date', { take: (digest) => ({ ...NEW, digest, data: null }) as never }],
  ])('causes 503 when its take %s', async (_, changes) => {
    expect(await refusalOf(failing(changes).take('verify', code))).toMatchObject({
      code: 'unavailable',
      dependency: 'codes',
    })
  })

  it('causes 503 when its add fails, and no code is given out', async () => {
    const add = () => Promise.reject(new Error('down'))
    expect(await refusalOf(failing({ add }).create(NEW))).toMatchObject({ code: 'unavailable', dependency: 'codes' })
  })
})

describe('misuse', () => {
  it.each<[string, object, string]>([
    ['no purpose', { accountId: 'x' }, 'option "purpose"'],
    ['no account', { purpose: 'x' }, 'option "accountId"'],
    ['an unknown member', { ...NEW, expiresIn: '1h' }, 'Did you mean "lifetime"'],
    ['data that is no JSON', { ...NEW, data: () => 1 }, '"data" must be JSON'],
    ['long data', { ...NEW, data: 'x'.repeat(5000) }, '"data" must be JSON'],
  ])('create throws a TypeError for %s', async (_, one, message) => {
    const error = await rejectionOf(start().codes.create(one as never))
    expect(error).toBeInstanceOf(TypeError)
    expect(error).toMatchObject({ message: expect.stringContaining(message) })
  })

  it('createCodes throws a TypeError without a store, and for an unknown option', () => {
    expectMisuse(() => createCodes({} as never), 'memoryCodes()')
    expectMisuse(() => createCodes(memoryCodes(), { max: 1 } as never), 'unknown option "max"')
  })

  it('take and removeAll throw a TypeError for an empty name', async () => {
    const { codes } = start()
    expect(await rejectionOf(codes.take('', 'x'))).toBeInstanceOf(TypeError)
    expect(await rejectionOf(codes.removeAll(''))).toBeInstanceOf(TypeError)
    expect(await rejectionOf(codes.removeAll('acc-1', ''))).toBeInstanceOf(TypeError)
  })
})

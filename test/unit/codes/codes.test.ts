// Tests codes/{codes,memory-codes}.ts

import type { CodeStore, Codes } from 'express-token-endpoint'
import { describe, expect, it } from 'vitest'
import { LAST_MOMENT } from '../../../src/options/checks.js'
import { expectCodeStore } from '../../support/code-store.js'
import { withMaps } from '../../support/concurrency.js'
import { expectMisuse, refusalOf, rejectionOf } from '../../support/failures.js'
import { frozenClock } from '../../support/fixtures.js'
import { createCodes, memoryCodes } from '../../support/sessions.js'

const NEW = { purpose: 'verify', accountId: 'acc-1' }
const TWO = { ...NEW, maxPerAccount: 2 }

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

  it('is found without being used up, until it is taken', async () => {
    const { codes } = start()
    const code = await codes.create({ ...NEW, data: { email: 'new@example.com' } })
    const same = { accountId: 'acc-1', data: { email: 'new@example.com' } }
    expect([await codes.find('verify', code), await codes.find('verify', code)]).toEqual([same, same])
    expect(await codes.find('reset', code)).toBeUndefined()
    expect(await codes.take('verify', code)).toEqual(same)
    expect(await codes.find('verify', code)).toBeUndefined()
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
    clock.advance(600_000 - 1)
    expect(await codes.find('verify', short)).toBeDefined()
    clock.advance(1)
    expect(await codes.find('verify', short)).toBeUndefined()
    expect(await codes.take('verify', short)).toBeUndefined()
    clock.advance(3_000_000 - 1)
    expect(await codes.find('verify', long)).toBeDefined()
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

  const TEXT = 'x'.repeat(43)
  it.each([undefined, null, 7, '', 'x', { $ne: 1 }, [TEXT], `${TEXT}x`, `${TEXT}!`, `!${TEXT}`])(
    'is not %j, which the store never sees',
    async (text) => {
      const asked = () => expect.fail('asked')
      const codes = createCodes({ ...memoryCodes(), find: asked, take: asked })
      expect(await codes.find('verify', text)).toBeUndefined()
      expect(await codes.take('verify', text)).toBeUndefined()
    },
  )

  it('is unknown when the store returns null', async () => {
    const codes = createCodes({ ...memoryCodes(), find: () => null, take: () => null })
    expect(await codes.find('verify', TEXT)).toBeUndefined()
    expect(await codes.take('verify', TEXT)).toBeUndefined()
  })

  it('holds data of up to 4,096 characters of JSON', async () => {
    const { codes } = start()
    const data = 'x'.repeat(4094)
    expect(await codes.take('verify', await codes.create({ ...NEW, data }))).toMatchObject({ data })
    const error = await rejectionOf(codes.create({ ...NEW, data: `${data}x` }))
    expect(error).toMatchObject({ message: expect.stringContaining('at most 4096 characters') })
  })
})

describe('the codes of an account', () => {
  it('are limited for each purpose, until one expires or is taken', async () => {
    const { codes, clock } = start()
    const first = await codes.create(TWO)
    clock.advance(1000)
    await codes.create(TWO)
    const refusal = await refusalOf(codes.create(TWO))
    expect(refusal).toMatchObject({ code: 'too_many_attempts', accountId: 'acc-1', headers: { 'Retry-After': '3600' } })
    expect(refusal.message).toBe('Too many codes for this account. Try again later.')
    await codes.create({ ...TWO, purpose: 'reset' })
    await codes.create({ ...TWO, accountId: 'acc-2' })
    await codes.take('verify', first)
    await codes.create(TWO)
    clock.advance(3_600_000)
    await codes.create(TWO)
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
})

describe('codes in memory', () => {
  it('leave it while new ones come: at most 4 for each new one, from the millisecond of their expiration', () => {
    const store = memoryCodes()
    const add = (digest: string, accountId: string, now: number) =>
      store.add({ ...NEW, accountId, digest, expiresAt: new Date(now + 1000), data: null }, 1, new Date(now))
    const digests = Array.from({ length: 8 }, (_, i) => String(i))
    for (const digest of digests) expect(add(digest, `acc-${digest}`, 0)).toBe(true)
    expect(add('new', 'acc-0', 999)).toBe(false)
    expect(add('new', 'acc-0', 1000)).toBe(true)
    expect(digests.filter((digest) => store.take(digest))).toEqual(digests.slice(0, 4))
  })

  it('leave nothing of an account without codes', async () => {
    const { made: store, maps } = withMaps(memoryCodes)
    const codes = createCodes(store)
    const code = await codes.create(NEW)
    await codes.create({ ...NEW, purpose: 'reset' })
    await codes.take('verify', code)
    expect(maps.map(({ size }) => size)).toEqual([1, 1])
    await codes.removeAll('acc-1', 'reset')
    expect(maps.map(({ size }) => size)).toEqual([0, 0])
  })
})

describe('a store of codes', () => {
  it('in memory fulfils the contract', () => expectCodeStore(memoryCodes()))

  const failing = (changes: Partial<CodeStore>) => createCodes({ ...memoryCodes(), ...changes }, { timeout: '1ms' })
  const code = 'x'.repeat(43)

  it.each<[string, Partial<CodeStore>]>([
    ['throws', { take: () => Promise.reject(new Error('down')) }],
    ['hangs', { take: () => new Promise<never>(() => {}) }],
    ['cannot find', { find: () => Promise.reject(new Error('down')) }],
  ])('causes 503 when its take or find %s', async (_, changes) => {
    const refusal = await refusalOf(failing(changes)[changes.find ? 'find' : 'take']('verify', code))
    expect(refusal).toMatchObject({ code: 'unavailable', dependency: 'codes' })
  })

  const future = new Date(LAST_MOMENT)
  it.each<[string, (digest: string) => unknown]>([
    ['a text', () => 'x'],
    ['another code', () => ({ ...NEW, digest: 'x', expiresAt: future, data: null })],
    ['a code without a date', (digest) => ({ ...NEW, digest, data: null })],
    ['a code without an account', (digest) => ({ digest, expiresAt: future, data: null })],
    ['a code whose account is a number', (digest) => ({ digest, accountId: 7, expiresAt: future, data: null })],
    ['a code whose account is empty', (digest) => ({ digest, accountId: '', expiresAt: future, data: null })],
  ])('causes 503 when its find or take returns %s, and the cause says it', async (_, found) => {
    for (const method of ['find', 'take'] as const) {
      const refusal = await refusalOf(failing({ [method]: found })[method]('verify', code))
      expect(refusal).toMatchObject({ code: 'unavailable', dependency: 'codes' })
      expectMisuse(() => {
        throw refusal.cause
      }, `codes: ${method} must return undefined or the code as "add" received it`)
    }
  })

  it('causes 503 when its add fails, and no code is given out', async () => {
    const add = () => Promise.reject(new Error('down'))
    expect(await refusalOf(failing({ add }).create(NEW))).toMatchObject({ code: 'unavailable', dependency: 'codes' })
  })
})

describe('misuse', () => {
  it.each<[string, object, string]>([
    ['no purpose', { accountId: 'x' }, 'codes.create: option "purpose" must be a non-empty string'],
    ['no account', { purpose: 'x' }, 'option "accountId" must be a non-empty string'],
    ['the lifetime as "expiresIn"', { ...NEW, expiresIn: '1h' }, 'Did you mean "lifetime"'],
    ['a lifetime of more than 366 days', { ...NEW, lifetime: '367 days' }, 'from 1 second to 366 days'],
    ['a lifetime of less than a second', { ...NEW, lifetime: '999ms' }, 'from 1 second to 366 days'],
    ['the limit as "limit"', { ...NEW, limit: 1 }, 'unknown option "limit"'],
    ['a limit of 0', { ...NEW, maxPerAccount: 0 }, 'a number of codes, a whole number from 1 to 100'],
    ['data that is no JSON', { ...NEW, data: () => 1 }, '"data" must be JSON'],
  ])('create throws a TypeError for %s', async (_, one, message) => {
    const error = await rejectionOf(start().codes.create(one as never))
    expectMisuse(() => {
      throw error
    }, message)
  })

  it.each<[string, (codes: Codes) => Promise<unknown>]>([
    ['codes.find: the purpose', (codes) => codes.find('', 'x')],
    ['codes.take: the purpose', (codes) => codes.take('', 'x')],
    ['codes.removeAll: the account id', (codes) => codes.removeAll('')],
    ['codes.removeAll: the purpose', (codes) => codes.removeAll('acc-1', '')],
  ])('%s must not be empty', async (name, call) => {
    const error = await rejectionOf(call(start().codes))
    expectMisuse(() => {
      throw error
    }, `${name} must be a non-empty string`)
  })
})

import { argon2id, createPasswords, memoryAccounts } from 'express-token-endpoint'
import { accountStoreContract, fastPasswords } from 'express-token-endpoint/testing'
import fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { testHasher } from '../../../src/testing/fast-passwords.js'
import { expectMisuse } from '../../support/failures.js'
import { PASSWORD } from '../../support/fixtures.js'
import { anyText } from '../../support/values/any-text.js'

const ARGON2ID = '$argon2id$v=19$m=19456,t=2,p=1$c2FsdHNhbHQ$aGFzaGhhc2hoYXNoaGFzaA'

afterEach(() => void vi.unstubAllEnvs())

describe('fast passwords', () => {
  it('let in who knows the password, and nobody else', async () => {
    const { verify, hash } = fastPasswords()
    const text = anyText().map((password) => password.toWellFormed())
    await fc.assert(
      fc.asyncProperty(text, text, async (password, other) => {
        const stored = await hash(password)
        expect(await verify(password, stored)).toBe(true)
        expect(await verify(other, stored)).toBe(other === password)
        expect(await verify(password, null)).toBe(false)
      }),
    )
  })

  it('have hashes that show what they are, the same every time, and do not show the password', async () => {
    const hash = await fastPasswords().hash(PASSWORD)
    expect(hash).toMatch(/^\$test-only\$[\w-]{43}$/)
    expect(await fastPasswords().hash(PASSWORD)).toBe(hash)
  })

  it("take no other hasher's hashes, and no other hasher takes theirs", async () => {
    const hash = await fastPasswords().hash(PASSWORD)
    const says = 'no hasher accepts the format or the cost of a stored hash'
    await expect(createPasswords().verify(PASSWORD, hash)).rejects.toThrow(says)
    await expect(fastPasswords().verify(PASSWORD, ARGON2ID)).rejects.toThrow(says)
  })

  it('keep hashes that are not renewed, unless another hasher is put first', async () => {
    const { hash, needsRehash } = fastPasswords()
    const stored = await hash(PASSWORD)
    expect(needsRehash(stored)).toBe(false)
    expect(createPasswords({ hashers: [argon2id(), testHasher] }).needsRehash(stored)).toBe(true)
  })

  it.each([
    [
      { hashers: [] },
      'fastPasswords: unknown option "hashers". Known options: minLength, isForbidden, concurrency, queue',
    ],
    [{ queues: 1 }, 'fastPasswords: unknown option "queues". Did you mean "queue"'],
    [{ concurrency: 0 }, 'fastPasswords: option "concurrency" must be'],
  ])('refuse options that cannot be used: %o', (options, says) => {
    expectMisuse(() => fastPasswords(options as never), says)
  })
})

describe('a store with such hashes keeps the contract', async () => {
  const existing = { id: 'acc-1', email: 'alice@example.com', passwordHash: await fastPasswords().hash(PASSWORD) }
  for (const { name, run } of accountStoreContract({ store: memoryAccounts([existing]), existing })) it(name, run)
})

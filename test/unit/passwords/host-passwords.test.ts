import { describe, expect, it } from 'vitest'
import { type CustomPasswords, passwordsOf } from '../../../src/passwords/host-passwords.js'

const NEVER = new Promise<never>(() => {})

const plain = {
  hash: async (password: string) => `hash of ${password}`,
  verify: async (password: string, hash: string | null | undefined) => hash === `hash of ${password}`,
}
const slot = { ...plain, start: async () => {}, leave() {} }
const whole: CustomPasswords = { ...plain, needsRehash: () => true, reserve: async () => slot }

describe('password checks of the host', () => {
  it('are called as they are when they have a queue', () => {
    expect(passwordsOf(whole)).toBe(whole)
  })

  it.each(['needsRehash', 'reserve'] as const)('keep their other methods without "%s"', async (name) => {
    const { [name]: _, ...others } = whole
    const passwords = passwordsOf(others)
    expect(passwords).not.toBe(whole)
    expect(await passwords.needsRehash('x')).toBe(name !== 'needsRehash')
    expect((await passwords.reserve({})) === slot).toBe(name !== 'reserve')
  })

  it.each([undefined, null])('have only time limits when "reserve" returns %s', async (nothing) => {
    const reserve = async () => nothing as never
    const { verify, leave } = await passwordsOf({ ...plain, reserve }).reserve({})
    expect(await verify('secret', 'hash of secret')).toBe(true)
    expect(leave()).toBeUndefined()
  })

  it('hash and verify without a queue', async () => {
    const passwords = passwordsOf(plain)
    const { start, hash, verify, leave } = await passwords.reserve({})
    await start()
    expect(await hash('secret')).toBe('hash of secret')
    expect(await verify('secret', 'hash of secret')).toBe(true)
    expect(await verify('other', 'hash of secret')).toBe(false)
    expect(leave()).toBeUndefined()
    expect(await passwords.needsRehash('x')).toBe(false)
  })

  it('fail after the time limit', async () => {
    const { hash, verify } = await passwordsOf({ hash: () => NEVER, verify: () => NEVER }).reserve({ timeout: 1 })
    await expect(hash('secret')).rejects.toThrow('no result within 1 ms')
    await expect(verify('secret', 'x')).rejects.toThrow('no result within 1 ms')
  })
})

import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createDoorkeeper } from '../../src/tokens/doorkeeper.js'

const token = fc.string({ unit: fc.constantFrom(...'ABCDEFGHabcdefgh01234567-_'), minLength: 0, maxLength: 60 })

it('knows whatever came just before, and nothing that has not come', () => {
  fc.assert(
    fc.property(token, (text) => {
      const comesAgain = createDoorkeeper(1000)
      expect([comesAgain(text), comesAgain(text), comesAgain(text)]).toEqual([false, true, true])
    }),
  )
})

it('tells tokens apart by their ends', () => {
  const comesAgain = createDoorkeeper(100_000)
  const texts = Array.from(
    { length: 1000 },
    (_, i) => `eyJhbGciOiJIUzI1NiJ9.e30.${Buffer.from(`signature ${i * 7919}`).toString('base64url')}`,
  )
  expect(texts.filter(comesAgain).length).toBeLessThan(5)
  expect(texts.filter(comesAgain).length).toBeGreaterThan(950)
})

it('forgets the one whose place is taken', () => {
  const comesAgain = createDoorkeeper(1)
  expect(['one', 'two', 'one'].map(comesAgain)).toEqual([false, false, false])
})

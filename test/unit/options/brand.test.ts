import { expect, it } from 'vitest'
import { brand, hasBrand, markOf } from '../../../src/options/brand.js'

it('marks an object itself, and nothing else', () => {
  const marked = brand('AuthError', {})
  expect(hasBrand('AuthError', marked)).toBe(true)
  expect(hasBrand('VerifiedToken', marked)).toBe(false)
  for (const other of [Object.create(marked), { ...marked }]) expect(hasBrand('AuthError', other)).toBe(false)
  for (const value of [undefined, null, '', 'x', 1, Symbol(), {}, () => {}])
    expect(hasBrand('AuthError', value)).toBe(false)
})

it('adds a value to a mark, which a proxy of the object has too', () => {
  const marked = brand('VerifiedToken', {}, 'provider')
  expect([marked, new Proxy(marked, {})].map((one) => markOf('VerifiedToken', one))).toEqual(['provider', 'provider'])
  expect(markOf('VerifiedToken', brand('VerifiedToken', {}))).toBeUndefined()
})

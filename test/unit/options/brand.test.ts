import { expect, it } from 'vitest'
import { brand, brandOf, brandWith, hasBrand } from '../../../src/options/brand.js'

it('marks objects and functions themselves, and nothing else', () => {
  for (const marked of [brand('Guard', {}), brand('Guard', () => {})]) {
    expect(hasBrand('Guard', marked)).toBe(true)
    expect(hasBrand('Login', marked)).toBe(false)
    for (const other of [Object.create(marked), { ...marked }]) expect(hasBrand('Guard', other)).toBe(false)
  }
  for (const value of [undefined, null, '', 'x', 1, Symbol(), {}, () => {}])
    expect(hasBrand('Guard', value)).toBe(false)
})

it('keeps a value for the marked object, and for no copy of it', () => {
  const guard = brandWith('Guard', () => {}, { realm: 'x' })
  expect(brandOf('Guard', guard)).toEqual({ realm: 'x' })
  expect(brandOf('Guard', new Proxy(guard, {}))).toBeUndefined()
  expect(brandOf('Guard', {})).toBeUndefined()
})

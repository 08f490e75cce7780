import { expect, it } from 'vitest'
import { brand, brandOf, brandWith, hasBrand } from '../../../src/options/brand.js'

it('marks objects and functions themselves, and nothing else', () => {
  for (const marked of [brand('Sessions', {}), brand('Sessions', () => {})]) {
    expect(hasBrand('Sessions', marked)).toBe(true)
    expect(hasBrand('OtherDevices', marked)).toBe(false)
    for (const other of [Object.create(marked), { ...marked }]) expect(hasBrand('Sessions', other)).toBe(false)
  }
  for (const value of [undefined, null, '', 'x', 1, Symbol(), {}, () => {}])
    expect(hasBrand('Sessions', value)).toBe(false)
})

it('keeps a value for the marked object, and for no copy of it', () => {
  const guard = brandWith('Sessions', () => {}, { realm: 'x' })
  expect(brandOf('Sessions', guard)).toEqual({ realm: 'x' })
  expect(brandOf('Sessions', new Proxy(guard, {}))).toBeUndefined()
  expect(brandOf('Sessions', {})).toBeUndefined()
})

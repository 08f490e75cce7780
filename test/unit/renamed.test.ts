import * as entry from 'express-token-endpoint'
import { expect, it } from 'vitest'
import * as renamed from '../../src/renamed.js'
import { expectMisuse } from '../support/failures.js'

it.each(Object.entries(renamed))('%s throws a TypeError that names what to do, for every call', (name, stub) => {
  expect(Object.entries(entry)).toContainEqual([name, stub])
  for (const args of [[], [{}], [{ url: 'x' }, 'y']])
    expectMisuse(() => stub(...args), new RegExp(`^${name} is (gone\\b|now )`))
})

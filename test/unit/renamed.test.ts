// Tests stores/renamed.ts testing/renamed.ts
import * as entry from 'express-token-endpoint'
import * as kysely from 'express-token-endpoint/kysely'
import * as redis from 'express-token-endpoint/redis'
import * as testing from 'express-token-endpoint/testing'
import { expect, it } from 'vitest'
import * as renamed from '../../src/renamed.js'
import * as stores from '../../src/stores/renamed.js'
import * as contracts from '../../src/testing/renamed.js'
import { expectMisuse } from '../support/failures.js'
import { ISSUER, SECRET } from '../support/fixtures.js'

const RENAMED = Object.entries({ ...renamed, ...stores, ...contracts })

it.each(RENAMED)('%s throws a TypeError that names what to do, for every call', (name, stub) => {
  expect(Object.entries({ ...entry, ...redis, ...kysely, ...testing })).toContainEqual([name, stub])
  for (const args of [[], [{}], [{ url: 'x' }, 'y']])
    expectMisuse(() => stub(...args), new RegExp(`^${name} is (gone\\b|now )`))
})

it('auth.throttle throws a TypeError that names auth.limits, and a listing of the members does not call it', () => {
  const auth = entry.createAuth({ issuer: ISSUER, keys: { alg: 'HS256', secret: SECRET }, accounts: () => undefined })
  expect(Object.keys(auth)).not.toContain('throttle')
  expectMisuse(() => Object(auth).throttle, /^auth\.throttle is now auth\.limits\b/)
})

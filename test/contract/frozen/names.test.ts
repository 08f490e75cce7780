import { expect, it } from 'vitest'
import { breaks, exportedNames, type Names, namesOfRequests } from './names.js'
import { freeze, NEWEST, read } from './releases.js'

const BREAKING = 'breaking: needs a major version'

it(`no exported name, option, member or value of ${NEWEST} is gone`, () => {
  const names = exportedNames()
  freeze('exports', names)
  expect(breaks(read<Names>(NEWEST, 'exports'), names), BREAKING).toEqual([])
})

it(`no code, endpoint, status, option of the command or row of ${NEWEST} is gone`, () => {
  const names = namesOfRequests()
  freeze('names', names)
  expect(breaks(read<Names>(NEWEST, 'names'), names), BREAKING).toEqual([])
})

it('a name that is gone, renamed or required is breaking, and a new one is not', () => {
  const frozen = { createAuth: { 'store?': {}, issuer: {} }, status: '200' }
  expect(breaks(frozen, { createAuth: { 'store?': {}, issuer: {}, 'more?': {} }, status: '200', other: {} })).toEqual(
    [],
  )
  expect(breaks(frozen, { createAuth: { store: {}, 'issuer?': {} } })).toEqual([
    'createAuth › store? is no longer optional',
    'createAuth › issuer may be absent now',
    'status: "200" is now "undefined"',
  ])
  expect(breaks({ Options: { mode: {} } }, { Options: { 'mode?': {} } })).toEqual([])
  expect(breaks(frozen, { renamed: {}, status: '200' })).toEqual(['createAuth is gone'])
})

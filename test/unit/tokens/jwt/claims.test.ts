import { describe, expect, it } from 'vitest'
import { readClaims } from '../../../../src/tokens/jwt/claims.js'
import { goodParts, ISSUER } from '../../../support/fixtures.js'

const now = 1_772_366_400
const { payload } = goodParts(now)
const expected = { issuer: ISSUER, audience: ISSUER, now: now * 1000, tolerance: 0 }

describe('readClaims', () => {
  it.each([
    ['null', null],
    ['undefined', undefined],
    ['text', JSON.stringify(payload)],
    ['a number', 7],
    ['an array', [payload]],
    ['an array with all the claims on it', Object.assign([], payload)],
  ])('refuses a payload that is no object: %s', (_, value) => {
    expect(readClaims(value, expected)).toBe('claims')
  })

  it.each([
    ['the environment before the audience', { iss: 'https://a.example', aud: 'b' }, 'issuer'],
    ['the environment before the times', { iss: 'https://a.example', iat: 0, exp: 1 }, 'issuer'],
    ['the audience before the times', { aud: 'b', iat: 0, exp: 1 }, 'audience'],
    ['the types before all', { iss: 'https://a.example', jti: 7 }, 'claims'],
  ])('names %s', (_, changes, reason) => {
    expect(readClaims({ ...payload, ...changes }, expected)).toBe(reason)
  })
})

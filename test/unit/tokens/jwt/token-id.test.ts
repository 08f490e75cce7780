import { describe, expect, it } from 'vitest'
import { createTokenId, timeOfIssue } from '../../../../src/tokens/jwt/claims.js'

const NOW = 1_772_366_400_123
const SECONDS = 1_772_366_400

describe('the id of a token', () => {
  it.each([
    [0, /^00000000-0000-7/],
    [999, /^00000000-03e7-7/],
    [0xffff, /^00000000-ffff-7/],
    [0x10000, /^00000001-0000-7/],
    // The example of RFC 9562 appendix A.6.
    [0x17f22e279b0, /^017f22e2-79b0-7/],
    [2 ** 48 - 1, /^ffffffff-ffff-7/],
  ])('is a UUID of version 7 that begins with the time: %i', (time, start) => {
    const id = createTokenId(time)
    expect(id).toMatch(start)
    expect(id).toMatch(/^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/)
    expect(timeOfIssue(id, Math.floor(time / 1000))).toBe(time)
  })

  it('has 74 random bits, so that nobody guesses the id of another token of the same millisecond', () => {
    const ids = Array.from({ length: 400 }, () => createTokenId(NOW).replaceAll('-', ''))
    const bits = ids.map((id) =>
      Array.from(id, (digit) => Number.parseInt(digit, 16).toString(2).padStart(4, '0')).join(''),
    )
    const ones = Array.from({ length: 128 }, (_, at) => bits.filter((text) => text[at] === '1').length)
    // A fair bit is outside of this range once in 10 ** 15 runs.
    expect(ones.filter((count) => count > 120 && count < 280)).toHaveLength(74)
    expect(ones.slice(0, 52).every((count) => count === 0 || count === 400)).toBe(true)
    expect(new Set(ids).size).toBe(400)
  })
})

describe('the time of issue', () => {
  const id = createTokenId(NOW)

  it('has the milliseconds of the id', () => {
    expect(timeOfIssue(id, SECONDS)).toBe(NOW)
  })

  it.each([
    ['contradicts iat by a second', id, SECONDS + 1],
    ['contradicts iat by a second', id, SECONDS - 1],
    ['contradicts iat by a year', createTokenId(NOW + 31_536_000_000), SECONDS],
    ['has no time that a UUID can hold', createTokenId(8.64e15), SECONDS],
    ['is in upper case', id.toUpperCase(), SECONDS],
    ['has another version', id.replace('-7', '-4'), SECONDS],
    ['is part of a text', `${id}0`, SECONDS],
    ['is another text', 'jti-1', SECONDS],
  ])('is the start of the second of iat when the id %s', (_, jti, iat) => {
    expect(timeOfIssue(jti, iat)).toBe(iat * 1000)
  })
})

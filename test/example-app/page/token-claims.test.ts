import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { claimRows, claimsOf } from '../../../example-app/page/token-claims.js'

const tokenOf = (claims: unknown) => `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.c2ln`

describe('the claims of a token', () => {
  test('are read, whatever text they hold', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.nat(), fc.nat(), (name, iat, exp) => {
        expect(claimsOf(tokenOf({ name, iat, exp }))).toEqual({ name, iat, exp })
      }),
    )
  })

  test.each([
    ['no token', 'opaque'],
    ['nothing', ''],
    ['no object', tokenOf(null)],
    ['no JSON', `e30.${Buffer.from('{').toString('base64url')}.c2ln`],
    ['no UTF-8', `e30.${Buffer.from('{"iat":1,"exp":2,"x":"\xff"}', 'latin1').toString('base64url')}.c2ln`],
    ['no base64url', 'e30.{}.c2ln'],
  ])('%s: none', (_what, token) => {
    expect(claimsOf(token)).toEqual({})
  })
})

describe('the rows to show', () => {
  test('known claims first and in plain words, times as times, the account’s own behind them', () => {
    const claims = { team: ['a', 1], iat: 1_795_203_742, exp: 1_795_207_342, iss: 'https://api.example.com' }
    expect(claimRows({ ...claims, sub: 'acc-1', scope: 'statements:read' })).toEqual([
      { name: 'sub', meaning: 'Account', text: 'acc-1' },
      { name: 'scope', meaning: 'May do', text: 'statements:read' },
      { name: 'iss', meaning: 'Issued by', text: 'https://api.example.com' },
      { name: 'iat', meaning: 'Issued at', text: '2026-11-20T19:42:22.000Z' },
      { name: 'exp', meaning: 'Expires at', text: '2026-11-20T20:42:22.000Z' },
      { name: 'team', meaning: undefined, text: '["a",1]' },
    ])
  })

  test('a claim of the account’s own may have any name', () => {
    const rows = claimRows(JSON.parse('{"constructor":"a","__proto__":"b","toString":"c"}'))
    expect(rows).toEqual([
      { name: 'scope', meaning: 'May do', text: '(nothing)' },
      { name: 'constructor', meaning: undefined, text: 'a' },
      { name: '__proto__', meaning: undefined, text: 'b' },
      { name: 'toString', meaning: undefined, text: 'c' },
    ])
  })

  test('tell that there is no scope', () => {
    expect(claimRows({ sub: 'acc-2' })).toContainEqual({ name: 'scope', meaning: 'May do', text: '(nothing)' })
  })

  test('a time that is none is shown as it is', () => {
    expect(claimRows({ nbf: 'soon', iat: 1e300 }).map(({ text }) => text)).toEqual(['(nothing)', '1e+300', 'soon'])
  })
})

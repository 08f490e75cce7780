import { type AuthOptions, memoryStore } from 'express-token-endpoint'
import { describe, expect, it } from 'vitest'
import { originsOfCookie, refreshCookieOption } from '../../../src/login/refresh-cookie-options.js'
import { authWith } from '../../support/auth.js'
import { ACCOUNTS, SECRET } from '../../support/fixtures.js'

const PAGE = 'https://app.example.net'
const NONE = { sameSite: 'none' } as const

const create = (refresh: unknown, more: Partial<AuthOptions> = {}) =>
  authWith({
    accounts: { findByEmail: () => ACCOUNTS.alice, findById: () => ACCOUNTS.alice },
    store: memoryStore(),
    secret: SECRET,
    refresh: refresh as AuthOptions['refresh'],
    ...more,
  })

describe('the option refresh.cookie', () => {
  it.each([
    [{}, 'SameSite=Strict', false],
    [{ sameSite: 'strict', partitioned: false }, 'SameSite=Strict', false],
    [NONE, 'SameSite=None; Partitioned', true],
    [{ ...NONE, partitioned: true }, 'SameSite=None; Partitioned', true],
    [{ ...NONE, partitioned: false }, 'SameSite=None', true],
  ])('%o gives the attributes %s', (given, sites, ofEverySite) => {
    expect(refreshCookieOption(given)).toMatchObject({ sites, ofEverySite })
  })

  it('names the only origins of a cookie of every site', () => {
    const allowedOrigins = new Set([PAGE, 'capacitor://localhost', 'http://localhost:5173'])
    expect(originsOfCookie({ ofEverySite: true }, allowedOrigins)).toBe(allowedOrigins)
    expect(originsOfCookie({ ofEverySite: false }, allowedOrigins)).toBeUndefined()
  })

  it.each<[string, unknown, Partial<AuthOptions>, string]>([
    ['no origin', { cookie: NONE }, {}, 'needs "allowedOrigins"'],
    ['no origin in the list', { mode: 'cookie', cookie: NONE }, { allowedOrigins: [] }, 'needs "allowedOrigins"'],
    ['an origin with http', { cookie: NONE }, { allowedOrigins: [PAGE, 'http://app.example.net'] }, 'Use https'],
    ['every origin', { cookie: NONE }, { allowedOrigins: ['*'] }, 'List every origin'],
    ['the origin null', { cookie: NONE }, { allowedOrigins: ['null'] }, '"allowedOrigins" must be'],
    ['an issuer with http', { cookie: NONE }, { issuer: 'http://api.example.com', allowedOrigins: [PAGE] }, '"issuer"'],
    ['the mode body', { mode: 'body', cookie: NONE }, { allowedOrigins: [PAGE] }, '"cookie" needs "mode"'],
    ['no mode and no cookie', { idle: '1d' }, {}, 'option "mode" must be'],
    ['partitioned without none', { cookie: { partitioned: true } }, {}, '"partitioned" needs "sameSite"'],
    ['another sameSite', { cookie: { sameSite: 'lax' } }, {}, "must be 'strict' or 'none'"],
    ['another partitioned', { cookie: { ...NONE, partitioned: 1 } }, { allowedOrigins: [PAGE] }, 'true or false'],
    ['another path', { cookie: { path: '/app' } }, {}, "must be '/'"],
    ['an unknown member', { cookie: { samesite: 'none' } }, {}, 'unknown option "samesite"'],
    ['text', { cookie: 'none' }, {}, 'expected an options object'],
  ])('throws for %s', (_, refresh, more, message) => {
    const error = expect(() => create(refresh, more))
    error.toThrow(TypeError)
    expect(() => create(refresh, more)).toThrow(message)
  })

  it.each([
    ['without a mode', { cookie: NONE }, {}],
    ['with a function', { mode: () => 'cookie', cookie: NONE }, {}],
    ['at an issuer on loopback', { cookie: NONE }, { issuer: 'http://localhost:3000' }],
  ])('is accepted %s', (_, refresh, more) => {
    expect(create(refresh, { ...more, allowedOrigins: [PAGE] }).openApi.refresh).toBe(
      'mode' in refresh ? true : 'cookie',
    )
  })
})

// Tests guard/verifiers-option.ts

import { createTokenVerifier, type VerifiedToken } from 'express-token-endpoint'
import { describe, expect, it } from 'vitest'
import { type RequireBearerOptions, readRequireBearerOptions } from '../../../src/guard/require-bearer-options.js'
import { assertNoBearerOption } from '../../../src/passport/bearer-strategy.js'
import { expectMisuse, thrownBy } from '../../support/failures.js'
import { ISSUER, makeIssuer, SECRET } from '../../support/fixtures.js'
import { memorySessions } from '../../support/sessions.js'

const tokens = makeIssuer()
const read = (options: object) =>
  readRequireBearerOptions('requireBearer', { tokens, ...options } as RequireBearerOptions)

it('has defaults: any scope, any age, no look-up, the issuer as the realm', () => {
  expect(read({})).toEqual({
    tokens: expect.objectContaining({ realm: ISSUER }),
    scope: [],
    anyScope: undefined,
    signedInWithin: undefined,
    secondFactor: false,
    acting: true,
    accounts: undefined,
    isRevoked: undefined,
    store: undefined,
    allow: undefined,
    scheme: expect.objectContaining({ name: 'Bearer' }),
    tokenFrom: undefined,
    optional: false,
    realm: ISSUER,
    timeout: 5000,
    onEvent: undefined,
    refuse: undefined,
  })
  expect(read({ realm: 'reports' }).realm).toBe('reports')
})

it('takes the name of a scheme', () => {
  expect(read({ scheme: 'Token-2' }).scheme).toMatchObject({ name: 'Token-2' })
})

it('takes a store, of which it needs only the sessions', () => {
  const sessions = memorySessions()
  expect(read({ store: { sessions } }).store).toBe(sessions)
})

it('refuses its own options in passport.authenticate(), and leaves those of Passport alone', () => {
  expect(() => assertNoBearerOption({ session: false, failWithError: true, audience: 'api' })).not.toThrow()
  const names =
    'tokens scope anyScope signedInWithin secondFactor acting accounts isRevoked store optional allow scheme tokenFrom realm scopes requiredScopes'
  for (const option of names.split(' ')) {
    const message = `BearerStrategy: passport.authenticate() does not take "${option}". Pass it to new BearerStrategy({ ${option} })`
    expectMisuse(() => assertNoBearerOption({ session: false, [option]: undefined }), message)
  }
})

it.each(['scope', 'anyScope'])('refuses %s with the value undefined, which a misspelt name has', (option) => {
  const message = `option "${option}" is undefined. Check the spelling of its value. To require no scope, omit the option`
  expectMisuse(() => read({ [option]: undefined }), `requireBearer: ${message}`)
  expect(read(Object.create({ [option]: undefined }))).toMatchObject({ scope: [], anyScope: undefined })
})

it.each([
  ...'issuer secret secretOrKey algorithms'.split(' ').map((name) => [name, 'tokens']),
  ...['scopes', 'requiredScopes'].map((theirs) => [theirs, 'scope']),
  ['maxAge', 'signedInWithin'],
  ['account', 'accounts'],
  ['revoked', 'isRevoked'],
  ['sessions', 'store'],
  ...['getToken', 'jwtFromRequest'].map((theirs) => [theirs, 'tokenFrom']),
  ['credentialsRequired', 'optional'],
])('knows the option %s of other packages, and names its own: %s', (theirs = '', own = '') => {
  const message = `unknown option "${theirs}". Did you mean "${own}"?`
  expectMisuse(() => read({ [theirs]: 1 }), `requireBearer: ${message}`)
})

it('says what has replaced forwardErrors', () => {
  const message =
    'unknown option "forwardErrors". Pass refuse(error, req, next), which returns { status, body } or calls next() with'
  expectMisuse(() => read({ forwardErrors: 'all' }), `requireBearer: ${message}`)
})

it.each(['role', 'roles', 'permissions'])('says how to require what others call %s', (theirs) => {
  const message = `unknown option "${theirs}". Pass its name as "scope", and return it in the "scopes" of the account`
  expectMisuse(() => read({ [theirs]: 'admin' }), `requireBearer: ${message}`)
})

it('says what replaces resourceMetadata', () => {
  const message = 'unknown option "resourceMetadata". It is gone: clients also look for the metadata (RFC 9728) at its'
  expectMisuse(() => read({ resourceMetadata: 'https://api.example.com' }), `requireBearer: ${message}`)
})

it('takes the verifiers of 32 issuers', () => {
  const issuers = Array.from({ length: 32 }, (_, i) => `i${i}`)
  const { ofToken } = read({ tokens: issuers.map((issuer) => ({ ...tokens, issuer })) }).tokens
  expect(issuers.map((issuer) => ofToken({ issuer } as VerifiedToken).issuer)).toEqual(issuers)
})

describe('an invalid option is refused with a message that says what it must be', () => {
  const VERIFIER = 'must be what createTokenIssuer() or createTokenVerifier() returned, but is an object'
  const MANY = Array.from({ length: 33 }, (_, i) => ({ ...tokens, issuer: `i${i}` }))
  const SESSIONS =
    'must be memoryStore(), or an object { sessions } whose "sessions" have "add", "find", "list", "remove", "removeAll", "touch", but is'
  const SAME = 'Two of them have the same issuer. To use several keys of one issuer, pass all the keys to one verifier'
  const STORE = 'must be a store with "findById", but is'
  const SCOPES =
    "must be scope tokens, like 'reports:read' or ['reports:read', 'reports:write'] (RFC 6749 section 3.3), but is"
  const AGE = "must be a number of seconds or a string like '15m', '1h' or '30 days', from 1 second to 366 days, but is"
  const NO_EMAIL =
    'A look-up by email address cannot find the account of a token. Pass a store with "findById", or omit "accounts"'
  it.each<[string, unknown, string]>([
    ['tokens', { verify: () => {} }, VERIFIER],
    ['tokens', { issuer: ISSUER }, VERIFIER],
    ['tokens', { issuer: ISSUER, keys: SECRET }, VERIFIER],
    ['tokens', [], 'must be a list of 1 to 32 verifiers, but is an empty array'],
    ['tokens', MANY, 'must be a list of 1 to 32 verifiers, but is an array'],
    ['tokens', [tokens, null], VERIFIER.replace('an object', 'an array')],
    ['tokens', [tokens, { verify() {} }], VERIFIER.replace('an object', 'an array')],
    ['tokens', [tokens, makeIssuer()], `must be a list of verifiers with different issuers, but is an array. ${SAME}`],
    ['tokens', null, VERIFIER.replace('an object', 'null')],
    ['tokens', undefined, VERIFIER.replace('but is an object', 'but is missing')],
    ['tokens', createTokenVerifier, VERIFIER.replace('an object', 'a function')],
    ['scope', ' ', `${SCOPES} a string of 1 characters`],
    ['anyScope', '', `${SCOPES} an empty string`],
    ['anyScope', [], `${SCOPES} an empty array`],
    ['signedInWithin', '0s', `${AGE} a string of 2 characters`],
    ['signedInWithin', '367 days', `${AGE} a string of 8 characters`],
    ['optional', 'true', "must be true, false or 'lenient', but is a string of 4 characters"],
    ['accounts', {}, `${STORE} an object. ${NO_EMAIL}`],
    ['accounts', { findByEmail() {} }, `${STORE} an object. ${NO_EMAIL}`],
    ['accounts', { findByPk() {} }, `${STORE} an object. Did you mean "findById" instead of "findByPk"?`],
    ['accounts', () => null, `${STORE} a function. ${NO_EMAIL}`],
    ['accounts', 7, `${STORE} a number`],
    ['allow', true, 'must be a function (req, account, auth) => boolean, but is true'],
    [
      'scheme',
      'My Token',
      "must be the name of a scheme, like 'Token', or a list of 1 to 4, but is a string of 8 characters",
    ],
    ['tokenFrom', 'cookie', 'must be a function (req) => token, but is a string of 6 characters'],
    ['isRevoked', true, 'must be a function (auth) => boolean, but is true'],
    ['store', memorySessions(), `${SESSIONS} an object. Pass { sessions } with this object`],
    ['store', {}, `${SESSIONS} an object`],
    ['store', { sessions: {} }, `${SESSIONS} an object`],
    ['store', 7, `${SESSIONS} a number`],
    ['realm', 'a\tb', 'must be printable ASCII text, but is a string of 3 characters'],
    ['realm', 'é', 'must be printable ASCII text, but is a string of 1 characters'],
    ['realm', '', 'must be printable ASCII text, but is an empty string'],
  ])('%s: %j', (name, value, says) => {
    const expected = `requireBearer: option "${name}" ${says}`
    const { message } = thrownBy(() => read({ [name]: value })) as Error
    expect(message.split(/\.? See /)[0]).toBe(expected)
    expect(message).not.toContain(SECRET)
  })

  it('the issuer of a custom verifier, where it is the default of the realm', () => {
    const custom = { ...tokens, issuer: 'a\nb' }
    const message = '"tokens.issuer", the default of "realm", must be printable ASCII text, but is a string of'
    expectMisuse(() => read({ tokens: custom }), `requireBearer: ${message}`)
    expect(read({ tokens: custom, realm: 'reports' }).realm).toBe('reports')
  })
})

// Tests login/credentials-options.ts passport/login-strategy-options.ts tokens/issuer-option.ts

import { argon2id, createTokenVerifier, type TokenRouterOptions, tokenRouter } from 'express-token-endpoint'
import { describe, expect, it } from 'vitest'
import { type CredentialsOptions, credentialsSchema } from '../../../src/login/credentials-options.js'
import { readOptions } from '../../../src/options/read-options.js'
import { expectMisuse } from '../../support/failures.js'
import { ACCOUNTS, countingHasher, ISSUER, makeIssuer, makeStore, SECRET } from '../../support/fixtures.js'

const tokens = makeIssuer()
const accounts = () => null
const create = (options: object) => tokenRouter({ tokens, accounts, ...options } as TokenRouterOptions)
const read = (options: CredentialsOptions) =>
  readOptions<CredentialsOptions, typeof credentialsSchema>('tokenRouter', options, credentialsSchema)

it('has defaults: 10 kB, no other origins', () => {
  expect(read({})).toMatchObject({ bodyLimit: 10_240, allowedOrigins: new Set() })
})

it.each([
  [1, 1],
  [1_048_576, 1_048_576],
  ['1024', 1024],
  ['1b', 1],
  ['10 KB', 10_240],
  ['1mb', 1_048_576],
  ['1.25kb', 1280],
])('reads the bodyLimit %j as %i bytes', (bodyLimit, bytes) => {
  expect(read({ bodyLimit }).bodyLimit).toBe(bytes)
})

it.each([
  ...[0, -1, 1.5, Number.NaN, Infinity, 1_048_577, true, null, {}, [10], '', '10 000', '10 kilobytes', ' 1kb'],
  ...'0 2mb 1gb -1kb +1kb 0.5b ten kb 10kib 1e3 10kb!'.split(' '),
])('refuses the bodyLimit %j', (bodyLimit) => {
  const says = `"bodyLimit" must be a number of bytes or a string like '10kb', from 1 byte to 1 MB`
  expectMisuse(() => create({ bodyLimit }), `tokenRouter: option ${says}`)
})

describe('the option allowedOrigins', () => {
  it.each([
    [[]],
    [['https://app.example.com', 'http://localhost:5173', 'https://xn--bcher-kva.example', 'https://[::1]:3000']],
    [['capacitor://localhost', 'chrome-extension://abcdefghijklmnop']],
  ])('takes origins: %j', (allowedOrigins) => {
    expect(read({ allowedOrigins }).allowedOrigins).toEqual(new Set(allowedOrigins))
  })

  it.each([
    ...['https://app.example.com/', 'https://app.example.com/login', 'https://app.example.com:443', 'http://a b'],
    ...['https://App.example.com', 'https://bücher.example', 'https://user@app.example.com', 'app.example.com', 'null'],
    ...['*', 'https://', 'https://[::1', 'blob:https://app.example.com', 7, null],
    ...['mailto:a@example.com', 'capacitor://localhost/x', ' capacitor://localhost', ['capacitor://localhost']],
  ])('refuses %j', (origin) => {
    const says = /^tokenRouter: option "allowedOrigins" must be an array of origins.*but is an array whose item 2 is /
    expectMisuse(() => create({ allowedOrigins: ['https://app.example.com', origin] }), says)
  })

  it.each([
    ['https://app.example.com/', 'a string of 24 characters. Remove the slash and everything after it'],
    ['https://app.example.com:443', 'a string of 27 characters. Remove the default port'],
    ['https://App.example.com', 'a string of 23 characters. Write the origin in lower case'],
    ['app.example.com', 'a string of 15 characters. Is "https://" missing?'],
    ['*', 'a string of 1 characters. List every origin, because "\\*" would let any page send credentials'],
    ['https://bücher.example', 'a string of 22 characters. Write origins in lower case'],
    [7, 'a number. Write origins in lower case'],
  ])('says what is wrong in the array: %j', (origin, says) => {
    expectMisuse(
      () => create({ allowedOrigins: [origin] }),
      new RegExp(`an array whose item 1 is ${says.replace('?', '\\?')}`),
    )
  })

  it.each(['https://app.example.com', new Set(['https://app.example.com']), true, null])(
    'refuses what is no array: %j',
    (allowedOrigins) => {
      expectMisuse(() => create({ allowedOrigins }), 'tokenRouter: option "allowedOrigins" must be an array of origins')
    },
  )
})

const ISSUERS = '"tokens" must be what createTokenIssuer() returned'
const STORE = '"accounts" must be'
const NAMES = '"extraFields" must be an array of member names'
const PASSWORDS = '"passwords" must be what createPasswords() returned'
const LIMITS = '"limits" must be what createLimits() returned, or false'
const verifier = createTokenVerifier({ issuer: ISSUER, keys: { alg: 'HS256', secret: SECRET } })

it.each<[string, unknown, string | RegExp]>([
  ['tokens', undefined, /"tokens" must be what createTokenIssuer\(\) returned, but is missing$/],
  ['tokens', null, `${ISSUERS}, but is null`],
  ['tokens', verifier, /"tokens".*createTokenIssuer.*verifier/i],
  ['tokens', SECRET, ISSUERS],
  ['tokens', { issuer: ISSUER, keys: SECRET }, ISSUERS],
  ['tokens', { issue: accounts }, ISSUERS],
  ['tokens', { now: accounts }, ISSUERS],
  ['accounts', undefined, /"accounts" .*missing/],
  ['accounts', null, STORE],
  ['accounts', [ACCOUNTS.alice], /"accounts" must be .*, but is an array$/],
  ['accounts', { findById: accounts }, /"accounts" must be .* a store with "findByEmail", but is an object$/],
  ['accounts', { findByUsername: accounts }, 'Did you mean "findByEmail" instead of "findByUsername"?'],
  [
    'accounts',
    new (class {
      async getUserByEmail() {}
    })(),
    'Did you mean "findByEmail" instead of "getUserByEmail"?',
  ],
  ['accounts', Promise.resolve(makeStore()), /"accounts".*await/],
  [
    'passwords',
    { verify: accounts },
    `${PASSWORDS}, but is an object. Pass hashers to createPasswords({ hashers: [...] })`,
  ],
  ['passwords', { hash: accounts }, PASSWORDS],
  ['passwords', argon2id(), 'Pass hashers to createPasswords({ hashers: [...] })'],
  ['passwords', { accepts: accounts, verify: accounts }, PASSWORDS],
  ['passwords', [countingHasher()], PASSWORDS],
  ['passwords', accounts, PASSWORDS],
  ['passwords', null, PASSWORDS],
  ['limits', true, LIMITS],
  ['limits', null, LIMITS],
  ['limits', { consume: accounts }, `${LIMITS}, but is an object. Custom limits are no longer called.`],
  ['limits', { limits: {} }, 'Pass the object to createLimits() first'],
  ['path', '/:id', '"path" must be a path'],
  ['emailInEvents', 1, '"emailInEvents" must be true or false'],
  ['extraFields', 'code', `${NAMES}, like ['code', 'device']`],
  ['extraFields', [''], NAMES],
  ['extraFields', [7], NAMES],
  ['extraFields', ['code', 7], NAMES],
  [
    'extraFields',
    ['code', 'email'],
    `without "email" and "password", but is an array. To rename these members, pass "`,
  ],
  ['extraFields', ['password'], `without "email" and "password", but is an array. To rename these members, pass "`],
  [
    'beforeSignIn',
    true,
    '"beforeSignIn" must be a function ({ account, method, amr, fields, req, signal }) => …, but is true',
  ],
  ['credentials', true, '"credentials" must be a function (body, req) => ({ email, password }), but is true'],
  ['respond', {}, '"respond" must be a function, but is'],
  ['colour', SECRET, 'unknown option "colour"'],
])('names what is wrong with %s: %j', (name, value, says) => {
  expectMisuse(() => create({ [name]: value }), /^tokenRouter: /)
  expectMisuse(() => create({ [name]: value }), says, [SECRET])
})

it.each([
  ['issuer', 'tokens'],
  ['account', 'accounts'],
  ['limitKey', 'tenant'],
  ['afterPassword', 'beforeSignIn'],
])('knows the option %s of other packages, and names its own: %s', (theirs = '', own) => {
  expectMisuse(() => create({ [theirs]: SECRET }), `unknown option "${theirs}". Did you mean "${own}"?`, [SECRET])
})

it.each(['fields', 'usernameField', 'passwordField'])('says what replaces the option %s', (name) => {
  const says = `unknown option "${name}". Pass "credentials": ({ username, password }) => ({ email: username, password })`
  expectMisuse(() => create({ [name]: SECRET }), says, [SECRET])
})

it.each([
  ...['expiresIn', 'lifetime', 'ttl'].map((theirs) => [theirs, 'lifetime']),
  ...['secret', 'keys', 'privateKey', 'secretOrKey'].map((theirs) => [theirs, 'keys']),
])('says that the issuer has the option %s', (theirs = '', own) => {
  const says = `tokenRouter: unknown option "${theirs}". Pass "${own}" to createTokenIssuer(), and the issuer as "tokens"`
  expectMisuse(() => create({ [theirs]: SECRET }), says, [SECRET])
})

it.each(['sessions', 'sessionLabel', 'refresh'])('says that createAuth has the option %s', (name) => {
  const says = `tokenRouter: unknown option "${name}". Use createAuth(), which has sessions and refresh tokens`
  expectMisuse(() => create({ [name]: SECRET }), says, [SECRET])
})

it('says that createAuth shares its login, for the option logIn', () => {
  const says = 'tokenRouter: unknown option "logIn". Use createAuth(), whose auth.logIn and auth.router share one login'
  expectMisuse(() => create({ logIn: accounts }), says)
})

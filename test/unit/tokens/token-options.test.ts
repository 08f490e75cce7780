import { createTokenIssuer, createTokenVerifier } from 'express-token-endpoint'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { expectMisuse } from '../../support/failures.js'
import { ISSUER, SECRET } from '../../support/fixtures.js'

const keys = { alg: 'HS256', secret: SECRET, kid: 'k1' } as const
const MAKERS = [
  ['createTokenIssuer', createTokenIssuer],
  ['createTokenVerifier', createTokenVerifier],
] as const

describe.each(MAKERS)('%s', (caller, create) => {
  const make = (options: object) => () => create({ issuer: ISSUER, keys, ...options } as never)

  it('holds frozen what it was given, and is not changed by a later change of it', () => {
    const options = { issuer: ISSUER, keys, audience: 'a' }
    const made = create(options)
    options.audience = 'b'
    expect(made.audience).toBe('a')
    expect(Object.isFrozen(made)).toBe(true)
  })

  it('takes undefined for absent, and does not change the caller’s object', () => {
    const options = Object.freeze({
      issuer: ISSUER,
      keys,
      audience: undefined,
      clockTolerance: undefined,
      clock: undefined,
    })
    expect(create(options as never)).toMatchObject({ issuer: ISSUER, audience: ISSUER })
    expect(options).toEqual({ issuer: ISSUER, keys })
  })

  it.each([
    ['host alone', 'api.example.com', 'Is "https://" missing?'],
    ['host and path alone', 'api.example.com/house', 'Is "https://" missing?'],
    ['path alone', '/api', ''],
    ['scheme alone', 'https://', ''],
    ['one slash', 'https:/api.example.com', ''],
    ['no slash', 'https:api.example.com', ''],
    ['no scheme', '//api.example.com', ''],
    ['ftp', 'ftp://api.example.com', ''],
    ['file', 'file:///etc', ''],
    ['URN', 'urn:example:api', ''],
    ['javascript', 'javascript:alert(1)', ''],
    ['query', `${ISSUER}?a=1`, ''],
    ['empty query', `${ISSUER}?`, ''],
    ['fragment', `${ISSUER}#a`, ''],
    ['empty fragment', `${ISSUER}/#`, ''],
    ['user', 'https://user@api.example.com', ''],
    ['user and password', 'https://user:hunter2@api.example.com', ''],
    ['password', 'https://:hunter2@api.example.com', ''],
    ['space before', ` ${ISSUER}`, ''],
    ['space behind', `${ISSUER} `, ''],
    ['space in its path', `${ISSUER}/a b`, ''],
    ['line break behind', `${ISSUER}\n`, ''],
    ['backslash', `${ISSUER}\\a`, ''],
    ['bad port', 'https://api.example.com:99999', ''],
    ['bad host', 'https://a b', ''],
    ['empty string', '', ''],
    ['missing', undefined, ''],
    ['null', null, ''],
    ['number', 7, ''],
    ['URL object', new URL(ISSUER), ''],
    ['list', [ISSUER], ''],
  ])('refuses an issuer that is no base URL: %s', (_, issuer, hint) => {
    const says = `${caller}: option "issuer" must be an absolute http or https URL without query and fragment`
    expectMisuse(make({ issuer }), says, ['hunter2'])
    if (hint) expectMisuse(make({ issuer }), hint)
  })

  it.each([
    ['api.example.com:8443', 'Is "https://" missing?'],
    ['localhost:3000/api', 'Is "https://" missing?'],
    [undefined, 'Is an environment variable not set?'],
  ])('says what the issuer %j probably lacks', (issuer, hint) => {
    expectMisuse(make({ issuer }), hint)
  })

  it.each([null, '', 7, 'ftp://api.example.com', '/api', 'https://', `${ISSUER}?a=1`])(
    'guesses nothing about the issuer %j',
    (issuer) => {
      expectMisuse(make({ issuer }), /like 'https:\/\/api\.example\.com', but is [^.]+$/)
    },
  )

  it.each([
    ['audience', 'a non-empty string', ['', null, 7, ['a'], {}]],
    ['clockTolerance', 'a number of seconds', [-1, 61, '61s', '2m', 'soon', '', null, Number.NaN, true, '30', 30_000]],
    ['clock', 'a function', [null, 0, Date.now(), new Date(0), 'now', {}]],
  ])('refuses a value of the wrong kind: %s must be %s', (name, kind, values) => {
    for (const value of values) expectMisuse(make({ [name]: value }), `${caller}: option "${name}" must be ${kind}`)
  })

  it.each([0, 60, '0s', '60s', '1m', '500 ms', 0.5])('takes the clockTolerance %j', (clockTolerance) => {
    expect(make({ clockTolerance })).not.toThrow()
  })

  it.each([
    ['secret', 'keys'],
    ['secretOrKey', 'keys'],
    ['key', 'keys'],
    ['privateKey', 'keys'],
    ['publicKey', 'keys'],
    ['algorithm', 'keys'],
    ['algorithms', 'keys'],
    ['jwks', 'keys'],
    ['jwksUri', 'keys'],
    ['Keys', 'keys'],
    ['iss', 'issuer'],
    ['issuerBaseURL', 'issuer'],
    ['baseUrl', 'issuer'],
    ['issuers', 'issuer'],
    ['aud', 'audience'],
    ['leeway', 'clockTolerance'],
    ['skew', 'clockTolerance'],
    ['clock_tolerance', 'clockTolerance'],
    ['now', 'clock'],
    ['cacheSize', 'cache'],
  ])('refuses the unknown option %s, and says which is meant', (name, meant) => {
    expectMisuse(make({ [name]: SECRET }), `${caller}: unknown option "${name}". Did you mean "${meant}"?`, [SECRET])
  })

  it('refuses an unknown option that is like none, and says which there are', () => {
    expectMisuse(make({ colour: 1 }), /unknown option "colour"\. Known options: issuer, audience, keys, clockTolerance/)
  })

  it.each([undefined, null, 7, 'x', true, [], [ISSUER]])('refuses what is no options object: %j', (options) => {
    expectMisuse(() => create(options as never), new RegExp(`^${caller}: (expected an options object|option "issuer")`))
  })

  it('makes an object or throws a TypeError of its own, whatever it is given', () => {
    const name = fc.constantFrom('issuer', 'audience', 'keys', 'lifetime', 'clockTolerance', 'clock')
    const value = fc.oneof(fc.anything(), fc.constantFrom(ISSUER, keys, [keys], '1h', 30, Date.now))
    const key = fc.dictionary(fc.constantFrom('alg', 'secret', 'privateKey', 'publicKey', 'kid'), value)
    const options = fc.oneof(fc.anything(), fc.dictionary(name, fc.oneof(value, key, fc.array(key))))
    fc.assert(
      fc.property(options, (given) => {
        try {
          expect(create(given as never)).toBeTypeOf('object')
        } catch (error) {
          expect(error).toBeInstanceOf(TypeError)
          expect((error as Error).message.startsWith(`${caller}: `)).toBe(true)
        }
      }),
      { numRuns: 200 },
    )
  })
})

describe('lifetime', () => {
  const make = (lifetime: unknown) => () => createTokenIssuer({ issuer: ISSUER, keys, lifetime: lifetime as never })

  it.each([1, 3600, '1s', '1h', '90 days', '1y', '366d', 1.5])('takes %j', (lifetime) => {
    expect(make(lifetime)).not.toThrow()
  })

  it.each([0, -1, 0.999, '999ms', '367d', '2y', 3_600_000_000, Number.NaN, Number.POSITIVE_INFINITY, '3600', null, {}])(
    'refuses %j',
    (lifetime) => {
      expectMisuse(make(lifetime), 'createTokenIssuer: option "lifetime" must be a number of seconds or a string')
    },
  )

  it.each([
    ['expiresIn', 'lifetime'],
    ['expiration', 'lifetime'],
    ['exp', 'lifetime'],
    ['ttl', 'lifetime'],
    ['maxAge', 'lifetime'],
    ['life_time', 'lifetime'],
  ])('is what %s means', (name, meant) => {
    const options = { issuer: ISSUER, keys, [name]: '1h' }
    expectMisuse(() => createTokenIssuer(options), `unknown option "${name}". Did you mean "${meant}"?`)
  })

  it('is not the verifier’s affair', () => {
    const options = { issuer: ISSUER, keys, lifetime: '1h' }
    expectMisuse(() => createTokenVerifier(options), 'createTokenVerifier: unknown option "lifetime"')
  })
})

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

  it.each([
    ...'/api https:// https:/api.example.com https:api.example.com //api.example.com file:///etc'.split(' '),
    ...'ftp://api.example.com urn:example:api javascript:alert(1) https://api.example.com:99999'.split(' '),
    ...'https://user@api.example.com https://user:hunter2@api.example.com https://:hunter2@api.example.com'.split(' '),
    ...['?a=1', '?', '?#', '#a', '/#', '/a?b#c', ' ', '/a b', '\n', '\\a', '/? ', '/#\t'].map((end) => ISSUER + end),
    ...[` ${ISSUER}`, 'https://a b', 'https://api.exam\nple.com', '', null, 7, new URL(ISSUER), [ISSUER]],
  ])('refuses an issuer that is no base URL, and guesses nothing: %j', (issuer) => {
    const says = `option "issuer" must be an absolute http or https URL without query and fragment, like '${ISSUER}', but is`
    expectMisuse(make({ issuer }), new RegExp(`^${caller}: ${says} [^.]+$`), ['hunter2'])
  })

  it.each([
    ['api.example.com', 'Is "https://" missing?'],
    ['api.example.com/house', 'Is "https://" missing?'],
    ['api.example.com:8443', 'Is "https://" missing?'],
    ['localhost:3000/api', 'Is "https://" missing?'],
    [undefined, 'Is an environment variable not set?'],
  ])('says what the issuer %j probably lacks', (issuer, hint) => {
    expectMisuse(make({ issuer }), `${caller}: option "issuer" must be an absolute http or https URL`)
    expectMisuse(make({ issuer }), hint)
  })

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

  const MEANT = {
    keys: 'secret secretOrKey privateKey publicKey algorithm algorithms jwksUri Keys',
    issuer: 'issuerBaseURL issuers',
    audience: 'aud',
    clockTolerance: 'clock_tolerance',
    cache: 'cacheSize',
  }
  it.each(Object.entries(MEANT))('says that %s is meant by: %s', (meant, names) => {
    for (const name of names.split(' ')) {
      const says = `${caller}: unknown option "${name}". Did you mean "${meant}"?`
      expectMisuse(make({ [name]: SECRET }), says, [SECRET])
    }
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

  it.each([1, 3600, 86_400, '1s', '1h', '90 days', '1y', '366d', 1.5])('takes %j', (lifetime) => {
    expect(make(lifetime)).not.toThrow()
  })

  it.each([3_600_000, 86_401, 604_800])('is not %i, which are milliseconds', (lifetime) => {
    expectMisuse(make(lifetime), /option "lifetime" must be .*milliseconds.*'7 days'/)
  })

  it.each([0, -1, 0.999, '999ms', '367d', '2y', 3_600_000_000, Number.NaN, Number.POSITIVE_INFINITY, '3600', null, {}])(
    'refuses %j',
    (lifetime) => {
      expectMisuse(make(lifetime), 'createTokenIssuer: option "lifetime" must be a number of seconds or a string')
    },
  )

  it.each(['expiresIn', 'ttl', 'maxAge', 'life_time'])('is what %s means', (name) => {
    const options = { issuer: ISSUER, keys, [name]: '1h' }
    expectMisuse(() => createTokenIssuer(options), `unknown option "${name}". Did you mean "lifetime"?`)
  })

  it('is for an issuer only, as clientId is', () => {
    const empty = () => createTokenIssuer({ issuer: ISSUER, keys, clientId: '' })
    expectMisuse(empty, 'option "clientId" must be a non-empty string')
    const options = { issuer: ISSUER, keys, lifetime: '1h' }
    expectMisuse(() => createTokenVerifier(options), 'createTokenVerifier: unknown option "lifetime"')
  })
})

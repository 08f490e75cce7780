import { createPublicKey, generateKeyPairSync } from 'node:crypto'
import type { Algorithm } from 'express-token-endpoint'
import { describe, expect, it } from 'vitest'
import { readJwkSet } from '../../../../src/tokens/keys/jwk-set.js'
import { thrownBy } from '../../../support/failures.js'
import { ALGORITHMS, SECRET } from '../../../support/fixtures.js'
import { pairOf, weakRsa } from '../../../support/keys.js'

type Jwk = Record<string, unknown>

const PUBLIC = ALGORITHMS.filter((alg) => !alg.startsWith('HS'))
const jwkOf = (alg: Algorithm, more: Jwk = {}, name?: string): Jwk => ({
  ...pairOf(alg, name).publicKey.export({ format: 'jwk' }),
  alg,
  kid: alg,
  use: 'sig',
  ...more,
})
const without = (jwk: Jwk, ...names: string[]) =>
  Object.fromEntries(Object.entries(jwk).filter(([name]) => !names.includes(name)))
const read = (...keys: unknown[]) => readJwkSet(JSON.stringify({ keys }))
const namesIn = (...keys: unknown[]) => [...read(...keys)].map(([kid, key]) => `${kid} ${key.alg}`)

const GOOD = jwkOf('ES256', { kid: 'good' }, 'good')
const EC = jwkOf('ES256')
const RSA = jwkOf('RS256')

describe('a JWK set', () => {
  it('gives its keys by their kid, each with its own algorithm', () => {
    for (const [alg, { key }] of PUBLIC.flatMap((alg) => [...read(jwkOf(alg))])) {
      expect(namesIn(jwkOf(alg as Algorithm))).toEqual([`${alg} ${alg}`])
      expect(key.equals(pairOf(alg as Algorithm).publicKey)).toBe(true)
      expect(key.type).toBe('public')
    }
  })

  it('has one algorithm for a key: the first that it names', () => {
    const again = jwkOf('RS256', { kid: 'again' })
    const names = ['RS256 RS256', 'again RS256', 'good ES256']
    expect(namesIn(RSA, { ...RSA, alg: 'PS256', kid: 'PS256' }, again, jwkOf('RS512'), GOOD)).toEqual(names)
    expect(namesIn(jwkOf('RS512'), RSA)).toEqual(['RS512 RS512'])
  })

  it.each([
    ['with more to it', { ...EC, x5u: 'https://example.com', extra: [1] }],
    ['without use', without(EC, 'use')],
    ['with key_ops', { ...EC, key_ops: ['verify'] }],
    ['of RSA with key_ops', { ...RSA, kid: 'ES256', alg: 'RS256', key_ops: ['verify', 'encrypt'] }],
  ])('has keys %s', (_, jwk) => expect(namesIn(jwk, GOOD)).toEqual([`ES256 ${(jwk as Jwk)['alg']}`, 'good ES256']))

  it.each(['ES256', 'ES384', 'ES512', 'Ed25519'] as const)('has keys without alg: the curve says %s', (alg) => {
    expect(namesIn(without(jwkOf(alg), 'alg'), GOOD)).toEqual([`${alg} ${alg}`, 'good ES256'])
  })

  it('has only keys with an algorithm that is allowed', () => {
    const all = JSON.stringify({ keys: PUBLIC.map((alg) => jwkOf(alg)) })
    expect([...readJwkSet(all, ['ES256', 'PS512']).keys()].sort()).toEqual(['ES256', 'PS512'])
    const unnamed = JSON.stringify({ keys: ['ES256', 'ES384'].map((alg) => without(jwkOf(alg as Algorithm), 'alg')) })
    expect([...readJwkSet(unnamed, ['ES384']).keys()]).toEqual(['ES384'])
  })

  it('has an RSA key without alg only where one RSA algorithm is allowed', () => {
    const text = JSON.stringify({ keys: [without(RSA, 'alg')] })
    expect(readJwkSet(text, ['RS256', 'ES256']).get('RS256')?.alg).toBe('RS256')
    expect(readJwkSet(text, ['PS384']).get('RS256')?.alg).toBe('PS384')
    expect(readJwkSet(text, ['RS256', 'PS256']).size).toBe(0)
    expect(readJwkSet(text).size).toBe(0)
  })

  const rsaPrivate = pairOf('RS256').privateKey.export({ format: 'jwk' })
  const ecPrivate = pairOf('ES256').privateKey.export({ format: 'jwk' })
  const otherwise = (more: Jwk, jwk: Jwk = EC) => ({ ...jwk, ...more })
  const small = createPublicKey(weakRsa()).export({ format: 'jwk' })
  const ed = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' })
  const ed448 = generateKeyPairSync('ed448').publicKey.export({ format: 'jwk' })
  const k256 = generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).publicKey.export({ format: 'jwk' })
  const oct = { kty: 'oct', k: Buffer.from(SECRET).toString('base64url'), kid: 'x', use: 'sig' }

  it.each<[string, unknown]>([
    ['a secret', { ...oct, alg: 'HS256' }],
    ['a secret that says RS256', { ...oct, alg: 'RS256' }],
    ['a secret without alg', oct],
    ['a public key that says HS256', otherwise({ alg: 'HS256' }, RSA)],
    ['a public key with a secret beside it', otherwise({ kty: 'oct', k: oct.k })],
    ['a private RSA key', otherwise(rsaPrivate as Jwk, RSA)],
    ['a private EC key', otherwise(ecPrivate as Jwk)],
    ['a key for encryption', otherwise({ use: 'enc' })],
    ['an RSA key for encryption', otherwise({ alg: 'RSA-OAEP', use: 'enc' }, RSA)],
    ['a key whose operations do not verify', otherwise({ key_ops: ['sign'] })],
    ['key_ops that are no list', otherwise({ key_ops: 'verify' })],
    ['key_ops null', otherwise({ key_ops: null })],
    ['an RSA key without alg', without(RSA, 'alg')],
    ['alg none', otherwise({ alg: 'none' })],
    ['an unknown alg', otherwise({ alg: 'ES256K' })],
    ['an alg by another name', otherwise({ alg: 'es256' })],
    ['an alg that objects have', otherwise({ alg: 'constructor' }, RSA)],
    ['an alg that is no string', otherwise({ alg: ['ES256'] })],
    ['alg null', otherwise({ alg: null })],
    ['an alg of another kind', otherwise({ alg: 'RS256' })],
    ['an alg of another curve', otherwise({ alg: 'ES384' })],
    ['an RSA key of 1024 bits', { ...small, alg: 'RS256', kid: 'x', use: 'sig' }],
    ['an RSA key with the exponent 1', otherwise({ e: 'AQ' }, RSA)],
    ['an Ed448 key with the name EdDSA', { ...ed448, alg: 'EdDSA', kid: 'x' }],
    ['an EC key with the name EdDSA', otherwise({ alg: 'EdDSA' })],
    ['an Ed25519 key with the name of another kind', { ...ed, alg: 'ES256', kid: 'x' }],
    ['an Ed25519 key with EdDSA in small letters', { ...ed, alg: 'eddsa', kid: 'x' }],
    ...[
      ['00', '00'],
      ['01', '00'],
      ['01', '80'],
      ['c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03', '7a'],
      ['26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc', '05'],
      ['26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc', '85'],
      [`ec${'ff'.repeat(30)}`, '7f'],
      [`ed${'ff'.repeat(30)}`, 'ff'],
      [`ee${'ff'.repeat(30)}`, '7f'],
    ].map(([start, end]) => {
      const x = Buffer.from(`${start?.padEnd(62, '0')}${end}`, 'hex').toString('base64url')
      return [`an Ed25519 key of small order, ${x}`, { ...ed, x, kid: 'x' }] as [string, unknown]
    }),
    ['an Ed448 key', { ...ed448, kid: 'x' }],
    ['a key on secp256k1', { ...k256, kid: 'x' }],
    ['a point that is not on the curve', otherwise({ x: EC['y'], y: EC['x'] })],
    ['a key without its point', without(EC, 'x')],
    ['an unknown kty', otherwise({ kty: 'AKP' })],
    ['no kty', without(EC, 'kty')],
    ['an empty kid', otherwise({ kid: '' })],
    ['a kid that is no string', otherwise({ kid: 1 })],
    ['null', null],
    ['text', 'key'],
    ['a list', [EC]],
    ['an empty object', {}],
  ])('leaves out %s, and nothing else', (_, jwk) => {
    expect(namesIn(jwk)).toEqual([])
    expect(namesIn(jwk, GOOD, jwk)).toEqual(['good ES256'])
  })

  it('names a key without a kid by its thumbprint (RFC 7638), and an Ed25519 key also by the alg EdDSA', () => {
    const [[kid, key] = []] = [...read(without(EC, 'kid'))]
    expect(kid).toMatch(/^[\w-]{43}$/)
    expect(key).toMatchObject({ kid, alg: 'ES256' })
    expect([...read(without(EC, 'kid', 'alg', 'use')).keys()]).toEqual([kid])
    expect(namesIn({ ...ed, alg: 'EdDSA', kid: 'x' })).toEqual(['x Ed25519'])
  })

  it('takes the first of a kid that can be used', () => {
    const [first, second] = [jwkOf('ES256', { kid: 'k' }, 'one'), jwkOf('ES256', { kid: 'k' }, 'two')]
    const taken = read({ ...first, use: 'enc' }, second, first).get('k')
    expect(taken?.key.equals(pairOf('ES256', 'two').publicKey)).toBe(true)
  })

  it.each(['', '{', 'null', '[]', '"keys"', '{}', '{"keys":{}}', '{"keys":null}', '[{"keys":[]}]', '{"Keys":[]}'])(
    'is none: %s',
    (text) => {
      const error = thrownBy(() => readJwkSet(text)) as Error
      expect(error.message).toMatch(/^the response is not (JSON|a JWK set)$/)
      expect(error.cause).toBeUndefined()
    },
  )

  it('may be empty', () => expect(read().size).toBe(0))
  it('may be nested deeper than the stack', () => {
    const deep = '['.repeat(50_000) + ']'.repeat(50_000)
    expect([...readJwkSet(`{"keys":[${deep},${JSON.stringify(GOOD)}]}`).keys()]).toEqual(['good'])
  })
})

describe('a set after a set', () => {
  const before = read(EC, RSA)
  const next = (...keys: unknown[]) => readJwkSet(JSON.stringify({ keys }), undefined, before)

  it('has the same object for a key that has not changed', () => {
    expect(next(RSA, GOOD, without(EC, 'alg')).get('ES256')).toBe(before.get('ES256'))
    expect(next(RSA).get('RS256')).toBe(before.get('RS256'))
  })

  it('has another for another key, and for another algorithm, under the same kid', () => {
    expect(next(jwkOf('ES256', {}, 'two')).get('ES256')).not.toBe(before.get('ES256'))
    const changed = next({ ...RSA, alg: 'RS512' }).get('RS256')
    expect(changed).toMatchObject({ alg: 'RS512' })
    expect(changed).not.toBe(before.get('RS256'))
  })

  it('has nothing of what is there no more', () => expect([...next(GOOD).keys()]).toEqual(['good']))
  it('leaves the one before as it was', () => {
    next(GOOD)
    expect([...before.keys()]).toEqual(['ES256', 'RS256'])
  })
})

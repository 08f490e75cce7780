import { type KeyObject, sign } from 'node:crypto'
import { createTokenIssuer, createTokenVerifier, type HostSign } from 'express-token-endpoint'
import jsonwebtoken from 'jsonwebtoken'
import { describe, expect, it, vi } from 'vitest'
import { PAIRS } from '../../../../src/tokens/algorithms/algorithms.js'
import { deferred } from '../../../support/concurrency.js'
import { expectInvalidToken, expectMisuse, rejectionOf } from '../../../support/failures.js'
import { ALGORITHMS, ISSUER, issueNow, makeIssuer, SECRET, signingKey } from '../../../support/fixtures.js'
import { headerOf } from '../../../support/tokens.js'

const subject = { accountId: 'acc-1', claims: { name: 'Zoë' } }

describe('a key in memory', () => {
  it.each(ALGORITHMS.filter((alg) => alg !== 'Ed25519'))('signs with jsonwebtoken: %s', (alg) => {
    const signed = vi.spyOn(jsonwebtoken, 'sign')
    const { token } = issueNow(createTokenIssuer({ issuer: ISSUER, keys: signingKey(alg) }), subject)
    expect(signed.mock.results.map(({ value }) => value)).toEqual([token])
    // jsonwebtoken converts the options to text, and an error of that would cost more time than the signature.
    expect(signed.mock.calls.map(([, , options]) => String(options))).toEqual([''])
    signed.mockRestore()
    expect(Object.keys(headerOf(token))).toEqual(['alg', 'typ', 'kid'])
  })

  it.each([
    ...ALGORITHMS.map((alg) => [`${alg} with a key id that jsonwebtoken would change`, signingKey(alg)] as const),
  ])('signs without jsonwebtoken: %s', async (_what, keys) => {
    const signed = vi.spyOn(jsonwebtoken, 'sign')
    const issuer = createTokenIssuer({ issuer: ISSUER, keys: { ...keys, kid: 'Schlüssel' } })
    const { token } = await issuer.issue(subject)
    expect(signed).not.toHaveBeenCalled()
    signed.mockRestore()
    expect(await issuer.verify(token)).toMatchObject({ accountId: 'acc-1', claims: { name: 'Zoë' } })
  })

  it('signs a token of the year 1970, whose time is 0', () => {
    const { token } = issueNow(makeIssuer({ clock: () => 0 }), subject)
    expect(JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())).toMatchObject({ iat: 0 })
  })
})

/** The hash and the form of the signatures that a key service returns. */
const SERVICES = {
  ES256: [
    { hash: 'sha256', dsaEncoding: 'der' },
    { hash: 'sha256', dsaEncoding: 'ieee-p1363' },
  ],
  ES384: [{ hash: 'sha384', dsaEncoding: 'der' }],
  ES512: [{ hash: 'sha512', dsaEncoding: 'der' }],
  RS256: [{ hash: 'sha256' }],
  PS256: [{ hash: 'sha256', padding: 6, saltLength: 32 }],
  Ed25519: [{ hash: null }],
} as const

describe('a key that signs elsewhere', () => {
  const ALG = 'ES256'
  const pair = PAIRS[ALG].generate(0)
  const inDer: HostSign = (data) => sign('sha256', data, pair.privateKey)
  const issuerWith = (own: HostSign, options: object = {}) =>
    createTokenIssuer({ issuer: ISSUER, keys: { alg: ALG, publicKey: pair.publicKey, sign: own }, ...options })

  it.each(
    Object.entries(SERVICES).flatMap(([alg, forms]) =>
      forms.map((form) => [alg as keyof typeof SERVICES, form] as const),
    ),
  )('%s: issues valid tokens from signatures in the form %j', async (alg, { hash, ...form }) => {
    const { publicKey, privateKey } = PAIRS[alg].generate(2048)
    const own = vi.fn(async (data: Uint8Array) => sign(hash, data, { key: privateKey, ...form } as { key: KeyObject }))
    const issuer = createTokenIssuer({ issuer: ISSUER, keys: { alg, publicKey, kid: 'kms-1', sign: own } })
    // Both numbers of some ECDSA signatures begin with zeros, or with a set bit.
    for (let i = 0; i < 40; i++) {
      const { token } = await issuer.issue(subject)
      expect(await issuer.verify(token)).toMatchObject({ accountId: 'acc-1' })
      expect(headerOf(token)).toEqual({ alg, typ: 'at+jwt', kid: 'kms-1' })
    }
    expect(own).toHaveBeenCalledTimes(40)
    expect(issuer.jwks().keys).toMatchObject([{ kid: 'kms-1', alg }])
  })

  const other = PAIRS[ALG].generate(0).privateKey
  const NO_BYTES = 'sign: must return the signature as a Uint8Array'
  const NO_FIT = 'sign: the signature does not match "publicKey"'
  it.each<[string, HostSign, string?]>([
    ['of another key', (data) => sign('sha256', data, other), NO_FIT],
    ['over other bytes', (data) => sign('sha256', data.subarray(1), pair.privateKey)],
    ['over the digest', (data) => sign('sha384', data, pair.privateKey)],
    ['that is cut', (data) => sign('sha256', data, pair.privateKey).subarray(1)],
    ['that is empty', () => new Uint8Array()],
    ['that is text', (data) => sign('sha256', data, pair.privateKey).toString('base64') as never, NO_BYTES],
    ['that is a list of numbers', (data) => [...sign('sha256', data, pair.privateKey)] as never, NO_BYTES],
    ['that is missing', () => undefined as never, NO_BYTES],
    ['that is an error', () => Promise.reject(new Error('ThrottlingException'))],
    [
      'that is thrown',
      () => {
        throw new Error('AccessDenied')
      },
    ],
    ['that never comes', () => new Promise(() => {})],
  ])('refuses a signature %s: unavailable, with the dependency keys', async (_what, own, says = '') => {
    const error = await rejectionOf(issuerWith(own, { timeout: '20ms' }).issue(subject))
    expect(error).toMatchObject({ name: 'AuthError', code: 'unavailable', dependency: 'keys' })
    expect(String((error as Error).cause)).toContain(says)
  })

  it('refuses more than 1,024 signatures under way, and accepts again when they have ended', async () => {
    const { promise, resolve } = deferred<void>()
    const issuer = issuerWith((data) => promise.then(() => inDer(data)))
    const under = Array.from({ length: 1024 }, () => issuer.issue(subject))
    expect(await rejectionOf(issuer.issue(subject))).toMatchObject({ code: 'overloaded' })
    resolve()
    await Promise.all(under)
    expect(await issuer.issue(subject)).toMatchObject({ id: expect.any(String) })
  })

  it('rotates together with keys in memory', async () => {
    const local = signingKey(ALG)
    const kms = { alg: ALG, publicKey: pair.publicKey, sign: inDer } as const
    const [before, after] = [
      [local, kms],
      [kms, local],
    ].map((keys) => createTokenIssuer({ issuer: ISSUER, keys }))
    for (const issuer of [before, after]) {
      const { token } = (await issuer?.issue(subject)) ?? { token: '' }
      for (const verifier of [before, after])
        expect(await verifier?.verify(token)).toMatchObject({ accountId: 'acc-1' })
    }
  })

  it('whose call is under way when the keys are replaced signs its own token, and the new key all others', async () => {
    const { promise, resolve } = deferred<void>()
    const issuer = issuerWith((data) => promise.then(() => inDer(data)))
    const [old] = issuer.jwks().keys
    const verifier = createTokenVerifier({ issuer: ISSUER, keys: { alg: ALG, publicKey: pair.publicKey } })
    const pending = issuer.issue(subject)
    issuer.replaceKeys(signingKey(ALG))
    const { token } = await issuer.issue(subject)
    expect(await issuer.verify(token)).toMatchObject({ accountId: 'acc-1' })
    resolve()
    const { token: late } = await pending
    expect(headerOf(late)['kid']).toBe(old?.kid)
    expect(await verifier.verify(late)).toMatchObject({ accountId: 'acc-1' })
    await expectInvalidToken(issuer.verify(late), 'unknown_key')
  })

  it.each<[string, object]>([
    ['without its public key', { alg: ALG, sign: inDer }],
    ['with a private key', { alg: ALG, privateKey: pair.privateKey, sign: inDer }],
    ['with a secret', { alg: 'HS256', secret: SECRET, sign: inDer }],
    ['that is no function', { alg: ALG, publicKey: pair.publicKey, sign: 'kms' }],
  ])('a sign %s is a TypeError', (_what, keys) => {
    expectMisuse(() => createTokenIssuer({ issuer: ISSUER, keys: keys as never }), /^createTokenIssuer: option "keys"/)
  })
})

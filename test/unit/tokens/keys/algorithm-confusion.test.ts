import { createPublicKey } from 'node:crypto'
import { createTokenIssuer, createTokenVerifier, type PrivateTokenKey } from 'express-token-endpoint'
import jwt from 'jsonwebtoken'
import { describe, expect, it } from 'vitest'
import { expectInvalidToken } from '../../../support/failures.js'
import { forge, goodParts, ISSUER, signingKey } from '../../../support/fixtures.js'

// RFC 8725 section 2.1: nobody may sign with the public key.
const { privateKey } = signingKey('RS256') as PrivateTokenKey
const publicPem = createPublicKey(privateKey as string).export({ type: 'spki', format: 'pem' }) as string
const verifier = createTokenVerifier({ issuer: ISSUER, keys: { alg: 'RS256', publicKey: publicPem, kid: 'k1' } })

describe('a token signed with the public key as an HMAC secret', () => {
  it.each([
    ['says HS256', 'HS256', 'algorithm'],
    ['says RS256, the algorithm of the key', 'RS256', 'signature'],
    ['says none', 'none', 'algorithm'],
  ] as const)('is refused when it %s', async (_, alg, reason) => {
    const { header, payload } = goodParts()
    await expectInvalidToken(verifier.verify(forge({ ...header, alg }, payload, publicPem)), reason)
    await expectInvalidToken(verifier.verify(forge({ ...header, alg }, payload, publicPem.trim())), reason)
  })
})

describe('a token with a good signature of another algorithm by the same RSA key', () => {
  it.each(['RS384', 'RS512', 'PS256'] as const)('is refused: %s', async (alg) => {
    const { payload } = goodParts()
    const token = jwt.sign(payload, privateKey as string, { algorithm: alg, header: { alg, typ: 'at+jwt', kid: 'k1' } })
    await expectInvalidToken(verifier.verify(token), 'algorithm')
  })

  it('while the algorithm of the key verifies', async () => {
    const { payload } = goodParts()
    const token = jwt.sign(payload, privateKey as string, {
      algorithm: 'RS256',
      header: { alg: 'RS256', typ: 'at+jwt', kid: 'k1' },
    })
    expect(await verifier.verify(token)).toMatchObject({ accountId: 'acc-1' })
  })
})

describe('a token that brings its own key', () => {
  it.each(['jwk', 'jku', 'x5u', 'x5c'])('is not verified with its %s', async (member) => {
    const attacker = createTokenIssuer({ issuer: ISSUER, keys: signingKey('RS256', 'attacker') })
    const [jwk] = attacker.jwks().keys
    const { privateKey: pem } = signingKey('RS256', 'attacker') as PrivateTokenKey
    const header = { alg: 'RS256', typ: 'at+jwt', kid: 'k1', [member]: member === 'jwk' ? jwk : 'https://evil.example' }
    const token = jwt.sign(goodParts().payload, pem as string, { algorithm: 'RS256', header })
    await expectInvalidToken(verifier.verify(token), 'signature')
  })
})

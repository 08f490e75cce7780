import {
  createTokenIssuer,
  createTokenVerifier,
  type PrivateTokenKey,
  type PublicTokenKey,
  type SecretTokenKey,
} from 'express-token-endpoint'
import { describe, expect, it } from 'vitest'
import { expectInvalidToken } from '../../../support/failures.js'
import { ALGORITHMS, ISSUER, issueNow, signingKey } from '../../../support/fixtures.js'
import { headerOf, partsOf, someToken } from '../../../support/tokens.js'

/** Returns the public keys for a verifier: the issuer's JWK set. */
function verifierKeys(key: SecretTokenKey | PrivateTokenKey) {
  if (key.secret !== undefined) return key
  const { keys } = createTokenIssuer({ issuer: ISSUER, keys: key }).jwks()
  return keys.map((publicKey): PublicTokenKey => ({ alg: publicKey.alg as PublicTokenKey['alg'], publicKey }))
}

describe.each(ALGORITHMS)('%s', (alg) => {
  const keys = signingKey(alg)
  const issuer = createTokenIssuer({ issuer: ISSUER, keys })
  const verifier = createTokenVerifier({ issuer: ISSUER, keys: verifierKeys(keys) })

  it('signs what its issuer and a verifier without the signing key both verify', async () => {
    const { token, id } = issueNow(issuer, { accountId: 'acc-1' })
    expect(headerOf(token)['alg']).toBe(alg)
    expect(await issuer.verify(token)).toMatchObject({ id, accountId: 'acc-1' })
    expect(await verifier.verify(token)).toMatchObject({ id, accountId: 'acc-1' })
  })

  it('refuses the signature of another key under the same kid', async () => {
    const { kid } = headerOf(someToken(issuer)) as { kid: string }
    const other = createTokenIssuer({ issuer: ISSUER, keys: { ...signingKey(alg, 'two'), kid } })
    await expectInvalidToken(verifier.verify(someToken(other)), 'signature')
  })

  it('refuses the signature of another token', async () => {
    const { header, payload } = partsOf(someToken(issuer))
    const { signature } = partsOf(someToken(issuer))
    await expectInvalidToken(verifier.verify(`${header}.${payload}.${signature}`), 'signature')
  })

  it('refuses a signature of the wrong length', async () => {
    const { header, payload } = partsOf(someToken(issuer))
    for (const signature of ['AA', 'A'.repeat(100), 'A'.repeat(1000)]) {
      await expectInvalidToken(verifier.verify(`${header}.${payload}.${signature}`), 'signature')
    }
  })
})

import express from 'express'
import { createTokenIssuer, jwksRouter } from 'express-token-endpoint'
import jwt from 'jsonwebtoken'
import { allowInsecureRequests, validateJwtAccessToken } from 'oauth4webapi'
import { describe, expect, it } from 'vitest'
import { decodePayload, ISSUER, issueNow, signingKey } from '../support/fixtures.js'
import { listen } from '../support/http.js'
import { pairOf } from '../support/keys.js'
import { headerOf } from '../support/tokens.js'

// Another implementation of the profile, which holds a token to every claim that section 2.2 requires.
describe.each(['RS256', 'ES256', 'PS256'] as const)('a resource server with oauth4webapi: %s', async (alg) => {
  const tokens = createTokenIssuer({ issuer: ISSUER, clientId: 'clearing-house', keys: signingKey(alg) })
  const subject = { accountId: 'acc-1', scopes: ['reports:read'], claims: { tenant: 'north' } }

  async function validate(token: string) {
    const { url } = await listen(express().use(jwksRouter({ tokens, path: '/jwks.json' })))
    const request = new Request(url, { headers: { Authorization: `Bearer ${token}` } })
    const server = { issuer: ISSUER, jwks_uri: `${url}/jwks.json` }
    return validateJwtAccessToken(server, request, ISSUER, { [allowInsecureRequests]: true })
  }

  it('accepts our tokens', async () => {
    const { token, id } = issueNow(tokens, subject)
    expect(await validate(token)).toMatchObject({
      sub: 'acc-1',
      client_id: 'clearing-house',
      jti: id,
      scope: 'reports:read',
      tenant: 'north',
    })
  })

  it.each(['client_id', 'jti', 'sub', 'iat', 'exp'])(
    'refuses one without %s, as our own verifier does',
    async (name) => {
      const { token } = issueNow(tokens, subject)
      const claims = JSON.stringify({ ...decodePayload(token), [name]: undefined })
      const header = headerOf(token) as unknown as jwt.JwtHeader
      const lacking = jwt.sign(claims, pairOf(alg).privateKey, { algorithm: alg, header })
      await expect(validate(lacking)).rejects.toThrow(`JWT "${name}"`)
      await expect(tokens.verify(lacking)).rejects.toMatchObject({ code: 'invalid_token', reason: 'claims' })
    },
  )
})

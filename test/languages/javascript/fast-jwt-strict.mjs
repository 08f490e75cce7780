import { createVerifier } from 'fast-jwt'
import jwksClient from 'jwks-rsa'

const issuer = 'https://api.example.com'
const client = jwksClient({ jwksUri: process.env.JWKS_URL ?? '', rateLimit: true })

/** @param {import('fast-jwt').DecodedJwt} token */
const keyOf = async ({ header }) => (await client.getSigningKey(header.kid)).getPublicKey()

export const verify = createVerifier({
  key: keyOf,
  algorithms: ['ES256', 'RS256'],
  checkTyp: 'at+jwt',
  allowedIss: issuer,
  allowedAud: issuer,
  requiredClaims: ['iss', 'aud', 'exp', 'iat', 'sub', 'client_id', 'jti'],
})

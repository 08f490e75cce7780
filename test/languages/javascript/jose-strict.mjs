import { createRemoteJWKSet, jwtVerify } from 'jose'

const issuer = 'https://api.example.com'
const keys = createRemoteJWKSet(new URL(process.env.JWKS_URL ?? ''))

/** @param {string} token */
export async function verify(token) {
  const { payload } = await jwtVerify(token, keys, {
    algorithms: ['ES256', 'RS256'],
    typ: 'at+jwt',
    issuer,
    audience: issuer,
    requiredClaims: ['exp', 'iat', 'sub', 'client_id', 'jti'],
  })
  return payload
}

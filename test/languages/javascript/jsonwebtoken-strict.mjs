import jwt from 'jsonwebtoken'
import jwksClient from 'jwks-rsa'

const issuer = 'https://api.example.com'
const client = jwksClient({ jwksUri: process.env.JWKS_URL ?? '', rateLimit: true })

/** @param {string} token */
export async function verify(token) {
  const header = jwt.decode(token, { complete: true })?.header
  if (header?.typ !== 'at+jwt' || 'crit' in header) throw new Error('not an access token')
  const key = (await client.getSigningKey(header.kid)).getPublicKey()
  const claims = jwt.verify(token, key, { algorithms: ['ES256', 'RS256'], issuer, audience: issuer })
  for (const name of ['exp', 'iat', 'sub', 'client_id', 'jti']) {
    if (typeof claims !== 'object' || !(name in claims)) throw new Error(`${name} is missing`)
  }
  return claims
}

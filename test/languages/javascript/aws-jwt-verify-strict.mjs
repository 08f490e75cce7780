import { JwtVerifier } from 'aws-jwt-verify'

const issuer = 'https://api.example.com'
const verifier = JwtVerifier.create({
  issuer,
  audience: issuer,
  jwksUri: process.env.JWKS_URL ?? '',
  customJwtCheck({ header, payload }) {
    if (header.typ !== 'at+jwt' || 'crit' in header) throw new Error('not an access token')
    for (const name of ['exp', 'iat', 'sub', 'client_id', 'jti']) {
      if (!(name in payload)) throw new Error(`${name} is missing`)
    }
  },
})

/** @param {string} token */
export const verify = (token) => verifier.verify(token)

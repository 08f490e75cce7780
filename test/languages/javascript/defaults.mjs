// A `verify` with the fewest options for each library.
import { promisify } from 'node:util'
import { JwtVerifier } from 'aws-jwt-verify'
import { createVerifier } from 'fast-jwt'
import { createRemoteJWKSet, jwtVerify } from 'jose'
import jwt from 'jsonwebtoken'
import jwksClient from 'jwks-rsa'
import { validateJwtAccessToken } from 'oauth4webapi'

const issuer = 'https://api.example.com'
const jwksUri = process.env.JWKS_URL
const client = jwksClient({ jwksUri })

const joseKeys = createRemoteJWKSet(new URL(jwksUri))
const awsVerifier = JwtVerifier.create({ issuer, audience: issuer, jwksUri })

export const defaults = {
  jose: async (token) => (await jwtVerify(token, joseKeys)).payload,

  oauth4webapi(token) {
    const request = new Request(issuer, { headers: { Authorization: `Bearer ${token}` } })
    return validateJwtAccessToken({ issuer, jwks_uri: jwksUri }, request, issuer)
  },

  'fast-jwt': createVerifier({ key: async ({ header }) => (await client.getSigningKey(header.kid)).getPublicKey() }),

  jsonwebtoken: (token) =>
    promisify(jwt.verify)(token, (header, done) => {
      client.getSigningKey(header.kid, (error, key) => done(error, key?.getPublicKey()))
    }),

  'aws-jwt-verify': (token) => awsVerifier.verify(token),
}

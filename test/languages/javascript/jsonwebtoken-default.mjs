import { promisify } from 'node:util'
import jwt from 'jsonwebtoken'
import jwksClient from 'jwks-rsa'

const client = jwksClient({ jwksUri: process.env.JWKS_URL })

const keyOf = (header, done) => {
  client.getSigningKey(header.kid, (error, key) => done(error, key?.getPublicKey()))
}

export async function verify(token) {
  return await promisify(jwt.verify)(token, keyOf)
}

import { createVerifier } from 'fast-jwt'
import jwksClient from 'jwks-rsa'

const client = jwksClient({ jwksUri: process.env.JWKS_URL })

export const verify = createVerifier({
  key: async ({ header }) => (await client.getSigningKey(header.kid)).getPublicKey(),
})

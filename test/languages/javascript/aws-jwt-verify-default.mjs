import { JwtVerifier } from 'aws-jwt-verify'

const issuer = 'https://api.example.com'
const verifier = JwtVerifier.create({ issuer, audience: issuer, jwksUri: process.env.JWKS_URL })

export const verify = (token) => verifier.verify(token)

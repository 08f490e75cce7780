import { validateJwtAccessToken } from 'oauth4webapi'

const issuer = 'https://api.example.com'
const server = { issuer, jwks_uri: process.env.JWKS_URL ?? '' }

/** @param {string} token */
export async function verify(token) {
  const request = new Request(issuer, { headers: { Authorization: `Bearer ${token}` } })
  return await validateJwtAccessToken(server, request, issuer, { signingAlgorithms: ['ES256', 'RS256'] })
}

import { createRemoteJWKSet, jwtVerify } from 'jose'

const keys = createRemoteJWKSet(new URL(process.env.JWKS_URL))

export async function verify(token) {
  const { payload } = await jwtVerify(token, keys)
  return payload
}

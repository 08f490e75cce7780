import { auth } from 'express-oauth2-jwt-bearer'

export const expressOauth2JwtBearer = ({ alg, issuer, audience, text }) => {
  const key = alg.startsWith('HS') ? { secret: text } : { publicKey: text }
  const documented = { issuer, audience, ...key, tokenSigningAlg: alg }
  return [
    { name: 'express-oauth2-jwt-bearer, without DPoP', guard: auth({ ...documented, dpop: { enabled: false } }) },
    { name: 'express-oauth2-jwt-bearer, as documented', guard: auth(documented) },
  ]
}

import { createVerifier } from 'fast-jwt'
import { bearer } from './bearer.mjs'

export const fastJwt = ({ alg, issuer, audience, text }) => {
  const options = { key: text, algorithms: [alg], allowedIss: issuer, allowedAud: audience }
  return [
    { name: 'fast-jwt, cache', guard: bearer(createVerifier({ ...options, cache: true })) },
    // fast-jwt warns about this setting with the code FAST_JWT_CACHE_KEY_BUILDER_SECURITY_RISK.
    {
      name: 'fast-jwt, cache keyed on the token',
      guard: bearer(createVerifier({ ...options, cache: true, cacheKeyBuilder: (token) => token })),
    },
    { name: 'fast-jwt', guard: bearer(createVerifier(options)) },
  ]
}

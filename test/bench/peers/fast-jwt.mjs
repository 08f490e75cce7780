import { createVerifier } from 'fast-jwt'
import { bearer } from './bearer.mjs'

export const fastJwt = ({ alg, issuer, audience, text }) => {
  const options = { key: text, algorithms: [alg], allowedIss: issuer, allowedAud: audience }
  return [
    { name: 'fast-jwt, cache', guard: bearer(createVerifier({ ...options, cache: true })) },
    // Its README: "if you are not concerned about potential information leaks".
    {
      name: 'fast-jwt, cache keyed on the token',
      guard: bearer(createVerifier({ ...options, cache: true, cacheKeyBuilder: (token) => token })),
    },
    { name: 'fast-jwt', guard: bearer(createVerifier(options)) },
  ]
}

import { expressjwt } from 'express-jwt'

export const expressJwt = ({ alg, issuer, audience, key, text }) => [
  {
    name: 'express-jwt, KeyObject',
    guard: expressjwt({ secret: key, algorithms: [alg], issuer, audience }),
  },
  {
    name: 'express-jwt, as documented',
    guard: expressjwt({ secret: text, algorithms: [alg] }),
  },
]

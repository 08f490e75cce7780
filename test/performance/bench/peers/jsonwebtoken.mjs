import jwt from 'jsonwebtoken'
import { bearer } from './bearer.mjs'

export const jsonwebtoken = ({ alg, issuer, audience, key }) => {
  const options = { algorithms: [alg], issuer, audience }
  return [{ name: 'jsonwebtoken, KeyObject', guard: bearer((token) => jwt.verify(token, key, options)) }]
}

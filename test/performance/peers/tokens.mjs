import { createSigner, createVerifier } from 'fast-jwt'
import { jwtVerify, SignJWT } from 'jose'
import jwt from 'jsonwebtoken'

/**
 * Creates the functions of other packages that verify and issue tokens of one algorithm, each with its fastest settings: with a KeyObject
 * where the package accepts one. They check the issuer and the audience, as this package does.
 * @param options `claims` is a function that creates the claims of a new token. `publicKey` and `privateKey` are KeyObjects, `publicText` and
 *   `privateText` the same as in a configuration file
 */
export function peerTokens({ alg, issuer, audience, header, claims, publicKey, privateKey, publicText, privateText }) {
  const peers = {
    jose: {
      verify: (token) => jwtVerify(token, publicKey, { algorithms: [alg], issuer, audience }),
      issue: () => new SignJWT(claims()).setProtectedHeader(header).sign(privateKey),
    },
  }
  // fast-jwt knows Ed25519 only under its older name, and jsonwebtoken does not know it.
  if (alg === 'Ed25519') return peers
  const signFast = createSigner({ key: privateText, algorithm: alg, header })
  return {
    ...peers,
    jsonwebtoken: {
      verify: (token) => jwt.verify(token, publicKey, { algorithms: [alg], issuer, audience }),
      issue: () => jwt.sign(claims(), privateKey, { algorithm: alg, header }),
    },
    'fast-jwt': {
      verify: createVerifier({ key: publicText, algorithms: [alg], allowedIss: issuer, allowedAud: audience }),
      issue: () => signFast(claims()),
    },
  }
}

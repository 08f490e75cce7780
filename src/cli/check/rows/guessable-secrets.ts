import { createHmac } from 'node:crypto'
import type { ReadToken } from '../probe/token.js'

/** Secrets of tutorials, examples and documentation, as people copy them. */
const WORDS = `
  secret Secret SECRET secretkey secretKey secret_key secret-key SECRET_KEY mysecret mySecret mysecretkey
  my-secret my-secret-key my_secret_key MY_SECRET_KEY mySecretKey supersecret super-secret supersecretkey
  super_secret_key super-secret-key topsecret TOP_SECRET top-secret verysecret secret123 yoursecret your-secret
  your_secret yoursecretkey your-secret-key your_secret_key YOUR_SECRET_KEY your_jwt_secret your_jwt_secret_key
  your-jwt-secret your-256-bit-secret your-384-bit-secret your-512-bit-secret
  a-string-secret-at-least-256-bits-long a-valid-string-secret-that-is-at-least-512-bits-long-which-is-very-long
  jwt jwtsecret jwtSecret jwt_secret jwt-secret JWT_SECRET jwtsecretkey jwt_secret_key jwt-secret-key
  jwtPrivateKey it-is-very-secret shhhhh shhhhhared-secret shhh token tokensecret access_token_secret
  ACCESS_TOKEN_SECRET accesstokensecret auth key mykey my_key privatekey private-key private_key password changeme
  change-me change_me changeit default admin test testing example demo dev development 123 1234 12345 123456
  12345678 123456789 1234567890 abc123 qwerty foobar foo undefined null default-secret default_secret some-secret
  somesecret hello helloworld nodejs express laravel django-insecure insecure MyVerySecretKey AllYourBase GuessMe
  hmac-secret better-auth-secret-123456789 better-auth-secret-12345678901234567890
`
const EXAMPLES = ['', 'keyboard cat', ...WORDS.trim().split(/\s+/)]

/** Returns whether an example is the secret of a token. Sends nothing. */
export function guessedSecret({ alg, signed, signatureText }: ReadToken): boolean {
  const hash = `sha${String(alg).slice(2)}`
  if (!['sha256', 'sha384', 'sha512'].includes(hash)) return false
  const keys = EXAMPLES.flatMap((secret) => [Buffer.from(secret), Buffer.from(secret, 'base64')])
  return keys.some((key) => createHmac(hash, key).update(signed).digest('base64url') === signatureText)
}

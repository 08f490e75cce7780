import { misuse, PAGE } from '../options/misuse.js'
import type { IssuedToken, TokenSubject } from '../tokens/jwt/issue-token.js'
import type { TokenIssuer } from '../tokens/tokens.js'
import { issueNowOf } from '../tokens/verifier.js'

/**
 * Issues a token at once, so that a test needs no promise for its headers.
 * @throws TypeError when the key of the issuer has `sign`
 */
export function issueNow(tokens: TokenIssuer, subject: TokenSubject): IssuedToken {
  const issued = issueNowOf(tokens)?.(subject)
  if (issued) return issued
  throw misuse(
    'createTestIssuer: the first of "keys" must sign in memory. Pass a "privateKey" or a "secret"',
    PAGE.tests,
  )
}

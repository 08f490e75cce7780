import { withMethods } from '../options/checks.js'
import { type Check, InvalidOption } from '../options/read-options.js'
import { memberOf } from '../options/values.js'
import { isIdTokenVerifier } from '../tokens/id-token-verifier.js'
import type { CustomTokenVerifier } from '../tokens/token-verifier.js'
import { toVerifier, type Verifier } from '../tokens/verifier.js'
import { oneVerifier, severalVerifiers, type Verifiers } from '../tokens/verifiers.js'

const VERIFIER = 'what createTokenIssuer() or createTokenVerifier() returned'
const verifierObject = withMethods<CustomTokenVerifier>(VERIFIER, ['verify'])
const tokenVerifier: Check<Verifier> = (value) => {
  if (isIdTokenVerifier(value))
    throw new InvalidOption(
      VERIFIER,
      'ID tokens do not grant access. Verify it in your sign-in route, and call auth.signIn()',
    )
  const tokens = verifierObject(value)
  const accepts = memberOf(tokens, 'accepts')
  if (typeof tokens.issuer !== 'string') throw new InvalidOption(VERIFIER)
  if (accepts !== undefined && typeof accepts !== 'function')
    throw new InvalidOption(VERIFIER, 'Its "accepts" must be a function (text) => boolean')
  return toVerifier(tokens)
}

const MOST_ISSUERS = 32

/** The option `tokens` of a guard. */
export const tokenVerifiers: Check<Verifiers> = (value) => {
  if (!Array.isArray(value)) {
    const one = tokenVerifier(value)
    return one.accepts ? severalVerifiers([one]) : oneVerifier(one)
  }
  const list = [...value].map(tokenVerifier)
  const issuers = new Set(list.map(({ issuer }) => issuer))
  if (list.length === 0 || list.length > MOST_ISSUERS)
    throw new InvalidOption(`a list of 1 to ${MOST_ISSUERS} verifiers`)
  if (issuers.size < list.length) {
    const hint =
      'Two of them have the same issuer. To use several keys of one issuer, pass all the keys to one verifier'
    throw new InvalidOption('a list of verifiers with different issuers', hint)
  }
  return severalVerifiers(list)
}

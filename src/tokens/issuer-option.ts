import { withMethods } from '../options/checks.js'
import { isPlainObject } from '../options/values.js'
import type { TokenIssuer } from './tokens.js'

export const tokenIssuer = withMethods<TokenIssuer>('what createTokenIssuer() returned', ['issue', 'now'], (value) =>
  isPlainObject(value) && 'verify' in value ? 'A verifier issues no tokens' : '',
)

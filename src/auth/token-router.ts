import type { Router } from 'express'
import type { Account, LookUpResult } from '../accounts/account.js'
import { mount } from '../features/feature.js'
import { signInFeature, TOKEN_PATH } from '../features/sign-in.js'
import { endpointRouter } from '../http/endpoint.js'
import { type HostOptions, hostAliases, hostSchema } from '../http/host-options.js'
import { createFinish } from '../login/finish-sign-in.js'
import { createLogin } from '../login/log-in.js'
import { type LoginOptions, loginAliases, loginSchema, loginSettings } from '../login/login-options.js'
import { type RespondOptions, respondOption } from '../login/token-settings.js'
import { plainPath } from '../options/plain-path.js'
import { aliasesOf, optional, readOptions } from '../options/read-options.js'
import { noteIssuing } from '../sessions/mistakes.js'
import { tokenIssuer } from '../tokens/issuer-option.js'
import type { TokenIssuer } from '../tokens/tokens.js'

/** The options of `tokenRouter`. */
export interface TokenRouterOptions<A extends LookUpResult = Account>
  extends HostOptions,
    LoginOptions<A>,
    RespondOptions<A> {
  /** Return value of `createTokenIssuer`. */
  tokens: TokenIssuer
  /** Path below the mount point, without patterns or a trailing slash. Default: `'/api/v2013/authentication/token'`. */
  path?: string | undefined
}

const schema = {
  tokens: tokenIssuer,
  path: optional(plainPath, TOKEN_PATH),
  respond: respondOption,
  ...loginSchema,
  ...hostSchema,
}

const ofIssuer = (option: string) => `Pass "${option}" to createTokenIssuer(), and the issuer as "tokens"`

const aliases = aliasesOf({
  ...hostAliases,
  ...loginAliases,
  tokens: 'issuer',
  'Use createAuth(), which has sessions and refresh tokens': 'store sessions sessionLabel refresh',
  'Use createAuth(), whose auth.logIn and auth.router share one login': 'logIn',
  [ofIssuer('lifetime')]: 'lifetime expiresIn ttl',
  [ofIssuer('keys')]: 'keys secret secretOrKey privateKey algorithm algorithms',
})

/**
 * Creates the router with the token endpoint: `POST` e-mail and password, get a token and its expiration. The router parses request bodies
 * itself, and accepts a body that the host's parser has parsed.
 * @throws TypeError naming the option that is not valid
 */
export function tokenRouter<A extends LookUpResult>(options: TokenRouterOptions<A>): Router {
  const caller = 'tokenRouter'
  const read = readOptions<TokenRouterOptions<A>, typeof schema>(caller, options, schema, aliases)
  const { tokens } = read
  const settings = { ...read, ...loginSettings(read, () => Number(tokens.now()), tokens) }
  noteIssuing(tokens, undefined)
  const parts = { ...settings, logIn: createLogin(settings), finishSignIn: createFinish(settings) }
  return endpointRouter(mount(signInFeature, settings.path, parts), settings)
}

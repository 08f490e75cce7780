import type { Express } from 'express'
import { jwksRouter, type Passwords, type Throttle, type TokenIssuer, tokenRouter } from 'express-token-endpoint'
import type { Accounts } from '../data/account-store.js'
import type { Revocation } from '../data/revocation.js'
import type { Statements } from '../data/statements.js'
import { type ApiParts, createApi } from './api.js'
import { docsRouter } from './documents/docs-router.js'
import { clearingHouseDocument } from './documents/openapi.js'
import { type PageParts, pageRouter } from './documents/page-router.js'
import { observer } from './log.js'
import { signOutRouter } from './sign-out-router.js'
import { clearingHouseRouter } from './statements-router.js'

export interface AppParts extends ApiParts {
  tokens: TokenIssuer
  accounts: Accounts
  statements: Statements
  passwords: Passwords
  throttle: Throttle
  revocation: Revocation
  page: PageParts
}

/** The clearing-house API, not yet listening. */
export function createApp(parts: AppParts): Express {
  const { tokens, accounts, statements, passwords, throttle, revocation, page } = parts
  const onEvent = observer(parts.log)
  return createApi(
    parts,
    docsRouter(clearingHouseDocument()),
    jwksRouter({ tokens }),
    tokenRouter({ tokens, accounts, passwords, throttle, onEvent }),
    signOutRouter({ tokens, accounts, revocation, onEvent }),
    clearingHouseRouter({ tokens, accounts, statements, isRevoked: revocation.isRevoked, onEvent }),
    pageRouter(page),
  )
}

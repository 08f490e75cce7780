import type { Express } from 'express'
import { jwksRouter, type Passwords, type Throttle, type TokenIssuer, tokenRouter } from 'express-token-endpoint'
import type { Accounts } from '../data/account-store.js'
import type { Revocation } from '../data/revocation.js'
import type { Statements } from '../data/statements.js'
import { type BaseDependencies, createBaseApp } from './base-app.js'
import { docsRouter } from './documents/docs-router.js'
import { clearingHouseDocument } from './documents/openapi.js'
import { type PageOptions, pageRouter } from './documents/page-router.js'
import { observer } from './log.js'
import { signOutRouter } from './sign-out-router.js'
import { statementsRouter } from './statements-router.js'

export interface ClearingHouseDependencies extends BaseDependencies {
  tokens: TokenIssuer
  accounts: Accounts
  statements: Statements
  passwords: Passwords
  throttle: Throttle
  revocation: Revocation
  page: PageOptions
}

/** Creates the clearing-house API. It does not listen yet. */
export function createClearingHouseApp(dependencies: ClearingHouseDependencies): Express {
  const { tokens, accounts, statements, passwords, throttle, revocation, page } = dependencies
  const onEvent = observer(dependencies.log)
  return createBaseApp(
    dependencies,
    docsRouter(clearingHouseDocument(tokens.issuer)),
    jwksRouter({ tokens }),
    tokenRouter({ tokens, accounts, passwords, throttle, onEvent }),
    signOutRouter({ tokens, accounts, revocation, onEvent }),
    statementsRouter({ tokens, accounts, statements, isRevoked: revocation.isRevoked, onEvent }),
    pageRouter(page),
  )
}

import { type Express, Router } from 'express'
import {
  createSessions,
  jwksRouter,
  type Passwords,
  requireBearer,
  type SessionStore,
  sessionRouter,
  type Throttle,
  type TokenIssuer,
  tokenRouter,
} from 'express-token-endpoint'
import type { Accounts } from '../data/account-store.js'
import type { Statements } from '../data/statements.js'
import { type BaseDependencies, createBaseApp } from './base-app.js'
import { docsRouter } from './documents/docs-router.js'
import { clearingHouseDocument } from './documents/openapi.js'
import { type PageOptions, pageRouter } from './documents/page-router.js'
import { observer } from './log.js'
import { statementsRouter } from './statements-router.js'

export interface ClearingHouseDependencies extends BaseDependencies {
  tokens: TokenIssuer
  accounts: Accounts
  statements: Statements
  passwords: Passwords
  throttle: Throttle
  sessionStore: SessionStore
  /** The secrets of the refresh tokens. The first one signs, and all of them verify. */
  refreshSecrets: readonly string[]
  page: PageOptions
}

/** Creates the clearing-house API. It does not listen yet. */
export function createClearingHouseApp(dependencies: ClearingHouseDependencies): Express {
  const { tokens, accounts, statements, passwords, throttle, sessionStore, refreshSecrets, page } = dependencies
  const onEvent = observer(dependencies.log)
  const sessions = createSessions(sessionStore, {
    clock: () => tokens.now(),
    refresh: { secret: refreshSecrets },
    onEvent,
  })
  const guard = requireBearer({ tokens, accounts, sessions, onEvent })
  return createBaseApp(
    dependencies,
    docsRouter(clearingHouseDocument(tokens.issuer)),
    jwksRouter({ tokens }),
    tokenRouter({ tokens, accounts, passwords, throttle, sessions, refresh: 'cookie', onEvent }),
    Router().use('/api/v2013/sessions', sessionRouter({ guard, sessions, onEvent })),
    statementsRouter({ tokens, accounts, statements, sessions, onEvent }),
    pageRouter(page),
  )
}

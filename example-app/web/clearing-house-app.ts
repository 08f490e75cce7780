import type { Express } from 'express'
import { type AuthOptions, createAuth, type Store } from 'express-token-endpoint'
import type { Accounts } from '../data/account-store.js'
import type { Statements } from '../data/statements.js'
import { type BaseDependencies, createBaseApp } from './base-app.js'
import { docsRouter } from './documents/docs-router.js'
import { clearingHouseDocument } from './documents/openapi.js'
import { type PageOptions, pageRouter } from './documents/page-router.js'
import { observer } from './log.js'
import { statementsRouter } from './statements-router.js'

export interface ClearingHouseDependencies
  extends BaseDependencies,
    Pick<AuthOptions, 'keys' | 'clock' | 'passwords' | 'limits'> {
  issuer: string
  accounts: Accounts
  statements: Statements
  store: Store
  /** The secrets of the app. The first one signs, and all of them verify. */
  secrets: readonly string[]
  page: PageOptions
}

/** Creates the clearing-house API. It does not listen yet. */
export function createClearingHouseApp(dependencies: ClearingHouseDependencies): Express {
  const { issuer, keys, clock, accounts, statements, passwords, limits, page } = dependencies
  const { store, secrets } = dependencies
  const onEvent = observer(dependencies.log)
  const auth = createAuth({
    issuer,
    keys,
    clock,
    lifetime: '10m',
    accounts,
    passwords,
    limits,
    store,
    secret: secrets,
    refresh: 'cookie',
    paths: { sessions: '/api/v2013/sessions' },
    onEvent,
  })
  return createBaseApp(
    dependencies,
    issuer,
    docsRouter(clearingHouseDocument(issuer)),
    auth.router,
    statementsRouter(auth, statements),
    pageRouter(page),
  )
}

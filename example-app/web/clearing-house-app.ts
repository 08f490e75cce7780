import type { Express } from 'express'
import { type AuthOptions, createAuth, type Mail, type Store } from 'express-token-endpoint'
import { passkeys } from 'express-token-endpoint/passkeys'
import type { Accounts } from '../data/account-store.js'
import type { MailBox } from '../data/mail-box.js'
import type { Statements } from '../data/statements.js'
import { accountRouter } from './account-router.js'
import { type BaseDependencies, createBaseApp } from './base-app.js'
import { docsRouter } from './documents/docs-router.js'
import { mailBoxRouter } from './documents/mail-box-router.js'
import { clearingHouseDocument } from './documents/openapi.js'
import { type PageOptions, pageRouter } from './documents/page-router.js'
import { letterOf } from './letters.js'
import { observer } from './log.js'
import { passkeyDomain } from './passkey-domain.js'
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
  page: Omit<PageOptions, 'hasMailBox' | 'passkeys'>
  /** The mailbox of the app. Undefined: the routes that mail a code are off. */
  mailBox?: MailBox | undefined
}

/** The routes that mail a code. */
const MAIL_ROUTES = { signUp: true, passwordReset: true, changeAddress: true, signInByMail: true }

/** Creates the clearing-house API. It does not listen yet. */
export function createClearingHouseApp(dependencies: ClearingHouseDependencies): Express {
  const { issuer, keys, clock, accounts, statements, passwords, limits, page } = dependencies
  const { store, secrets, mailBox } = dependencies
  const home = issuer.replace(/\/*$/, '/')
  const domain = passkeyDomain(issuer)
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
    changePassword: true,
    deletion: true,
    secondFactor: { name: 'Clearing house' },
    passkeys: domain !== undefined && passkeys({ ...domain, name: 'Clearing house' }),
    apiKeys: true,
    ...(mailBox && { ...MAIL_ROUTES, mail: (mail: Mail) => mailBox.add(letterOf(mail, home)) }),
    onEvent,
  })
  return createBaseApp(
    dependencies,
    issuer,
    docsRouter(clearingHouseDocument(issuer, auth.openApi)),
    auth.router,
    statementsRouter(auth, statements),
    accountRouter(auth, store),
    pageRouter({ ...page, hasMailBox: mailBox !== undefined, passkeys: domain?.rpId }),
    ...(mailBox ? [mailBoxRouter(mailBox, page.folder)] : []),
  )
}

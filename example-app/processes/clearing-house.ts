import { createPasswords } from 'express-token-endpoint'
import type { Config } from '../config.js'
import { createAccountStore } from '../data/account-store.js'
import { openDatabase } from '../data/databases/database.js'
import { addDemoData, type DemoAccount, openDemoAccounts } from '../data/demo.js'
import { openMailBox } from '../data/mail-box.js'
import { refreshSecrets } from '../data/refresh-secrets.js'
import { openSharedState } from '../data/shared-state.js'
import { tokenKeys } from '../data/signing-keys.js'
import { createStatements } from '../data/statements.js'
import { OperatorError } from '../errors.js'
import { complain } from '../output.js'
import { createClearingHouseApp } from '../web/clearing-house-app.js'
import { listen } from './listen.js'

export interface ClearingHouse {
  port: number
  url: string
  /** The address of the page. The reporting API accepts calls from this origin only. */
  page: string
  /** Accounts with a password that everybody knows. */
  demo: readonly DemoAccount[]
  /** The folder of the mails that the demo sends. Undefined where other machines can connect. */
  mailFolder: string | undefined
  stop: () => Promise<void>
}

/**
 * Starts the clearing-house API, which holds the signing keys.
 * @param reportingUrl returns the address of the reporting API for browsers, which may start later
 * @throws OperatorError when other machines can reach an account with its demo password
 */
export async function startClearingHouse(
  config: Config,
  reportingUrl: () => string | undefined,
): Promise<ClearingHouse> {
  const keys = tokenKeys(config.dataDir)
  const secrets = refreshSecrets(config.dataDir)
  const db = await openDatabase(config, complain)
  const shared = await openSharedState(config.redisUrl, db, complain)
  const accounts = createAccountStore(db)
  const passwords = createPasswords()
  const isExposed = config.exposedBy.length > 0
  if (!isExposed) await addDemoData(db, passwords)
  const demo = await openDemoAccounts(accounts, passwords)
  const [open] = demo
  if (open && isExposed) {
    const settings = config.exposedBy.join(' and ')
    throw new OperatorError(
      `${open.email} still has its demo password, but ${settings} let other machines sign in. Set another password: npm run example -- account password ${open.email}`,
    )
  }

  // Everybody on this machine can read its mails, as everybody knows the demo passwords.
  const mailBox = isExposed ? undefined : openMailBox(config.dataDir)
  const { app, port, url, drain } = await listen({ host: config.host, port: config.port, variable: 'PORT' })
  // With PORT=0 the address is known only now. Node reads no request before this function adds the routes below.
  const issuer = config.baseUrl ?? url
  createClearingHouseApp({
    app,
    issuer,
    keys,
    accounts,
    statements: createStatements(db),
    passwords,
    limits: shared.limits,
    store: shared.store,
    secrets,
    page: { reportingUrl },
    mailBox,
    trustedProxies: config.trustedProxies,
    checks: { database: () => accounts.isEmpty(), ...shared.checks },
    log: complain,
  })
  return {
    port,
    url,
    page: issuer.replace(/\/*$/, '/'),
    demo,
    mailFolder: mailBox?.folder,
    async stop() {
      await drain()
      await Promise.all([db.destroy(), shared.close()])
    },
  }
}

import { createPasswords, createTokenIssuer } from 'express-token-endpoint'
import type { Config } from '../config.js'
import { createAccountStore } from '../data/account-store.js'
import { openDatabase } from '../data/databases/database.js'
import { addDemoData, openDemoAccounts } from '../data/demo.js'
import { openSharedState } from '../data/shared-state.js'
import { tokenKeys } from '../data/signing-keys.js'
import { createStatements } from '../data/statements.js'
import { Failure } from '../failure.js'
import { complain } from '../output.js'
import { createApp } from '../web/clearing-house-app.js'
import { closer, listen } from './listen.js'
import type { Service } from './service.js'

/** The clearing-house API, in this process. It alone has the signing keys. */
export function startClearingHouse(config: Config): Promise<Service> {
  const close = closer()
  return close.onFailure(async () => {
    const keys = tokenKeys(config.dataDir)
    const db = await openDatabase(config, complain)
    close.later(() => db.destroy())
    const shared = await openSharedState(config.redisUrl, db, complain)
    close.later(shared.close)
    const accounts = createAccountStore(db)
    const passwords = createPasswords()
    if (config.local) await addDemoData(db, passwords)
    const demo = await openDemoAccounts(accounts, passwords)
    const [open] = demo
    if (open && !config.local) {
      throw new Failure(
        `${open.email} still has its demo password, so HOST, BASE_URL and DATABASE_URL must stay on this machine. Set another: npm run account -- password ${open.email}`,
      )
    }

    const { server, url, drain } = await listen({ host: config.host, port: config.port, variable: 'PORT' })
    // With PORT=0 the address is known only now. No request is read before this turn of the event loop ends.
    const tokens = createTokenIssuer({ issuer: config.baseUrl ?? url, keys })
    let introduced: string | undefined
    const app = createApp({
      tokens,
      accounts,
      statements: createStatements(db),
      passwords,
      throttle: shared.throttle,
      revocation: shared.revocation,
      page: { reportingUrl: () => config.reportingUrl ?? introduced },
      checks: { database: () => accounts.isEmpty(), ...shared.checks },
      log: complain,
    })
    server.on('request', app)
    const stop = (gently: boolean) => drain({ gently }).then(close.now)
    return {
      ready: { url, demo },
      stop: () => stop(false),
      retire: () => stop(true),
      introduce(reportingUrl) {
        introduced = reportingUrl
      },
    }
  })
}

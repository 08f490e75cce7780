import { createTokenVerifier, remoteKeys } from 'express-token-endpoint'
import { type Config, keySourceOf } from '../config.js'
import { createAccountStore } from '../data/account-store.js'
import { openReadableDatabase } from '../data/databases/readable-database.js'
import { createReports } from '../data/reports.js'
import { openSharedState } from '../data/shared-state.js'
import { complain } from '../output.js'
import { createReportingApp } from '../web/reporting-app.js'
import { closer, listen } from './listen.js'
import type { Service } from './service.js'

/** The online reporting API, in this process. Of the issuer it knows the address and the public keys there. */
export function startReporting(config: Config): Promise<Service> {
  const close = closer()
  return close.onFailure(async () => {
    const { issuer, jwksUrl } = keySourceOf(config)
    const keys = remoteKeys(jwksUrl, { onError: ({ message }) => complain(message) })
    const db = await openReadableDatabase(config, complain)
    close.later(() => db.destroy())
    const shared = await openSharedState(config.redisUrl, db, complain)
    close.later(shared.close)
    const accounts = createAccountStore(db)
    const app = createReportingApp({
      tokens: createTokenVerifier({ issuer, keys }),
      accounts,
      reports: createReports(db),
      isRevoked: shared.revocation.isRevoked,
      // Not the issuer: while it is down, the keys held go on verifying.
      checks: { database: () => accounts.isEmpty(), ...shared.checks },
      log: complain,
    })
    const place = { host: config.host, port: config.reportingPort, variable: 'REPORTING_PORT' }
    const { server, url, drain } = await listen(place)
    server.on('request', app)
    const stop = (gently: boolean) => drain({ gently }).then(close.now)
    return { ready: { url, demo: [] }, stop: () => stop(false), retire: () => stop(true) }
  })
}

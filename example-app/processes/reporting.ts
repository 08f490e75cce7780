import { createSessions, createTokenVerifier, remoteKeys } from 'express-token-endpoint'
import { type Config, keySourceOf } from '../config.js'
import { createAccountStore } from '../data/account-store.js'
import { openReadableDatabase } from '../data/databases/readable-database.js'
import { createReports } from '../data/reports.js'
import { openSharedState } from '../data/shared-state.js'
import { complain } from '../output.js'
import { createReportingApp } from '../web/reporting-app.js'
import { listen } from './listen.js'

export interface Reporting {
  url: string
  stop: () => Promise<void>
}

/** Starts the online reporting API, which fetches the issuer's public keys and has no signing key. */
export async function startReporting(config: Config): Promise<Reporting> {
  const { issuer, jwksUrl } = keySourceOf(config)
  const keys = remoteKeys(jwksUrl, { onError: ({ message }) => complain(message) })
  const db = await openReadableDatabase(config, complain)
  const shared = await openSharedState(config.redisUrl, db, complain)
  const accounts = createAccountStore(db)
  // This process only reads the database.
  const sessions = createSessions({ ...shared.sessionStore, touch() {} })
  const { host, reportingPort: port } = config
  const { app, url, drain } = await listen({ host, port, variable: 'REPORTING_PORT' })
  createReportingApp({
    app,
    url: config.reportingUrl ?? url,
    tokens: createTokenVerifier({ issuer, keys }),
    accounts,
    reports: createReports(db),
    isRevoked: sessions.isEnded,
    trustedProxies: config.trustedProxies,
    // The issuer is not checked, because cached keys verify tokens while the issuer is down.
    checks: { database: () => accounts.isEmpty(), ...shared.checks },
    log: complain,
  })
  return {
    url,
    async stop() {
      await drain()
      await Promise.all([db.destroy(), shared.close()])
    },
  }
}

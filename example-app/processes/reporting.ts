import { createTokenVerifier, remoteKeys } from 'express-token-endpoint'
import { type Config, keySourceOf } from '../config.js'
import { openReadableDatabase } from '../data/databases/readable-database.js'
import { createReports } from '../data/reports.js'
import { createStatements } from '../data/statements.js'
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
  const { host, reportingPort: port } = config
  const { app, url, drain } = await listen({ host, port, variable: 'REPORTING_PORT' })
  createReportingApp({
    app,
    url: config.reportingUrl ?? url,
    tokens: createTokenVerifier({ issuer, keys }),
    reports: createReports(db),
    trustedProxies: config.trustedProxies,
    // The issuer is not checked, because cached keys verify tokens while the issuer is down.
    checks: { database: () => createStatements(db).findHouse('north') },
    log: complain,
  })
  return {
    url,
    async stop() {
      await drain()
      await db.destroy()
    },
  }
}

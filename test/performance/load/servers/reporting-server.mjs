// Starts the example's reporting API with shorter times for cached keys, because a test cannot wait an hour.
import { once } from 'node:events'
import { createServer } from 'node:http'
import { createTokenVerifier, remoteKeys } from 'express-token-endpoint'

const from = (file) => import(`../../../../example-app/dist/${file}.js`)
const [{ readConfig, keySourceOf }, { openReadableDatabase }, { openSharedState }] = await Promise.all(
  ['config', 'data/databases/readable-database', 'data/shared-state'].map(from),
)
const [{ createAccountStore }, { createReportingApp }, { createReports }] = await Promise.all(
  ['data/account-store', 'web/reporting-app', 'data/reports'].map(from),
)

const [settings] = process.argv.slice(2)
const log = (line) => process.stderr.write(`${line}\n`)
const config = readConfig(process.env)
const { issuer, jwksUrl } = keySourceOf(config)
const db = await openReadableDatabase(config, () => {})
const { revocation } = await openSharedState(config.redisUrl, db, log)
const accounts = createAccountStore(db)
const keys = remoteKeys(jwksUrl, { ...JSON.parse(settings), onError: ({ message }) => log(message) })
const app = createReportingApp({
  url: config.reportingUrl ?? `http://127.0.0.1:${config.reportingPort}`,
  tokens: createTokenVerifier({ issuer, keys }),
  accounts,
  reports: createReports(db),
  isRevoked: revocation.isRevoked,
  checks: {},
  trustedProxies: config.trustedProxies,
  log,
})

const server = createServer(app).listen(config.reportingPort, '127.0.0.1')
await once(server, 'listening')
process.on('disconnect', () => process.exit())
process.send('started')

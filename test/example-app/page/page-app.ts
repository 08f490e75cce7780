import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createLimits, createTokenVerifier, remoteKeys } from 'express-token-endpoint'
import { onTestFinished } from 'vitest'
import { openMailBox } from '../../../example-app/data/mail-box.js'
import { refreshSecrets } from '../../../example-app/data/refresh-secrets.js'
import { createReports } from '../../../example-app/data/reports.js'
import { signingKey } from '../../../example-app/data/signing-keys.js'
import { createStatements } from '../../../example-app/data/statements.js'
import { createClearingHouseApp } from '../../../example-app/web/clearing-house-app.js'
import { createReportingApp } from '../../../example-app/web/reporting-app.js'
import { openDemo } from '../data/databases/databases.js'
import { FOLDER, tempDir } from '../support.js'

export interface PageAppOptions {
  /** The most failed logins of an account from one address. */
  guesses?: number
  /** False for a server whose mails are off. Default: true. */
  mails?: boolean
  /** The number of proxies whose `X-Forwarded-For` names the client. Default: 0. */
  trustedProxies?: number
}

/** Starts both APIs and their page in this process, with the demo accounts and a clock that tests can stop and move. */
export async function startPageApp({ guesses = 10, mails = true, trustedProxies = 0 }: PageAppOptions = {}) {
  const { db, accounts, passwords, store } = await openDemo()
  let stoppedAt: number | undefined
  let ahead = 0
  const clock = () => (stoppedAt ?? Date.now()) + ahead
  const [clearingHouse, reporting] = [await serve(clock), await serve(clock)]
  const { url } = clearingHouse
  const common = { checks: {}, trustedProxies, log: () => {} }
  const dataDir = await tempDir()
  const mailBox = openMailBox(dataDir)

  clearingHouse.run(
    createClearingHouseApp({
      ...common,
      accounts,
      issuer: url,
      keys: signingKey(dataDir),
      clock,
      statements: createStatements(db),
      passwords,
      limits: createLimits({ limits: { pair: { points: guesses, duration: '15m' } } }),
      store,
      secrets: refreshSecrets(dataDir),
      page: { folder: FOLDER, reportingUrl: () => reporting.url },
      mailBox: mails ? mailBox : undefined,
    }),
  )
  const keys = remoteKeys(`${url}/.well-known/jwks.json`, { clock })
  reporting.run(
    createReportingApp({
      ...common,
      url: reporting.url,
      tokens: createTokenVerifier({ issuer: url, keys, clock }),
      reports: createReports(db),
    }),
  )
  const stopClock = () => {
    stoppedAt = Date.now()
  }
  const pass = (ms: number) => {
    ahead += ms
  }
  return { db, accounts, mailBox, clearingHouse, reporting, stopClock, pass }
}

export type PageApp = Awaited<ReturnType<typeof startPageApp>>

/** A server that can be stopped and started again at the same place. Its header `Date` has the time of `clock`. */
async function serve(clock: () => number) {
  const server = createServer()
  let port = 0
  const start = async () => {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    port = (server.address() as AddressInfo).port
  }
  const stop = async () => {
    if (!server.listening) return
    const closed = once(server, 'close')
    server.close()
    server.closeAllConnections()
    await closed
  }
  const run = (app: RequestListener) =>
    void server.on('request', (req, res) => app(req, res.setHeader('Date', new Date(clock()).toUTCString())))
  await start()
  onTestFinished(stop)
  return { url: `http://127.0.0.1:${port}`, run, start, stop }
}

import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createPasswords, createTokenIssuer } from 'express-token-endpoint'
import { createAccountStore } from './account-store.js'
import { createApp } from './app.js'
import { type Config, readConfig, urlOf } from './config.js'
import { openDatabase } from './database.js'
import { addDemoData, openDemoAccounts } from './demo.js'
import { explain, Failure } from './failure.js'
import { signingKey } from './keys.js'
import { complain, say } from './output.js'
import { openSharedState } from './shared-state.js'
import { drainable } from './shutdown.js'
import { stopOnSignals } from './signals.js'
import { createStatements } from './statements.js'
import { welcome } from './welcome.js'

/** @param closing is given what closes each part, as soon as it is open */
async function start(config: Config, closing: (() => unknown)[]): Promise<void> {
  const keys = signingKey(config.dataDir)
  const db = await openDatabase(config, complain)
  closing.push(() => db.destroy())
  const { throttle, revocation, checks, close } = await openSharedState(config.redisUrl, complain)
  closing.push(close)
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

  const server = createServer()
  const drain = drainable(server)
  const url = await listen(server, config)
  // With PORT=0 the address is known only now. No request is read before this turn of the event loop ends.
  const tokens = createTokenIssuer({ issuer: config.baseUrl ?? url, keys })
  const app = createApp({
    tokens,
    accounts,
    statements: createStatements(db),
    passwords,
    throttle,
    revocation,
    checks: { database: () => accounts.isEmpty(), ...checks },
    log: complain,
  })
  server.on('request', app)
  stopOnSignals(async () => {
    await drain()
    await closeAll(closing)
  })
  say(welcome(url, demo))
}

async function closeAll(closing: readonly (() => unknown)[]): Promise<void> {
  await Promise.all(closing.map((close) => close()))
}

async function listen(server: Server, { host, port }: Config): Promise<string> {
  try {
    server.listen(port, host)
    await once(server, 'listening')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    throw new Failure(`Port ${port} of ${host} is taken by another program. Choose another: PORT=3001 npm start`)
  }
  return urlOf(host, (server.address() as AddressInfo).port)
}

const closing: (() => unknown)[] = []
try {
  await start(readConfig(process.env), closing)
} catch (error) {
  complain(explain(error))
  process.exitCode = 1
  await closeAll(closing)
}

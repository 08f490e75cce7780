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
import { drainable } from './shutdown.js'
import { stopOnSignals } from './signals.js'
import { createStatements } from './statements.js'
import { welcome } from './welcome.js'

async function start(config: Config): Promise<void> {
  const keys = signingKey(config.dataDir)
  const db = await openDatabase(config.dataDir)
  const accounts = createAccountStore(db)
  const passwords = createPasswords()
  if (config.local) await addDemoData(db, passwords)
  const demo = await openDemoAccounts(accounts, passwords)
  const [open] = demo
  if (open && !config.local) {
    throw new Failure(
      `${open.email} still has its demo password, so HOST and BASE_URL must stay on this machine. Set another: npm run account -- password ${open.email}`,
    )
  }

  const server = createServer()
  const drain = drainable(server)
  const url = await listen(server, config)
  // With PORT=0 the address is known only now. No request is read before this turn of the event loop ends.
  const tokens = createTokenIssuer({ issuer: config.baseUrl ?? url, keys })
  server.on('request', createApp({ tokens, accounts, statements: createStatements(db), passwords, log: complain }))
  stopOnSignals(async () => {
    await drain()
    await db.destroy()
  })
  say(welcome(url, demo))
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

try {
  await start(readConfig(process.env))
} catch (error) {
  complain(explain(error))
  process.exitCode = 1
}

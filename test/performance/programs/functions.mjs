// Prints the functions of this package that one request runs, by V8's precise coverage, as JSON: their
// names by file, for each kind of request. It runs with --no-lazy-feedback-allocation.
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { Session } from 'node:inspector/promises'
import express from 'express'
import { createPasswords, createTokenIssuer, memoryAccounts, requireBearer, tokenRouter } from 'express-token-endpoint'
import { bearer, createClient, JSON_TYPE, login } from '../../support/plain-js/http-client.mjs'

const DIST = new URL('../../../dist/', import.meta.url).href

/** The build writes the name of each module of src above the module's code. */
const MODULE = /^\/\/ src\/(.*\.ts)$/gm
const modules = new Map()

/** Returns the module of src that a part of a built file comes from. */
function moduleAt(url, offset) {
  if (!modules.has(url)) modules.set(url, [...readFileSync(new URL(url), 'utf8').matchAll(MODULE)])
  return modules.get(url).findLast(({ index }) => index <= offset)?.[1] ?? url.slice(DIST.length)
}
const EMAIL = 'alice@example.com'
const PASSWORD = 'correct horse battery staple'

const session = new Session()
session.connect()
await session.post('Profiler.enable')

/** Runs a task, and returns the functions of the package that it ran, by file. */
async function functionsRunBy(task) {
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  await session.post('Profiler.takePreciseCoverage')
  await task()
  const { result } = await session.post('Profiler.takePreciseCoverage')
  await session.post('Profiler.stopPreciseCoverage')
  const files = {}
  for (const { url, functions } of result.filter(({ url }) => url.startsWith(DIST))) {
    for (const { functionName, ranges } of functions) {
      const [{ count, startOffset }] = ranges
      const file = moduleAt(url, startOffset)
      if (count > 0) files[file] = [...(files[file] ?? []), functionName || `(anonymous at ${startOffset})`]
    }
  }
  return files
}

const tokens = createTokenIssuer({ issuer: 'https://api.example.com', keys: { alg: 'HS256', secret: 'k'.repeat(32) } })
const passwords = createPasswords()
const accounts = memoryAccounts([{ id: 'acc-1', email: EMAIL, passwordHash: await passwords.hash(PASSWORD) }])
const app = express()
app.use(tokenRouter({ tokens, accounts, passwords }))
app.get('/guarded', requireBearer({ tokens }), (_req, res) => res.json({}))
const server = createServer(app).listen(0, '127.0.0.1')
await once(server, 'listening')
const { send, close } = createClient(server.address().port, { connections: 1 })

async function sendGood(request) {
  const { status, body } = await send(request)
  if (status !== 200) throw new Error(`${request.path}: ${status}`)
  return body
}
let token = ''
const logIn = async () => {
  token = JSON.parse(await sendGood({ ...login(EMAIL, PASSWORD), headers: JSON_TYPE })).authenticationToken
}
const guarded = () => sendGood(bearer(token, '/guarded'))

// The first of each also runs functions that run once a process.
await logIn()
await guarded()
const found = {
  login: await functionsRunBy(logIn),
  first: await functionsRunBy(guarded),
  cached: await functionsRunBy(guarded),
}
close()
server.close()
process.stdout.write(JSON.stringify(found))

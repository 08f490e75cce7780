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
      if (count === 0) continue
      const file = moduleAt(url, startOffset)
      files[file] = [...(files[file] ?? []), functionName || `(anonymous at ${startOffset})`]
    }
  }
  return files
}

/** Counts the functions of a login, of a guarded request with a new token and of one with a cached token. */
async function countFunctions() {
  const tokens = createTokenIssuer({
    issuer: 'https://api.example.com',
    keys: { alg: 'HS256', secret: 'k'.repeat(32) },
  })
  const passwords = createPasswords()
  const accounts = memoryAccounts([{ id: 'acc-1', email: EMAIL, passwordHash: await passwords.hash(PASSWORD) }])
  const app = express()
  app.use(tokenRouter({ tokens, accounts, passwords }))
  app.get('/guarded', requireBearer({ tokens }), (_req, res) => res.json({}))
  const server = createServer(app).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  const { send, close } = createClient(port, { connections: 1 })
  const sendGood = async (request) => {
    const { status, body } = await send(request)
    if (status !== 200) throw new Error(`${request.path}: ${status}`)
    return body
  }
  const logIn = () => sendGood({ ...login(EMAIL, PASSWORD), headers: JSON_TYPE })
  const guarded = (token) => sendGood(bearer(token, '/guarded'))
  try {
    // The first of each also runs functions that run once a process.
    await guarded(JSON.parse(await logIn()).authenticationToken)
    let token = ''
    const ofLogin = await functionsRunBy(async () => {
      token = JSON.parse(await logIn()).authenticationToken
    })
    const first = await functionsRunBy(() => guarded(token))
    const cached = await functionsRunBy(() => guarded(token))
    return { login: ofLogin, first, cached }
  } finally {
    close()
    server.close()
  }
}

process.stdout.write(JSON.stringify(await countFunctions()))

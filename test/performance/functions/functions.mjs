// npm run count:functions: how many of this package's functions one request runs, by V8's precise coverage.
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { Agent, createServer, request } from 'node:http'
import { Session } from 'node:inspector/promises'
import { fileURLToPath } from 'node:url'
import express from 'express'
import { createPasswords, createTokenIssuer, memoryAccounts, requireBearer, tokenRouter } from 'express-token-endpoint'

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
const TOKEN_PATH = '/api/v2013/authentication/token'

const agent = new Agent({ keepAlive: true })
const session = new Session()
session.connect()
await session.post('Profiler.enable')

/** Runs a task, and returns the functions of the package that it ran, as `file: function`. */
async function functionsRunBy(task) {
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  await session.post('Profiler.takePreciseCoverage')
  await task()
  const { result } = await session.post('Profiler.takePreciseCoverage')
  await session.post('Profiler.stopPreciseCoverage')
  return result
    .filter(({ url }) => url.startsWith(DIST))
    .flatMap(({ url, functions }) =>
      functions
        .filter(({ ranges: [{ count }] }) => count > 0)
        .map(({ functionName, ranges: [{ startOffset }] }) => ({
          file: moduleAt(url, startOffset),
          name: functionName || `(anonymous at ${startOffset})`,
        })),
    )
}

async function send(port, { method = 'GET', path, headers = {}, body }) {
  const req = request({ host: '127.0.0.1', port, method, path, headers, agent })
  req.end(body)
  const [res] = await once(req, 'response')
  let text = ''
  for await (const chunk of res.setEncoding('utf8')) text += chunk
  if (res.statusCode !== 200) throw new Error(`${method} ${path}: ${res.statusCode}`)
  return text
}

/** Counts the functions of a login, of a guarded request with a new token and of one with a cached token. */
export async function countFunctions() {
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
  const logIn = () =>
    send(port, {
      method: 'POST',
      path: TOKEN_PATH,
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ email: EMAIL, password: PASSWORD }),
    })
  const guarded = (token) => send(port, { path: '/guarded', headers: { Authorization: `Bearer ${token}` } })
  try {
    // The first of each also runs functions that run once a process.
    await guarded(JSON.parse(await logIn()).authenticationToken)
    let token = ''
    const login = await functionsRunBy(async () => {
      token = JSON.parse(await logIn()).authenticationToken
    })
    const first = await functionsRunBy(() => guarded(token))
    const cached = await functionsRunBy(() => guarded(token))
    return { login, first, cached }
  } finally {
    agent.destroy()
    server.close()
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [name, functions] of Object.entries(await countFunctions())) {
    const files = new Map()
    for (const { file, name: fn } of functions) files.set(file, [...(files.get(file) ?? []), fn])
    process.stdout.write(`${name}: ${functions.length} functions in ${files.size} files\n`)
    if (process.argv.includes('--list'))
      for (const [file, names] of files) process.stdout.write(`  ${file}: ${names.join(', ')}\n`)
  }
}

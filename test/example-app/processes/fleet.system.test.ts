import { once } from 'node:events'
import { Agent, type IncomingMessage, type RequestOptions, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { NO_NGINX, startNginx } from '../../support/services/nginx.js'
import { NO_POSTGRES, startPostgres } from '../../support/services/postgres.js'
import { NO_REDIS, startRedis } from '../../support/services/redis.js'
import { freePort } from '../../support/services/servers/free-port.mjs'
import { SERVER_START_MS } from '../data/databases/databases.js'
import { NORTH, REPORT, type Running, run, SIGN_OUT_PATH, start, TOKEN_PATH, tempDir, tokenFrom } from '../support.js'

/** A setup with a proxy has no demo accounts. */
const CAROL = { email: 'carol@example.com', password: "carol's own password" }

/** Responses of each kind that must arrive between two steps of a replacement. */
const ENOUGH = 20
const TIME_LIMIT = { timeout: 60_000, interval: 20 }

/** Starts nginx with the shipped configuration, and two processes of each API as its servers. */
async function startFleet() {
  const [postgres, redis] = [await startPostgres(), await startRedis()]
  const ports = {
    clearing_house: [await freePort(), await freePort()],
    reporting: [await freePort(), await freePort()],
  }
  const nginx = await startNginx(ports)
  const url = `http://127.0.0.1:${nginx.ports.clearingHouse}`
  const env = {
    DATA_DIR: await tempDir(),
    DATABASE_URL: await postgres.createDatabase(),
    REDIS_URL: redis.url,
    BASE_URL: url,
    JWKS_URL: `${url}/.well-known/jwks.json`,
    TRUSTED_PROXIES: '1',
  }
  const names = [
    ...ports.clearing_house.map((port) => `clearing-house:${port}`),
    ...ports.reporting.map((port) => `reporting:${port}`),
  ]
  const scopes = ['--scope', 'statements:read', '--scope', 'reports:read']
  await run('commands/account', ['add', CAROL.email, ...scopes], env, CAROL.password)
  const processes = new Map<string, Running>()
  for (const name of names) processes.set(name, await start(env, name))
  const replace = async (name: string) => {
    const old = processes.get(name) as Running
    old.kill('SIGTERM')
    expect(await old.exit).toEqual({ code: 0, signal: null })
    processes.set(name, await start(env, name))
  }
  const reporting = `http://127.0.0.1:${nginx.ports.reporting}`
  return { nginx, url, reporting, names, processes, replace }
}

/** Sends one request and returns its status and body. */
async function send(url: string, options: RequestOptions, body?: string) {
  const req = request(url, options).end(body)
  const [res] = (await once(req, 'response')) as [IncomingMessage]
  return { status: res.statusCode, body: await text(res) }
}

interface Load {
  kind: string
  clients: number
  ask: (agent: Agent) => Promise<{ status: number | undefined; body: string }>
  /** Returns what is wrong with the body of a 200, or undefined. */
  check: (body: string) => string | undefined
}

/** Sends requests over keep-alive connections until `stop` is called. Counts the right responses, and collects all others. */
function startLoad(loads: Load[]) {
  const agent = new Agent({ keepAlive: true, maxSockets: 32 })
  const right = new Map<string, number>()
  const wrong: string[] = []
  let running = true
  const client = async ({ kind, ask, check }: Load) => {
    while (running) {
      const fault = await ask(agent).then(
        ({ status, body }) => (status === 200 ? check(body) : `status ${status}: ${body}`),
        (error: Error) => error.message,
      )
      if (fault === undefined) right.set(kind, (right.get(kind) ?? 0) + 1)
      else wrong.push(`${kind}: ${fault}`)
    }
  }
  const clients = Promise.all(loads.flatMap((load) => Array.from({ length: load.clients }, () => client(load))))
  const stop = async () => {
    running = false
    await clients
    agent.destroy()
  }
  onTestFinished(stop)
  return {
    wrong,
    /** Resolves when some more responses of each kind have arrived. */
    async goesOn() {
      const before = new Map(right)
      for (const { kind } of loads) {
        await vi.waitFor(
          () => expect(right.get(kind) ?? 0).toBeGreaterThan((before.get(kind) ?? 0) + ENOUGH),
          TIME_LIMIT,
        )
      }
    },
    stop,
    total: () => [...right.values()].reduce((sum, count) => sum + count, 0),
  }
}

describe.skipIf(NO_NGINX || NO_POSTGRES || NO_REDIS)('several processes behind nginx', () => {
  test(
    'replacing the processes one by one under load loses no request',
    async () => {
      const { nginx, url, reporting, names, replace } = await startFleet()
      const token = await tokenFrom(url, CAROL)
      const headers = { Authorization: `Bearer ${token}` }
      const get = (path: string) => (agent: Agent) => send(path, { agent, headers })
      const body = JSON.stringify(CAROL)
      const json = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) }
      const same = (expected: string) => (body: string) => (body === expected ? undefined : `body ${body}`)
      const load = startLoad([
        {
          kind: 'statements',
          clients: 6,
          ask: get(url + NORTH),
          check: same((await send(url + NORTH, { headers })).body),
        },
        {
          kind: 'totals',
          clients: 4,
          ask: get(reporting + REPORT),
          check: same((await send(reporting + REPORT, { headers })).body),
        },
        {
          kind: 'login',
          clients: 2,
          ask: (agent) => send(url + TOKEN_PATH, { agent, method: 'POST', headers: json }, body),
          check: (answer) => ('authenticationToken' in JSON.parse(answer) ? undefined : answer),
        },
      ])
      await load.goesOn()
      for (const name of names) {
        await replace(name)
        await load.goesOn()
      }
      await load.stop()
      expect(load.wrong).toEqual([])

      const log = await nginx.accessLog()
      for (const name of names) expect(log).toContain(` 127.0.0.1:${name.split(':')[1]} `)
      const lines = log.trim().split('\n')
      expect(lines.length).toBeGreaterThan(load.total())
      expect(lines.filter((line) => !line.startsWith('200 '))).toEqual([])
      const logs = log + (await nginx.errorLog())
      for (const secret of [...token.split('.'), CAROL.password]) expect(logs).not.toContain(secret)
    },
    3 * SERVER_START_MS,
  )

  test(
    'a process sees the address of the client, and ignores a forged one',
    async () => {
      const { url, processes } = await startFleet()
      const headers = { 'X-Forwarded-For': '203.0.113.7' }
      for (const path of [NORTH, SIGN_OUT_PATH]) {
        const method = path === NORTH ? 'GET' : 'POST'
        await send(url + path, { method, headers, localAddress: '127.0.0.9' })
      }
      const output = () => [...processes.values()].map((running) => running.output()).join('')
      await vi.waitFor(
        () => expect(output().match(/bearer\.refused missing_token from=127\.0\.0\.9\n/g)).toHaveLength(2),
        TIME_LIMIT,
      )
      expect(output()).not.toContain('203.0.113.7')
    },
    3 * SERVER_START_MS,
  )
})

import { copyFile, mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as after } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { NO_POSTGRES } from '../../support/services/postgres.js'
import { freePort, NO_REDIS, startRedis } from '../../support/services/redis.js'
import { usePostgres } from '../data/databases/databases.js'
import {
  ALICE,
  descendants,
  loginInFlight,
  NORTH,
  REPORT,
  type RunningPair,
  run,
  SIGN_OUT_PATH,
  start,
  startBoth,
  statusOf,
  tempDir,
  tokenFrom,
} from '../support.js'

const BASE_URL = 'http://localhost:3000'

/** The process of one of the two. */
async function processOf({ pid }: RunningPair, name: string): Promise<number> {
  const found = (await descendants(pid)).find(({ command }) => command.includes(` ${name} `))
  return found?.pid ?? expect.fail(`there is no process ${name}`)
}

const alive = async (url: string) => (await fetch(`${url}/healthz`)).status
const ready = async (url: string) => (await fetch(`${url}/readyz`)).json()

describe('npm start', () => {
  test('one token opens both APIs, and a sign-out closes both', async () => {
    const { url, reporting } = await startBoth({ DATA_DIR: await tempDir() })
    const token = await tokenFrom(url, ALICE)
    expect(await statusOf(url + NORTH, token)).toBe(200)
    expect(await statusOf(reporting + REPORT, token)).toBe(200)
    const headers = { Authorization: `Bearer ${token}` }
    expect(await fetch(url + SIGN_OUT_PATH, { method: 'POST', headers })).toMatchObject({ status: 204 })
    expect(await statusOf(url + NORTH, token)).toBe(401)
    expect(await statusOf(reporting + REPORT, token)).toBe(401)
    for (const one of [url, reporting]) expect(await ready(one)).toEqual({ status: 'ok', parts: { database: 'ok' } })
  })

  test.each(['SIGTERM', 'SIGINT'] as const)('%s: answers what is in flight, and ends both', async (signal) => {
    const app = await startBoth({ DATA_DIR: await tempDir() })
    const send = await loginInFlight(app.url)
    app.kill(signal)
    await app.printed('Stopping')
    expect(await send()).toMatchObject({ status: 200 })
    expect(await app.exit).toEqual({ code: 0, signal: null })
    for (const url of [app.url, app.reporting]) await expect(alive(url)).rejects.toThrow()
    expect(app.output()).toMatch(/\nStopping: .+\n$/)
  })

  test('a Ctrl-C that reaches all processes at once is the same', async () => {
    const app = await startBoth({ DATA_DIR: await tempDir() })
    const send = await loginInFlight(app.url)
    const all = await descendants(app.pid)
    expect(all).toHaveLength(2)
    for (const { pid } of all) process.kill(pid, 'SIGINT')
    app.kill('SIGINT')
    await app.printed('Stopping')
    expect(await send()).toMatchObject({ status: 200 })
    expect(await app.exit).toEqual({ code: 0, signal: null })
  })

  test.each([
    ['clearing-house', 'clearing-house API'],
    ['reporting', 'online reporting API'],
  ])('when %s dies, the other is stopped, with 1', async (name, title) => {
    const app = await startBoth({ DATA_DIR: await tempDir() })
    process.kill(await processOf(app, name), 'SIGKILL')
    expect(await app.exit).toEqual({ code: 1, signal: null })
    expect(app.output()).toMatch(new RegExp(`\\nThe ${title} has ended unexpectedly \\(SIGKILL\\)\\.\\n$`))
    for (const url of [app.url, app.reporting]) await expect(alive(url)).rejects.toThrow()
  })

  test('when one dies, the other still answers what is in flight', async () => {
    const app = await startBoth({ DATA_DIR: await tempDir() })
    const send = await loginInFlight(app.url)
    process.kill(await processOf(app, 'reporting'), 'SIGKILL')
    await app.printed('has ended unexpectedly')
    expect(await send()).toMatchObject({ status: 200 })
    expect(await app.exit).toEqual({ code: 1, signal: null })
  })

  test('a second signal stops both at once, with 1', async () => {
    const app = await startBoth({ DATA_DIR: await tempDir() })
    const send = await loginInFlight(app.url)
    app.kill('SIGINT')
    await app.printed('Stopping')
    // Half a second is how long two signals count as one.
    await after(600)
    app.kill('SIGINT')
    expect(await app.exit).toEqual({ code: 1, signal: null })
    await expect(send()).rejects.toThrow()
  })

  test('when it is killed itself, it leaves nobody behind', async () => {
    const app = await startBoth({ DATA_DIR: await tempDir() })
    const all = await descendants(app.pid)
    app.kill('SIGKILL')
    await app.exit
    const isAlive = (pid: number) => {
      try {
        return process.kill(pid, 0)
      } catch {
        return false
      }
    }
    for (const { pid } of all) await expect.poll(() => isAlive(pid), { timeout: 20_000 }).toBe(false)
  })

  test('the port of the second one is taken: one line, and the first one ends too', async () => {
    const { url } = await start({ DATA_DIR: await tempDir() })
    const [port, free] = [new URL(url).port, await freePort()]
    const env = { DATA_DIR: await tempDir(), PORT: `${free}`, REPORTING_PORT: port }
    const { code, stdout, stderr } = await run('main', [], env)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(new RegExp(`^Port ${port} of 127\\.0\\.0\\.1 is taken.+REPORTING_PORT=.+\\n$`))
    await expect(alive(`http://127.0.0.1:${free}`)).rejects.toThrow()
  })

  test('an API that there is not: one line', async () => {
    for (const args of [['clearing'], ['reporting', 'clearing-house'], ['toString']]) {
      const { code, stdout, stderr } = await run('main', args, {})
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
      expect(stderr).toMatch(/^To start one API: .+\n$/)
    }
  })
})

describe.skipIf(NO_POSTGRES || NO_REDIS)('npm start on PostgreSQL and Redis', () => {
  const createDatabase = usePostgres()

  test('one token opens both APIs, and a sign-out closes both', async () => {
    const redis = await startRedis()
    const env = { DATA_DIR: await tempDir(), DATABASE_URL: await createDatabase(), REDIS_URL: redis.url }
    const { url, reporting } = await startBoth(env)
    const token = await tokenFrom(url, ALICE)
    expect(await statusOf(reporting + REPORT, token)).toBe(200)
    const headers = { Authorization: `Bearer ${token}` }
    expect(await fetch(url + SIGN_OUT_PATH, { method: 'POST', headers })).toMatchObject({ status: 204 })
    expect(await statusOf(url + NORTH, token)).toBe(401)
    expect(await statusOf(reporting + REPORT, token)).toBe(401)
    expect(await ready(reporting)).toEqual({ status: 'ok', parts: { database: 'ok', redis: 'ok' } })
    await redis.kill()
    expect(await statusOf(reporting + REPORT, await tokenFrom(url, ALICE))).toBe(503)
  })
})

describe('the reporting API alone', () => {
  test('needs the database and the address of the keys, and never has a signing key', async () => {
    const [dataDir, readDir] = [await tempDir(), join(await tempDir(), 'data')]
    const first = await start({ DATA_DIR: dataDir, BASE_URL })
    const token = await tokenFrom(first.url, ALICE)
    await mkdir(readDir)
    for (const file of await readdir(dataDir)) {
      if (file.includes('.sqlite')) await copyFile(join(dataDir, file), join(readDir, file))
    }
    const files = await readdir(readDir)
    const env = { DATA_DIR: readDir, BASE_URL, JWKS_URL: `${first.url}/.well-known/jwks.json` }
    const { url, output } = await start(env, 'reporting')
    expect(output()).toBe(`The online reporting API listens on ${url} (Ctrl-C stops it).\n`)
    expect(await statusOf(url + REPORT, token)).toBe(200)
    expect(files.some((file) => /key|pem/.test(file))).toBe(false)
    expect((await readdir(readDir)).some((file) => /key|pem/.test(file))).toBe(false)
  })

  test('makes no SQLite file, and says so when there is none', async () => {
    const dataDir = await tempDir()
    const env = { DATA_DIR: dataDir, BASE_URL, JWKS_URL: 'http://127.0.0.1:9/keys', REPORTING_PORT: '0' }
    const { code, stdout, stderr } = await run('main', ['reporting'], env)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(/^\S+clearing-house\.sqlite is not there\. .+npm run start:clearing-house\n$/)
    expect(await readdir(dataDir)).toEqual([])
  })

  test('an issuer that is away: 503 and one line, never a token', async () => {
    const dataDir = await tempDir()
    const first = await start({ DATA_DIR: dataDir, BASE_URL })
    const token = await tokenFrom(first.url, ALICE)
    const port = await freePort()
    const env = { DATA_DIR: dataDir, BASE_URL, JWKS_URL: `http://127.0.0.1:${port}/keys` }
    await rm(join(dataDir, 'signing-key.pem'))
    const { url, output, printed } = await start(env, 'reporting')
    expect(await statusOf(url + REPORT, token)).toBe(503)
    await printed('dependency.failed keys')
    expect(output()).toContain(`remoteKeys: no keys from http://127.0.0.1:${port}/keys`)
    for (const part of token.split('.')) expect(output()).not.toContain(part)
  })

  test('stops on SIGTERM', async () => {
    const dataDir = await tempDir()
    const issuer = await start({ DATA_DIR: dataDir, BASE_URL })
    const env = { DATA_DIR: dataDir, BASE_URL, JWKS_URL: `${issuer.url}/.well-known/jwks.json` }
    const reporting = await start(env, 'reporting')
    reporting.kill('SIGTERM')
    expect(await reporting.exit).toEqual({ code: 0, signal: null })
  })
})

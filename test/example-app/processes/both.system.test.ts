import { copyFile, mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as after } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { NO_POSTGRES } from '../../support/services/postgres.js'
import { NO_REDIS, startRedis } from '../../support/services/redis.js'
import { freePort } from '../../support/services/servers/free-port.mjs'
import { usePostgres } from '../data/databases/databases.js'
import {
  ALICE,
  loginInFlight,
  NORTH,
  REPORT,
  run,
  SIGN_OUT_PATH,
  start,
  startBoth,
  statusOf,
  tempDir,
  tokenFrom,
} from '../support.js'

const BASE_URL = 'http://localhost:3000'

const alive = async (url: string) => (await fetch(`${url}/healthz`)).status
const ready = async (url: string) => (await fetch(`${url}/readyz`)).json()

describe('npm start', () => {
  test.each(['SIGTERM', 'SIGINT'] as const)('%s: both APIs finish the requests in flight and stop', async (signal) => {
    const app = await startBoth({ DATA_DIR: await tempDir() })
    const send = await loginInFlight(app.url)
    app.kill(signal)
    await app.printed('Stopping')
    for (const url of [app.url, app.reporting]) await expect(alive(url)).rejects.toThrow()
    expect(await send()).toMatchObject({ status: 200, connection: 'close' })
    expect(await app.exit).toEqual({ code: 0, signal: null })
    expect(app.output()).toMatch(/\nStopping .+\n$/)
  })

  test('a second signal stops both APIs at once with exit code 1', async () => {
    const app = await startBoth({ DATA_DIR: await tempDir() })
    const send = await loginInFlight(app.url)
    app.kill('SIGINT')
    await app.printed('Stopping')
    // Two signals within half a second count as one.
    await after(600)
    app.kill('SIGINT')
    expect(await app.exit).toEqual({ code: 1, signal: null })
    await expect(send()).rejects.toThrow()
  })

  test('exits with one line when the port of the second API is taken', async () => {
    const { url } = await start({ DATA_DIR: await tempDir() })
    const [port, free] = [new URL(url).port, await freePort()]
    const env = { DATA_DIR: await tempDir(), PORT: `${free}`, REPORTING_PORT: port }
    const { code, stdout, stderr } = await run('main', [], env)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(
      new RegExp(`^Another program uses port ${port} of 127\\.0\\.0\\.1\\. .+REPORTING_PORT=.+\\n$`),
    )
    await expect(alive(`http://127.0.0.1:${free}`)).rejects.toThrow()
  })
})

describe.skipIf(NO_POSTGRES || NO_REDIS)('npm start on PostgreSQL and Redis', () => {
  const createDatabase = usePostgres()

  test('both APIs accept one token, and refuse it after a sign-out', async () => {
    const redis = await startRedis()
    const env = { DATA_DIR: await tempDir(), DATABASE_URL: await createDatabase(), REDIS_URL: redis.url }
    const { url, reporting } = await startBoth(env)
    const signedOut = await tokenFrom(url, ALICE)
    const statuses = () => Promise.all([url + NORTH, reporting + REPORT].map((path) => statusOf(path, signedOut)))
    expect(await statuses()).toEqual([200, 200])
    const headers = { Authorization: `Bearer ${signedOut}` }
    expect(await fetch(url + SIGN_OUT_PATH, { method: 'POST', headers })).toMatchObject({ status: 204 })
    expect(await statuses()).toEqual([401, 401])
    expect(await ready(reporting)).toEqual({ status: 'ok', checks: { database: 'ok', redis: 'ok' } })
    const token = await tokenFrom(url, ALICE)
    await redis.kill()
    expect(await statusOf(reporting + REPORT, token)).toBe(503)
  })
})

describe('npm start reporting', () => {
  test('needs the database and the address of the keys, and no signing key', async () => {
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
})

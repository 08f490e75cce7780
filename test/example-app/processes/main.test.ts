import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  ALICE,
  BOB,
  login,
  loginInFlight,
  NORTH,
  REPORT,
  run,
  start,
  startBoth,
  statusOf,
  tempDir,
  tokenFrom,
} from '../support.js'

const BASE_URL = 'http://localhost:3000'

describe('the first start', () => {
  test('prints the demo credentials and the reason why they are not secret', async () => {
    const { output } = await startBoth({ DATA_DIR: await tempDir() })
    expect(output()).toContain(`  ${ALICE.email}  ${ALICE.password}  statements:read reports:read\n`)
    expect(output()).toContain(`  ${BOB.email}  ${BOB.password}  (no scope)\n`)
    expect(output()).toContain('the app creates them only where no other machine can connect')
  })

  test('never prints a token or the key', async () => {
    const dataDir = await tempDir()
    const { url, reporting, output } = await startBoth({ DATA_DIR: dataDir })
    const token = await tokenFrom(url, ALICE)
    await statusOf(url + NORTH, `${token}x`)
    await statusOf(reporting + REPORT, `${token}x`)
    const [, key = ''] = (await readFile(join(dataDir, 'signing-key.pem'), 'utf8')).split('\n')
    expect(key).toMatch(/^MIG/)
    expect(output()).toContain('bearer.refused invalid_token')
    for (const secret of [...token.split('.'), key, 'PRIVATE']) expect(output()).not.toContain(secret)
  })
})

test('keeps accounts and key, so a token still works after a restart', async () => {
  const env = { DATA_DIR: await tempDir(), BASE_URL }
  const first = await start(env)
  const token = await tokenFrom(first.url, ALICE)
  first.kill('SIGTERM')
  await first.exit
  const second = await startBoth(env)
  expect(await statusOf(second.url + NORTH, token)).toBe(200)
  expect(second.output()).toContain(ALICE.password)
})

test('several processes that start at once in an empty folder share its key and accounts', async () => {
  const env = { DATA_DIR: await tempDir(), BASE_URL }
  const [one, ...others] = await Promise.all([start(env), start(env), start(env)])
  const token = await tokenFrom(one.url, ALICE)
  for (const { url } of others) expect(await statusOf(url + NORTH, token)).toBe(200)
})

test('prints no demo lines after a demo password has changed', async () => {
  const env = { DATA_DIR: await tempDir() }
  const first = await start(env)
  first.kill('SIGTERM')
  await first.exit
  await run('commands/account', ['password', BOB.email], env, 'another password')
  const { output } = await startBoth(env)
  expect(output()).not.toContain('demo-password')
  expect(output()).not.toContain('curl')
})

test('refuses a token of another environment with the same key and accounts', async () => {
  const env = { DATA_DIR: await tempDir() }
  const [one, other] = [await start(env), await start({ ...env, BASE_URL })]
  const token = await tokenFrom(one.url, ALICE)
  expect(await statusOf(one.url + NORTH, token)).toBe(200)
  expect(await statusOf(other.url + NORTH, token)).toBe(401)
})

describe('exits with one line', () => {
  const REPORTING = { BASE_URL, JWKS_URL: 'http://127.0.0.1:9/keys', REPORTING_PORT: '0' }
  test.each<[string, string[], Record<string, string>, RegExp]>([
    ['with an invalid setting', [], { PORT: 'http' }, /^PORT is invalid\. Set a whole number from 0 to 65535\.\n$/],
    ['with an unknown API', ['clearing'], {}, /^Unknown arguments\. Pass .+\n$/],
    ['with two APIs', ['reporting', 'clearing-house'], {}, /^Unknown arguments\. Pass .+\n$/],
    ['with a port that is no number', ['reporting:http'], {}, /^Unknown arguments\. Pass .+\n$/],
    [
      'with a data folder that cannot be created',
      [],
      { DATA_DIR: '/dev/null/data', PORT: '0' },
      /^ENOTDIR: .+'\/dev\/null\/data\/keys'\n$/,
    ],
    [
      'without the database of DATABASE_URL',
      [],
      { PORT: '0', DATABASE_URL: 'postgres://u:s3cret@127.0.0.1:9/x' },
      /^DATABASE_URL: PostgreSQL: connect ECONNREFUSED 127\.0\.0\.1:9\n$/,
    ],
    [
      'without the Redis of REDIS_URL',
      [],
      { PORT: '0', REDIS_URL: 'redis://:s3cret@127.0.0.1:9' },
      /^REDIS_URL: connect ECONNREFUSED 127\.0\.0\.1:9\n$/,
    ],
    [
      'without the SQLite file that the reporting API reads',
      ['reporting'],
      REPORTING,
      /^\S+clearing-house\.sqlite does not exist\. .+npm start clearing-house\n$/,
    ],
  ])('%s', async (_what, args, env, says) => {
    const dataDir = await tempDir()
    const { code, stdout, stderr } = await run('main', args, { DATA_DIR: dataDir, ...env })
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(says)
    if (args[0] === 'reporting') expect(await readdir(dataDir)).toEqual([])
  })

  test('when other machines could reach the demo accounts', async () => {
    const env = { DATA_DIR: await tempDir(), PORT: '0' }
    const first = await start(env)
    first.kill('SIGTERM')
    await first.exit
    const { code, stderr } = await run('main', [], { ...env, TRUSTED_PROXIES: '1', NODE_ENV: 'production' })
    expect(code).toBe(1)
    expect(stderr).toMatch(/^alice@example\.com still has its demo password, but TRUSTED_PROXIES and NODE_ENV .+\n$/)
  })
})

test.each([
  [{ BASE_URL: 'https://api.example.com' }, 'https://api.example.com/'],
  [{ TRUSTED_PROXIES: '1', REPORTING_URL: 'https://reports.example.com' }, 'http://127.0.0.1'],
])('lets no demo account sign in with %j', async (settings, page) => {
  const { url, output } = await startBoth({ DATA_DIR: await tempDir(), ...settings })
  expect(output()).toMatch(
    /^The clearing-house API listens on .+\nSign in with a browser: http\S+\nAdd an account: .+\n$/,
  )
  expect(output()).toContain(`browser: ${page}`)
  expect(await login(url, ALICE)).toMatchObject({ status: 403 })
})

describe('stopping', () => {
  test('waits for a login, and not for connections that ask nothing', async () => {
    const app = await start({ DATA_DIR: await tempDir() })
    const { port } = new URL(app.url)
    const silent = connect(Number(port), '127.0.0.1')
    await once(silent, 'connect')
    const idle = connect(Number(port), '127.0.0.1')
    idle.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
    await once(idle, 'data')
    const send = await loginInFlight(app.url)
    app.kill('SIGTERM')
    await Promise.all([once(silent, 'close'), once(idle, 'close')])
    expect(await send()).toMatchObject({ status: 200 })
    expect(await app.exit).toEqual({ code: 0, signal: null })
  })

  test('takes the Ctrl-C that npm passes on for the same one', async () => {
    const app = await start({ DATA_DIR: await tempDir() })
    const send = await loginInFlight(app.url)
    app.kill('SIGINT')
    await app.printed('Stopping')
    app.kill('SIGINT')
    expect(await send()).toMatchObject({ status: 200 })
    expect(await app.exit).toEqual({ code: 0, signal: null })
  })

  test('finishes two hundred logins in flight, resets no connection, and exits with 0', async () => {
    const app = await start({ DATA_DIR: await tempDir() })
    const emails = Array.from({ length: 200 }, (_, i) => (i % 20 === 0 ? ALICE.email : `nobody${i}@example.com`))
    const logins = await Promise.all(emails.map((email) => loginInFlight(app.url, email)))
    app.kill('SIGTERM')
    await app.printed('Stopping')
    const responses = await Promise.all(logins.map((send) => send()))
    const statuses = responses.map(({ status }) => status)
    expect(statuses).toHaveLength(200)
    expect(statuses.filter((status) => ![200, 403, 429, 503].includes(status ?? 0))).toEqual([])
    expect(statuses).toContain(200)
    expect(await app.exit).toEqual({ code: 0, signal: null })
  })
})

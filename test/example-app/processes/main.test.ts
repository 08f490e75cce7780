import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { until } from '../../support/concurrency.js'
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
  stop,
  TOKEN_PATH,
  tempDir,
  tokenFrom,
} from '../support.js'

const BASE_URL = 'http://localhost:3000'
let DATA_DIR: string
beforeEach(async () => {
  DATA_DIR = await tempDir()
})

test('prints the demo accounts, why their passwords are no secret, and never a token or the key', async () => {
  const { url, reporting, output } = await startBoth({ DATA_DIR })
  expect(output()).toContain(`  ${ALICE.email}  ${ALICE.password}  statements:read reports:read\n`)
  expect(output()).toContain(`  ${BOB.email}  ${BOB.password}  (no scope)\n`)
  expect(output()).toContain('the app creates them only where no other machine can connect')
  const token = await tokenFrom(url, ALICE)
  await statusOf(url + NORTH, `${token}x`)
  await statusOf(reporting + REPORT, `${token}x`)
  const [, key = ''] = (await readFile(join(DATA_DIR, 'signing-key.pem'), 'utf8')).split('\n')
  expect(key).toMatch(/^MIG/)
  expect(output()).toContain('bearer.refused invalid_token')
  const refreshSecret = (await readFile(join(DATA_DIR, 'refresh-secret'), 'utf8')).trim()
  for (const secret of [...token.split('.'), key, refreshSecret, 'PRIVATE']) expect(output()).not.toContain(secret)
})

test('prints where the mails are, which both a browser and a person with a shell can read', async () => {
  const { url, output } = await startBoth({ DATA_DIR })
  const folder = join(DATA_DIR, 'mails')
  expect(output()).toContain(`\nRead the demo’s emails: ${url}/mailbox (files in ${folder})\n`)
  const body = new URLSearchParams({ email: 'carol@example.com' })
  expect(await fetch(`${url}/auth/account`, { method: 'POST', body })).toMatchObject({ status: 202 })
  await until(async () => expect(await (await fetch(`${url}/mailbox`)).text()).toContain('carol@example.com'))
  const [file = ''] = await readdir(folder)
  const { link } = JSON.parse(await readFile(join(folder, file), 'utf8'))
  expect(link).toMatch(new RegExp(`^${url}/#sign-up=`))
  expect(output()).not.toContain(link.split('=')[1])
})

test('processes that start at once in an empty folder share its key and accounts, also after a restart', async () => {
  const env = { DATA_DIR, BASE_URL }
  const [one, ...others] = await Promise.all([start(env), start(env), start(env)])
  const token = await tokenFrom(one.url, ALICE)
  for (const { url } of others) expect(await statusOf(url + NORTH, token)).toBe(200)
  await Promise.all([one, ...others].map(stop))
  const again = await startBoth(env)
  expect(await statusOf(again.url + NORTH, token)).toBe(200)
  expect(again.output()).toContain(ALICE.password)
  const elsewhere = await start({ DATA_DIR })
  // Another environment with the same key and accounts.
  expect(await statusOf(elsewhere.url + NORTH, token)).toBe(401)
})

test('after a demo password has changed: no demo lines, and no start for other machines', async () => {
  await stop(await start({ DATA_DIR }))
  await run('commands/account', ['password', BOB.email], { DATA_DIR }, 'another password')
  const { output } = await startBoth({ DATA_DIR })
  expect(output()).not.toMatch(/demo-password|curl/)
  const exposed = { DATA_DIR, PORT: '0', TRUSTED_PROXIES: '1', NODE_ENV: 'production' }
  const { code, stderr } = await run('main', [], exposed)
  expect(code).toBe(1)
  expect(stderr).toMatch(/^alice@example\.com still has its demo password, but TRUSTED_PROXIES and NODE_ENV .+\n$/)
})

test.each([
  [{ BASE_URL: 'https://api.example.com' }, 'https://api.example.com/'],
  [{ TRUSTED_PROXIES: '1', REPORTING_URL: 'https://reports.example.com' }, 'http://127.0.0.1'],
])('lets no demo account sign in with %j', async (settings, page) => {
  const { url, output } = await startBoth({ DATA_DIR, ...settings })
  expect(output()).toMatch(
    /^The clearing-house API listens on .+\nSign in with a browser: http\S+\nAdd an account: .+\n$/,
  )
  expect(output()).toContain(`browser: ${page}`)
  for (const path of ['/mailbox', '/auth/account', `${TOKEN_PATH}/mail`]) {
    const body = new URLSearchParams({ email: ALICE.email })
    const init = path === '/mailbox' ? {} : { method: 'POST', body }
    expect(await fetch(url + path, init)).toMatchObject({ status: 404 })
  }
  expect(await readdir(DATA_DIR)).not.toContain('mails')
  expect(await login(url, ALICE)).toMatchObject({ status: 403 })
})

describe('exits with one line', () => {
  const REPORTING = { BASE_URL, JWKS_URL: 'http://127.0.0.1:9/keys' }
  const POSTGRES = { DATABASE_URL: 'postgres://u:s3cret@127.0.0.1:9/x' }
  const ARGUMENTS = /^Unknown arguments\. Pass .+\n$/
  test.each<[string, string[], Record<string, string>, RegExp]>([
    ['with an invalid setting', [], { PORT: 'http' }, /^PORT is invalid\. Set a whole number from 0 to 65535\.\n$/],
    ['with an unknown API', ['clearing'], {}, ARGUMENTS],
    ['with two APIs', ['reporting', 'clearing-house'], {}, ARGUMENTS],
    ['with a port that is no number', ['reporting:http'], {}, ARGUMENTS],
    ['without a data folder', [], { DATA_DIR: '/dev/null/data' }, /^ENOTDIR: .+'\/dev\/null\/data\/keys'\n$/],
    ['without PostgreSQL', [], POSTGRES, /^DATABASE_URL: PostgreSQL: connect ECONNREFUSED 127\.0\.0\.1:9\n$/],
    ['without Redis', [], { REDIS_URL: 'redis://:s3cret@127.0.0.1:9' }, /^REDIS_URL: connect ECONNREFUSED .+:9\n$/],
    ['without the SQLite file to read', ['reporting'], REPORTING, /^\S+\.sqlite does not exist\. .+ clearing-house\n$/],
  ])('%s', async (_what, args, env, says) => {
    const { code, stdout, stderr } = await run('main', args, { DATA_DIR, PORT: '0', REPORTING_PORT: '0', ...env })
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(says)
    if (args[0] === 'reporting') expect(await readdir(DATA_DIR)).toEqual([])
  })

  test('when the port of the second API is taken', async () => {
    const { port } = new URL((await start({ DATA_DIR })).url)
    const env = { DATA_DIR: await tempDir(), PORT: '0', REPORTING_PORT: port }
    const { code, stdout, stderr } = await run('main', [], env)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(
      new RegExp(`^Another program uses port ${port} of 127\\.0\\.0\\.1\\. .+REPORTING_PORT=.+\\n$`),
    )
  })
})

test('stops: finishes two hundred logins in flight, resets no connection, and waits for none that asks nothing', async () => {
  const app = await start({ DATA_DIR })
  const open = () => connect(Number(new URL(app.url).port), '127.0.0.1')
  const [silent, idle] = [open(), open()]
  idle.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await Promise.all([once(silent, 'connect'), once(idle, 'data')])
  // The limit of one address refuses most of them without a hash, because the process stops after 10 s on a slow machine too.
  const emails = Array.from({ length: 200 }, (_, i) => (i % 20 === 0 ? ALICE.email : 'nobody@example.com'))
  const logins = await Promise.all(emails.map((email) => loginInFlight(app.url, email)))
  app.kill('SIGTERM')
  await Promise.all([once(silent, 'close'), once(idle, 'close')])
  const statuses = (await Promise.all(logins.map((send) => send()))).map(({ status }) => status)
  expect(statuses).toHaveLength(200)
  expect(statuses.filter((status) => ![200, 403, 429, 503].includes(status ?? 0))).toEqual([])
  expect(statuses).toContain(200)
  expect(await app.exit).toEqual({ code: 0, signal: null })
})

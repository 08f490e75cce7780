import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { apiUrlsOf, keySourceOf, readConfig, readServiceAccount } from '../../example-app/config.js'
import { OperatorError } from '../../example-app/errors.js'

const API = 'https://api.example.com'

/** Expects an error with one line for the operator, without the password of a URL. */
function expectRefusal(read: () => unknown, says: RegExp | string): void {
  expect(read).toThrow(OperatorError)
  expect(read).toThrow(new RegExp(says))
  expect(read).toThrow(/^.+$/)
  expect(read).not.toThrow(/secret/)
}

describe('environment variables', () => {
  const SET = {
    HOST: 'localhost',
    PORT: '0',
    REPORTING_PORT: '8081',
    BASE_URL: `${API}/x`,
    DATA_DIR: 'some/where',
    DATABASE_URL: 'postgresql://u:p%40ss@db.example.com/x?sslmode=require',
    REDIS_URL: 'rediss://:secret@redis.example.com:6380/2',
    JWKS_URL: `${API}/keys`,
    REPORTING_URL: 'https://reports.example.com/x/',
    TRUSTED_PROXIES: '1',
  }

  test('unset or empty: port 3000, and only this machine can connect', () => {
    const config = readConfig({})
    expect(config).toMatchObject({ host: '127.0.0.1', port: 3000, reportingPort: 3001, trustedProxies: 0 })
    expect(config).toMatchObject({ baseUrl: undefined, databaseUrl: undefined, redisUrl: undefined, exposedBy: [] })
    expect(readConfig(Object.fromEntries(Object.keys(SET).map((name) => [name, ''])))).toEqual(config)
    expect(readConfig({ PORT: '0' })).toMatchObject({ port: 0, reportingPort: 0 })
  })

  test('are read', () => {
    expect(readConfig(SET)).toEqual({
      host: 'localhost',
      port: 0,
      reportingPort: 8081,
      baseUrl: SET.BASE_URL,
      dataDir: resolve('some/where'),
      databaseUrl: SET.DATABASE_URL,
      redisUrl: SET.REDIS_URL,
      jwksUrl: SET.JWKS_URL,
      reportingUrl: SET.REPORTING_URL,
      trustedProxies: 1,
      exposedBy: ['BASE_URL', 'REPORTING_URL', 'JWKS_URL', 'DATABASE_URL', 'REDIS_URL', 'TRUSTED_PROXIES'],
    })
  })

  const INVALID = {
    HOST: 'two,words http://localhost',
    PORT: 'x 65536 -1 3000.5 0x10',
    REPORTING_PORT: '65536',
    TRUSTED_PROXIES: '11 loopback',
    BASE_URL: 'api.example.com ftp://a.example https://u:secret@a.example https://a.example/? https://a.example/#a',
    REPORTING_URL: 'b.example https://u:secret@b.example http://a;b/ http://a.example/a,b',
    JWKS_URL: 'a.example/keys http://a.example/keys https://u:secret@a.example/keys file:///keys',
    DATABASE_URL: 'secret mysql://u:secret@127.0.0.1/x postgres://u:secret@127.0.0.1 postgres://u:secret%@127.0.0.1/x',
    REDIS_URL: '127.0.0.1:6379 http://:secret@127.0.0.1 redis://:secret@127.0.0.1/first redis://:secret%zz@127.0.0.1',
  }
  test.each([
    ...Object.entries(INVALID).flatMap(([name, values]) => values.split(' ').map((value) => [name, value, name])),
    ['PORT', ' ', 'PORT'],
    ['HOST', '0.0.0.0', 'Clients .+ HOST=0.0.0.0.+BASE_URL'],
    ['HOST', '::', 'Clients .+ HOST=::.+BASE_URL'],
    ['REPORTING_URL', 'http://a;b/', 'REPORTING_URL .+ semi'],
  ])('%s=%s is refused in one line', (name, value, says) => {
    expectRefusal(() => readConfig({ [name]: value }), `^${says}`)
  })

  const OWN_MACHINE = {
    HOST: '127.0.0.2 ::1',
    BASE_URL: 'http://localhost:3000 http://[::1]:3000',
    REPORTING_URL: 'http://localhost:3001',
    JWKS_URL: 'http://127.0.0.1:3000/keys',
    DATABASE_URL: 'postgres://u:p@127.0.0.1:5432/x postgres://[::1]/x',
    REDIS_URL: 'redis://:p@127.0.0.1:6379',
    TRUSTED_PROXIES: '0',
    NODE_ENV: 'development',
  }
  const OTHER_MACHINES = {
    HOST: '192.168.0.2 127.example.com',
    BASE_URL: API,
    REPORTING_URL: API,
    JWKS_URL: API,
    DATABASE_URL: 'postgres://u:p@db.example.com/x postgres://127.0.0.1/x?host=db.example.com postgres:///x',
    REDIS_URL: 'redis://redis.example.com',
    TRUSTED_PROXIES: '1',
    NODE_ENV: 'production',
  }
  const rows = (values: Record<string, string>, ends: boolean) =>
    Object.entries(values).flatMap(([name, list]) => list.split(' ').map((value) => [name, value, ends] as const))
  test.each([...rows(OWN_MACHINE, false), ...rows(OTHER_MACHINES, true)])(
    '%s=%s ends the demo accounts: %s',
    (name, value, ends) => {
      expect(readConfig({ [name]: value }).exposedBy).toEqual(ends ? [name] : [])
    },
  )

  test('a host that all machines reach ends the demo accounts, whatever the base URL', () => {
    expect(readConfig({ HOST: '0.0.0.0', BASE_URL: 'http://localhost:3000' }).exposedBy).toEqual(['HOST'])
  })
})

describe('the keys of the reporting API', () => {
  test.each<[Record<string, string>, string, string]>([
    [{}, 'http://127.0.0.1:3000', 'http://127.0.0.1:3000/.well-known/jwks.json'],
    [{ HOST: '::1' }, 'http://[::1]:3000', 'http://[::1]:3000/.well-known/jwks.json'],
    [{ HOST: '0.0.0.0', BASE_URL: API }, API, 'http://127.0.0.1:3000/.well-known/jwks.json'],
    [{ HOST: '::', BASE_URL: API }, API, 'http://[::1]:3000/.well-known/jwks.json'],
    [{ HOST: '10.0.0.2', BASE_URL: `${API}/x/` }, `${API}/x/`, `${API}/x/.well-known/jwks.json`],
    [{ PORT: '0', BASE_URL: API, JWKS_URL: `${API}/keys` }, API, `${API}/keys`],
  ])('with %j: of %s, from %s', (env, issuer, jwksUrl) => {
    expect(keySourceOf(readConfig(env))).toEqual({ issuer, jwksUrl })
  })

  test.each<[Record<string, string>, RegExp]>([
    [{ PORT: '0', BASE_URL: API }, /^With PORT=0 .+ Set BASE_URL and JWKS_URL\.$/],
    [{ HOST: '10.0.0.2', BASE_URL: 'http://api.example.com' }, /Set JWKS_URL\.$/],
    [{ HOST: '10.0.0.2' }, /Set JWKS_URL\.$/],
  ])('with %j: from no trustworthy place', (env, says) => {
    expectRefusal(() => keySourceOf(readConfig(env)), says)
  })
})

describe('the addresses of the APIs', () => {
  test.each<[Record<string, string>, string, string]>([
    [{ HOST: '::1', PORT: '8080' }, 'http://[::1]:8080', 'http://[::1]:3001'],
    [{ BASE_URL: `${API}/x//`, REPORTING_URL: 'https://b.example/' }, `${API}/x`, 'https://b.example'],
  ])('with %j: %s and %s', (env, clearingHouse, reporting) => {
    expect(apiUrlsOf(readConfig(env))).toEqual({ clearingHouse, reporting })
  })

  test.each([
    { BASE_URL: 'http://a.example', REPORTING_URL: API },
    { BASE_URL: API, REPORTING_URL: 'http://b.example' },
  ])('are not plain http: %j', (env) => {
    expectRefusal(() => apiUrlsOf(readConfig(env)), /^Passwords and tokens need https\. Set BASE_URL and REPORTING_URL/)
  })
})

test('the account of a service is read whole, and needs both variables', () => {
  const env = { SERVICE_EMAIL: 'totals@example.com', SERVICE_PASSWORD: ' p ' }
  expect(readServiceAccount(env)).toEqual({ email: 'totals@example.com', password: ' p ' })
  for (const name of ['SERVICE_EMAIL', 'SERVICE_PASSWORD'])
    expectRefusal(() => readServiceAccount({ ...env, [name]: '' }), /^Set SERVICE_EMAIL and SERVICE_PASSWORD /)
})

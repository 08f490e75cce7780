import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { apiUrlsOf, keySourceOf, readConfig, readServiceAccount } from '../../example-app/config.js'
import { OperatorError } from '../../example-app/errors.js'

describe('environment variables', () => {
  test('unset or empty: port 3000, and only this machine can connect', () => {
    const names = ['baseUrl', 'databaseUrl', 'redisUrl', 'jwksUrl', 'reportingUrl']
    const unset = Object.fromEntries(names.map((name) => [name, undefined]))
    const expected = { host: '127.0.0.1', port: 3000, reportingPort: 3001, ...unset, trustedProxies: 0, exposedBy: [] }
    expect(readConfig({})).toMatchObject(expected)
    const variables =
      'HOST PORT REPORTING_PORT BASE_URL DATA_DIR DATABASE_URL REDIS_URL JWKS_URL REPORTING_URL TRUSTED_PROXIES'
    const empty = Object.fromEntries(variables.split(' ').map((name) => [name, '']))
    expect(readConfig(empty)).toEqual(readConfig({}))
  })

  test('are read', () => {
    const env = {
      HOST: 'localhost',
      PORT: '0',
      BASE_URL: 'https://api.example.com/x',
      DATA_DIR: 'some/where',
      DATABASE_URL: 'postgresql://u:p%40ss@db.example.com/x?sslmode=require',
      REDIS_URL: 'rediss://:secret@redis.example.com:6380/2',
      REPORTING_PORT: '8081',
      JWKS_URL: 'https://api.example.com/keys',
      REPORTING_URL: 'https://reports.example.com/x/',
      TRUSTED_PROXIES: '1',
    }
    expect(readConfig(env)).toEqual({
      host: 'localhost',
      port: 0,
      reportingPort: 8081,
      baseUrl: 'https://api.example.com/x',
      dataDir: resolve('some/where'),
      databaseUrl: 'postgresql://u:p%40ss@db.example.com/x?sslmode=require',
      redisUrl: 'rediss://:secret@redis.example.com:6380/2',
      jwksUrl: 'https://api.example.com/keys',
      reportingUrl: 'https://reports.example.com/x/',
      trustedProxies: 1,
      exposedBy: ['BASE_URL', 'REPORTING_URL', 'JWKS_URL', 'DATABASE_URL', 'REDIS_URL', 'TRUSTED_PROXIES'],
    })
  })

  const INVALID: Record<string, readonly string[]> = {
    PORT: ['x', '65536', '-1', '3000.5', '0x10', ' '],
    REPORTING_PORT: ['65536'],
    TRUSTED_PROXIES: ['11', 'loopback'],
    JWKS_URL: [
      'api.example.com/keys',
      'http://api.example.com/keys',
      'https://u:secret@a.example/keys',
      'file:///keys',
    ],
    HOST: ['two words', 'http://localhost'],
    REPORTING_URL: [
      'reports.example.com',
      'https://user:secret@reports.example.com',
      'http://a;b/',
      'http://a.example/a,b',
    ],
    BASE_URL: [
      'api.example.com',
      'ftp://a.example',
      'https://u:secret@a.example',
      'https://a.example/?',
      'https://a.example/#a',
    ],
    DATABASE_URL: ['secret', 'mysql://u:secret@127.0.0.1/x', 'postgres://u:secret@127.0.0.1'].concat(
      'postgres://u:secret@127.0.0.1:port/x',
      'postgres://u:secret%@127.0.0.1/x',
    ),
    REDIS_URL: [
      '127.0.0.1:6379',
      'http://:secret@127.0.0.1',
      'redis://:secret@127.0.0.1/first',
      'redis://:secret%zz@127.0.0.1',
    ],
  }
  test.each<[Record<string, string>, string]>([
    ...Object.entries(INVALID).flatMap(([name, values]) =>
      values.map((value): [Record<string, string>, string] => [{ [name]: value }, name]),
    ),
    [{ HOST: '0.0.0.0' }, 'Clients .+ HOST=0.0.0.0.+BASE_URL'],
    [{ HOST: '::' }, 'Clients .+ HOST=::.+BASE_URL'],
    [{ REPORTING_URL: 'http://a;b/' }, 'REPORTING_URL .+ semi'],
  ])('refuses %j in one line', (env, named) => {
    expect(() => readConfig(env)).toThrow(OperatorError)
    expect(() => readConfig(env)).toThrow(new RegExp(`^${named}.+$`))
    expect(() => readConfig(env)).not.toThrow(/secret/)
  })

  test('PORT=0 chooses free ports for both APIs, unless REPORTING_PORT is set', () => {
    expect(readConfig({ PORT: '0' })).toMatchObject({ port: 0, reportingPort: 0 })
    expect(readConfig({ PORT: '0', REPORTING_PORT: '8081' })).toMatchObject({ port: 0, reportingPort: 8081 })
  })

  test.each<Record<string, string>>([
    { HOST: '127.0.0.2' },
    { HOST: '::1' },
    { BASE_URL: 'http://localhost:3000' },
    { BASE_URL: 'http://[::1]:3000' },
    { REPORTING_URL: 'http://localhost:3001' },
    { JWKS_URL: 'http://127.0.0.1:3000/keys' },
    { DATABASE_URL: 'postgres://u:p@127.0.0.1:5432/x' },
    { DATABASE_URL: 'postgres://[::1]/x' },
    { REDIS_URL: 'redis://:p@127.0.0.1:6379' },
    { TRUSTED_PROXIES: '0' },
    { NODE_ENV: 'development' },
  ])('allow the demo accounts: %j', (env) => {
    expect(readConfig(env).exposedBy).toEqual([])
  })

  test.each<[string, Record<string, string>]>([
    ['HOST', { HOST: '192.168.0.2' }],
    ['HOST', { HOST: '127.example.com' }],
    ['HOST', { HOST: '0.0.0.0', BASE_URL: 'http://localhost:3000' }],
    ['BASE_URL', { BASE_URL: 'https://api.example.com' }],
    ['REPORTING_URL', { REPORTING_URL: 'https://reports.example.com' }],
    ['JWKS_URL', { JWKS_URL: 'https://api.example.com/keys' }],
    ['DATABASE_URL', { DATABASE_URL: 'postgres://u:p@db.example.com/x' }],
    ['DATABASE_URL', { DATABASE_URL: 'postgres://127.0.0.1/x?host=db.example.com' }],
    ['DATABASE_URL', { DATABASE_URL: 'postgres:///x' }],
    ['REDIS_URL', { REDIS_URL: 'redis://redis.example.com' }],
    ['TRUSTED_PROXIES', { TRUSTED_PROXIES: '1' }],
    ['NODE_ENV', { NODE_ENV: 'production' }],
  ])('%s ends the demo accounts: %j', (name, env) => {
    expect(readConfig(env).exposedBy).toEqual([name])
  })
})

describe('keySourceOf', () => {
  const API = 'https://api.example.com'
  test.each<[Record<string, string>, string, string]>([
    [{}, 'http://127.0.0.1:3000', 'http://127.0.0.1:3000/.well-known/jwks.json'],
    [{ HOST: 'localhost', PORT: '80' }, 'http://localhost:80', 'http://localhost/.well-known/jwks.json'],
    [{ HOST: '::1' }, 'http://[::1]:3000', 'http://[::1]:3000/.well-known/jwks.json'],
    [{ HOST: '0.0.0.0', BASE_URL: API }, API, 'http://127.0.0.1:3000/.well-known/jwks.json'],
    [{ HOST: '::', BASE_URL: API }, API, 'http://[::1]:3000/.well-known/jwks.json'],
    [{ HOST: '10.0.0.2', BASE_URL: `${API}/x/` }, `${API}/x/`, `${API}/x/.well-known/jwks.json`],
    [{ BASE_URL: API, JWKS_URL: `${API}/keys` }, API, `${API}/keys`],
    [{ PORT: '0', BASE_URL: API, JWKS_URL: `${API}/keys` }, API, `${API}/keys`],
  ])('%j', (env, issuer, jwksUrl) => {
    expect(keySourceOf(readConfig(env))).toEqual({ issuer, jwksUrl })
  })

  test.each<[Record<string, string>, RegExp]>([
    [{ PORT: '0' }, /^With PORT=0 .+ Set BASE_URL and JWKS_URL\.$/],
    [{ PORT: '0', BASE_URL: API }, /^With PORT=0 /],
    [{ HOST: '10.0.0.2', BASE_URL: 'http://api.example.com' }, /Set JWKS_URL\.$/],
    [{ HOST: '10.0.0.2' }, /Set JWKS_URL\.$/],
  ])('%j: throws', (env, message) => {
    expect(() => keySourceOf(readConfig(env))).toThrow(OperatorError)
    expect(() => keySourceOf(readConfig(env))).toThrow(message)
  })
})

describe('apiUrlsOf', () => {
  test.each([
    [{}, 'http://127.0.0.1:3000', 'http://127.0.0.1:3001'],
    [{ HOST: '::1', PORT: '8080', REPORTING_PORT: '8081' }, 'http://[::1]:8080', 'http://[::1]:8081'],
    [
      { BASE_URL: 'https://a.example/x//', REPORTING_URL: 'https://b.example/' },
      'https://a.example/x',
      'https://b.example',
    ],
  ])('%j', (env, clearingHouse, reporting) => {
    expect(apiUrlsOf(readConfig(env))).toEqual({ clearingHouse, reporting })
  })

  test.each([
    { BASE_URL: 'http://a.example', REPORTING_URL: 'https://b.example' },
    { BASE_URL: 'https://a.example', REPORTING_URL: 'http://b.example' },
  ])('refuses plain http: %j', (env) => {
    expect(() => apiUrlsOf(readConfig(env))).toThrow(OperatorError)
    expect(() => apiUrlsOf(readConfig(env))).toThrow(
      /^Passwords and tokens need https\. Set BASE_URL and REPORTING_URL/,
    )
  })
})

describe('readServiceAccount', () => {
  test('reads both variables', () => {
    const env = { SERVICE_EMAIL: 'totals@example.com', SERVICE_PASSWORD: ' secret ' }
    expect(readServiceAccount(env)).toEqual({ email: 'totals@example.com', password: ' secret ' })
  })

  test.each([{}, { SERVICE_EMAIL: 'totals@example.com' }, { SERVICE_EMAIL: '', SERVICE_PASSWORD: 'secret' }])(
    'refuses %j',
    (env) => {
      expect(() => readServiceAccount(env)).toThrow(OperatorError)
      expect(() => readServiceAccount(env)).toThrow(/^Set SERVICE_EMAIL and SERVICE_PASSWORD /)
    },
  )
})

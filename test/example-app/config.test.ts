import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readConfig, urlOf } from '../../example-app/config.js'
import { Failure } from '../../example-app/failure.js'

describe('environment variables', () => {
  test('unset or empty: this machine alone, port 3000', () => {
    const stores = { databaseUrl: undefined, redisUrl: undefined }
    const expected = { host: '127.0.0.1', port: 3000, baseUrl: undefined, ...stores, local: true }
    expect(readConfig({})).toMatchObject(expected)
    const empty = { HOST: '', PORT: '', BASE_URL: '', DATA_DIR: '', DATABASE_URL: '', REDIS_URL: '' }
    expect(readConfig(empty)).toEqual(readConfig({}))
  })

  test('are taken', () => {
    const env = {
      HOST: 'localhost',
      PORT: '0',
      BASE_URL: 'https://api.example.com/x',
      DATA_DIR: 'some/where',
      DATABASE_URL: 'postgresql://u:p%40ss@db.example.com/x?sslmode=require',
      REDIS_URL: 'rediss://:secret@redis.example.com:6380/2',
    }
    expect(readConfig(env)).toEqual({
      host: 'localhost',
      port: 0,
      baseUrl: 'https://api.example.com/x',
      dataDir: resolve('some/where'),
      databaseUrl: 'postgresql://u:p%40ss@db.example.com/x?sslmode=require',
      redisUrl: 'rediss://:secret@redis.example.com:6380/2',
      local: false,
    })
  })

  test.each<[Record<string, string>, string]>([
    [{ PORT: 'x' }, 'PORT'],
    [{ PORT: '65536' }, 'PORT'],
    [{ PORT: '-1' }, 'PORT'],
    [{ PORT: '3000.5' }, 'PORT'],
    [{ PORT: '0x10' }, 'PORT'],
    [{ PORT: ' ' }, 'PORT'],
    [{ HOST: 'two words' }, 'HOST'],
    [{ HOST: 'http://localhost' }, 'HOST'],
    [{ HOST: '0.0.0.0' }, 'HOST=0.0.0.0 .+BASE_URL'],
    [{ HOST: '::' }, 'HOST=:: .+BASE_URL'],
    [{ BASE_URL: 'api.example.com' }, 'BASE_URL'],
    [{ BASE_URL: 'ftp://api.example.com' }, 'BASE_URL'],
    [{ BASE_URL: 'https://user:secret@api.example.com' }, 'BASE_URL'],
    [{ BASE_URL: 'https://api.example.com/?' }, 'BASE_URL'],
    [{ BASE_URL: 'https://api.example.com/#a' }, 'BASE_URL'],
    [{ DATABASE_URL: 'secret' }, 'DATABASE_URL'],
    [{ DATABASE_URL: 'mysql://u:secret@127.0.0.1/x' }, 'DATABASE_URL'],
    [{ DATABASE_URL: 'postgres://u:secret@127.0.0.1' }, 'DATABASE_URL'],
    [{ DATABASE_URL: 'postgres://u:secret@127.0.0.1:port/x' }, 'DATABASE_URL'],
    [{ DATABASE_URL: 'postgres://u:secret%@127.0.0.1/x' }, 'DATABASE_URL'],
    [{ REDIS_URL: '127.0.0.1:6379' }, 'REDIS_URL'],
    [{ REDIS_URL: 'http://:secret@127.0.0.1' }, 'REDIS_URL'],
    [{ REDIS_URL: 'redis://:secret@127.0.0.1/first' }, 'REDIS_URL'],
    [{ REDIS_URL: 'redis://:secret%zz@127.0.0.1' }, 'REDIS_URL'],
  ])('%j is refused in one line', (env, named) => {
    expect(() => readConfig(env)).toThrow(Failure)
    expect(() => readConfig(env)).toThrow(new RegExp(`^${named}.+$`))
    expect(() => readConfig(env)).not.toThrow(/secret/)
  })

  test.each<[boolean, Record<string, string>]>([
    [true, { HOST: '127.0.0.2' }],
    [true, { HOST: '::1' }],
    [true, { BASE_URL: 'http://localhost:3000' }],
    [true, { BASE_URL: 'http://[::1]:3000' }],
    [false, { HOST: '192.168.0.2' }],
    [false, { HOST: '127.example.com' }],
    [false, { HOST: '0.0.0.0', BASE_URL: 'http://localhost:3000' }],
    [false, { BASE_URL: 'https://api.example.com' }],
    [true, { DATABASE_URL: 'postgres://u:p@127.0.0.1:5432/x' }],
    [true, { DATABASE_URL: 'postgres://[::1]/x' }],
    [true, { REDIS_URL: 'redis://redis.example.com' }],
    [false, { DATABASE_URL: 'postgres://u:p@db.example.com/x' }],
    [false, { DATABASE_URL: 'postgres://127.0.0.1/x?host=db.example.com' }],
    [false, { DATABASE_URL: 'postgres:///x' }],
  ])('local: %s for %j', (local, env) => {
    expect(readConfig(env).local).toBe(local)
  })
})

test('an IPv6 address stands in brackets in a URL', () => {
  expect(urlOf('::1', 3000)).toBe('http://[::1]:3000')
  expect(urlOf('127.0.0.1', 3000)).toBe('http://127.0.0.1:3000')
})

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { secondsOf, valueAt } from '../../../../src/cli/check/probe/response.js'
import { readMapping } from '../../../../src/cli/check/wire/read-mapping.js'
import { headerWith, loginRequest, OWN, schemeOf, type Wire } from '../../../../src/cli/check/wire/wire.js'
import { UsageError } from '../../../../src/cli/command-error.js'

const folder = mkdtempSync(join(tmpdir(), 'mapping-'))
afterAll(() => rmSync(folder, { recursive: true }))

const file = join(folder, 'api.json')
const SHORT = { login: { path: '/login' }, token: { body: 'token' } }

function read(mapping: unknown, env: Record<string, string> = {}) {
  writeFileSync(file, typeof mapping === 'string' ? mapping : JSON.stringify(mapping))
  return readMapping(file, env)
}

function errorOf(mapping: unknown): string {
  try {
    read(mapping)
  } catch (error) {
    expect(error).toBeInstanceOf(UsageError)
    return (error as Error).message.replace(`${file}: `, '').replace(file, 'FILE')
  }
  return 'no error'
}

test('the defaults are those of most APIs', () => {
  const names = { user: 'email', password: 'password' }
  expect(read(SHORT)).toEqual({
    wire: {
      own: false,
      login: { path: '/login', method: 'POST', type: 'json', ...names, fields: {}, headers: {} },
      token: { in: 'body', name: 'token' },
      expiration: undefined,
      statuses: { success: [200], wrongPassword: [401], malformed: [400], missingToken: [401], refusedToken: [401] },
      credential: { header: 'Authorization', scheme: 'Bearer' },
    },
    guarded: [],
    jwks: undefined,
  })
})

test('every member is read', () => {
  const fields = { grant_type: 'password', client_secret: { env: 'SECRET' } }
  const login = { path: '/o/token', method: 'PUT', type: 'form', user: 'username', password: 'pw', fields }
  const all = {
    login: { ...login, headers: { 'X-Tenant': 'north' } },
    token: { cookie: 'sid' },
    expiration: { header: 'X-Expires', form: 'epoch' },
    statuses: { success: [200, 201], wrongPassword: 403, malformed: 422 },
    guarded: { path: ['/a', '/b'], cookie: 'sid' },
    jwks: '/jwks',
  }
  const { wire, guarded, jwks } = read(all, { SECRET: 'of the client' })
  expect(wire.login.fields).toEqual({ grant_type: 'password', client_secret: 'of the client' })
  expect(wire.login).toMatchObject({ method: 'PUT', type: 'form', user: 'username', headers: { 'X-Tenant': 'north' } })
  expect(wire.expiration).toEqual({ at: { in: 'header', name: 'X-Expires' }, form: 'epoch' })
  expect(wire.statuses).toMatchObject({ success: [200, 201], wrongPassword: [403], malformed: [422] })
  expect(headerWith(wire, 'abc')).toEqual({ Cookie: 'sid=abc' })
  expect({ guarded, jwks }).toEqual({ guarded: ['/a', '/b'], jwks: '/jwks' })
})

describe('a mistake is named', () => {
  const login = (members: object) => ({ ...SHORT, login: { path: '/x', ...members } })
  const PATH = 'must be a path below the base URL, like "/api/login", but is'
  const FIELD = 'must be a text, a number, true, false or { "env": "NAME" }'
  const NAME = 'must be a name of at most 200 characters'
  const text = (length: number) => `a string of ${length} characters`
  const STATUSES = 'statuses.success must be a status from 200 to 599, or a list of statuses, but is'
  const SLASH = 'A path begins with a slash'
  const EXPIRATION_FORM = '"iso", "seconds", "milliseconds", "epoch", "epoch-milliseconds"'
  test.each([
    ['{', 'FILE is not valid JSON. JSON has no comments and no trailing commas'],
    [' \n', 'FILE is empty'],
    ['[]', 'FILE must be an object, but is an empty array'],
    [{ ...SHORT, logn: {} }, 'unknown member "logn". Did you mean "login"?'],
    [
      { ...SHORT, constructor: 1 },
      'unknown member "constructor". Known: login, token, expiration, statuses, guarded, jwks',
    ],
    [{ token: { body: 'a' } }, 'login must be an object like { "path": "/api/login" }, but is missing'],
    [{ ...SHORT, token: 'token' }, `token must be an object like { "body": "access_token" }, but is ${text(5)}`],
    [{ ...SHORT, guarded: '/me' }, `guarded must be an object like { "path": "/api/me" }, but is ${text(3)}`],
    [login({ fields: 1 }), 'login.fields must be an object, but is 1'],
    [{ ...SHORT, login: {} }, `login.path ${PATH} missing`],
    [login({ email: 'mail' }), 'login: unknown member "email". Did you mean "user"?'],
    [login({ type: 'xml' }), `login.type must be one of "json", "form", but is ${text(3)}`],
    [login({ fields: { a: null } }), `login.fields.a ${FIELD}, but is null`],
    [login({ fields: { a: { env: 'NOT_SET' } } }), 'login.fields.a: the environment variable NOT_SET is not set'],
    [login({ fields: { a: { env: 'toString' } } }), 'login.fields.a: the environment variable toString is not set'],
    [login({ user: '.'.repeat(50_000) }), `login.user ${NAME}, without spaces, but is ${text(50_000)}`],
    [
      { ...SHORT, token: { body: `a${'.a'.repeat(100)}` } },
      `token.body ${NAME}, with dots between nested names, but is ${text(201)}`,
    ],
    [{ ...SHORT, token: {} }, 'token must have exactly one of body, header, cookie'],
    [{ ...SHORT, token: { body: 'a', cookie: 'b' } }, 'token must have exactly one of body, header, cookie'],
    [
      { ...SHORT, expiration: { body: 'x', form: 'unix' } },
      `expiration.form must be one of ${EXPIRATION_FORM}, but is ${text(4)}`,
    ],
    [{ ...SHORT, statuses: { malFormed: 401 } }, 'statuses: unknown member "malFormed". Did you mean "malformed"?'],
    [{ ...SHORT, statuses: { success: 99 } }, `${STATUSES} 99`],
    [{ ...SHORT, statuses: { success: [] } }, `${STATUSES} an empty array`],
    [{ ...SHORT, guarded: { cookie: 'a', scheme: 'Bearer' } }, 'guarded must have either header and scheme, or cookie'],
    [{ ...SHORT, guarded: { path: 'me' } }, `guarded.path ${PATH} ${text(2)}. ${SLASH}`],
    [{ ...SHORT, guarded: { path: ['/me', 'you'] } }, `guarded.path[1] ${PATH} ${text(3)}. ${SLASH}`],
  ])('%j', (mapping, message) => {
    expect(errorOf(mapping)).toBe(message)
  })

  test('a file that is not there', () => {
    expect(() => readMapping(join(folder, 'no.json'), {})).toThrow('--mapping: ENOENT')
  })
})

test('a login is sent as the mapping says', () => {
  const login = { ...OWN.wire.login, user: 'user.email', password: 'user.password', fields: { app: 1 } }
  const members = { user: 'a', password: 'b' }
  expect(loginRequest({ ...OWN.wire, login }, members)).toEqual({
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: '{"app":1,"user":{"email":"a","password":"b"}}',
  })
  expect(loginRequest({ ...OWN.wire, login: { ...login, type: 'form', user: 'u', password: 'p' } }, members)).toEqual({
    method: 'POST',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    body: 'app=1&u=a&p=b',
  })
})

test('a login sets members named __proto__ or constructor, and changes no prototype', () => {
  const login = { path: '/', user: '__proto__.polluted', password: 'constructor.prototype.pw' }
  const { wire } = read({ ...SHORT, login })
  const { body } = loginRequest(wire, { user: 'a', password: 'b' })
  expect(body).toBe('{"__proto__":{"polluted":"a"},"constructor":{"prototype":{"pw":"b"}}}')
  expect(Object.keys(Object.prototype)).toEqual([])
  const deep = { ...wire, login: { ...wire.login, user: '__proto__' } }
  expect(loginRequest(deep, { user: 'a' }).body).toBe('{"__proto__":"a"}')
})

test.each([
  [{ user: 'client.user' }, { client: { env: 'SECRET' } }, '"client" and "client.user"'],
  [{ user: 'a', password: 'a' }, {}, '"a" and "a"'],
  [{ user: 'a.b', password: 'a' }, {}, '"a" and "a.b"'],
  [{ password: 'x' }, { 'x.y': 1 }, '"x" and "x.y"'],
])('two members of a login must differ, and the error names no value: %j', (names, fields, both) => {
  expect(() => read({ ...SHORT, login: { path: '/', ...names, fields } }, { SECRET: 'k-42' })).toThrow(
    new UsageError(`${file}: login must have different members, but has ${both}`),
  )
  for (const free of [{ password: 'ab' }, { type: 'form', password: 'a.b' }]) {
    expect(() => read({ ...SHORT, login: { path: '/', user: 'a', ...free } })).not.toThrow()
  }
})

test('a header of a login is one line, and the error shows no secret', () => {
  const readWith = (secret: string) =>
    read({ ...SHORT, login: { path: '/', headers: { 'X-Key': { env: 'SECRET' } } } }, { SECRET: secret })
  expect(readWith('k 42\u00e9').wire.login.headers).toEqual({ 'X-Key': 'k 42\u00e9' })
  for (const secret of ['k-42\n', 'k-42\u0100', 'k-42\0']) {
    expect(() => readWith(secret)).toThrow('login.headers.X-Key must be a text in one line')
    expect(() => readWith(secret)).not.toThrow('k-42')
  }
})

test.each<[Wire['credential'], object, string | undefined]>([
  [{ header: 'X-Api-Key', scheme: '' }, { 'X-Api-Key': 'abc' }, undefined],
  [{ header: 'authorization', scheme: 'JWT' }, { authorization: 'JWT abc' }, 'JWT'],
  [{ header: 'Authorization', scheme: '' }, { Authorization: 'abc' }, undefined],
  [{ cookie: 'sid' }, { Cookie: 'sid=abc' }, undefined],
])('a token goes into %j as %j, with the scheme %j', (credential, header, scheme) => {
  const wire = { ...OWN.wire, credential }
  expect(headerWith(wire, 'abc')).toEqual(header)
  expect(schemeOf(wire)).toBe(scheme)
})

test.each([
  ['body', 'data.list.0.token', 'b'],
  ['body', 'data.list.0.token.length', undefined],
  ['body', 'constructor', undefined],
  ['header', 'X-Token', 'h'],
  ['header', '__proto__', undefined],
  ['cookie', 'sid', 'c%3D'],
] as const)('the value in the %s at %s is %j', (place, name, value) => {
  const headers = { 'x-token': 'h', 'set-cookie': ['sid=old', 'sidx=no', 'sid=c%3D; HttpOnly'] }
  expect(valueAt({ headers, body: '{"data":{"list":[{"token":"b"}]}}' }, { in: place, name })).toBe(value)
  expect(valueAt({ headers: {}, body: 'no JSON' }, { in: place, name })).toBeUndefined()
})

test.each([
  ['2030-01-01T00:00:00Z', 'iso', 1_893_456_000],
  ['2030-01-01T02:00:00.5+02:00', 'iso', 1_893_456_000.5],
  ['2026-13-01T12:00:00Z', 'iso', undefined],
  [1772366460, 'iso', undefined],
  ['1772366460', 'epoch', 1772366460],
  [3600, 'seconds', 4600],
  ['an hour', 'seconds', undefined],
  [-1, 'seconds', undefined],
  [3_600_000, 'milliseconds', 4600],
  [5_000_000, 'epoch-milliseconds', 5000],
  [undefined, 'epoch', undefined],
] as const)('%j as %s is %j', (value, form, seconds) => {
  expect(secondsOf(value, form, 1000)).toBe(seconds)
})

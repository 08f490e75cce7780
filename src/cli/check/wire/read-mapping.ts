import { readFileSync } from 'node:fs'
import { integer, text } from '../../../options/checks.js'
import { type Check, InvalidOption } from '../../../options/read-options.js'
import { isPlainObject, own, parseJson } from '../../../options/values.js'
import { UsageError } from '../../command-error.js'
import { pathLike } from '../path-check.js'
import { absent, absentOr, each, is, membersWith, oneOf, type Read } from './members.js'
import { EXPIRATION_FORMS, type Location, type Statuses, type Wire } from './wire.js'

/** A mapping file: another wire format, and the paths of the API. */
export interface Mapping {
  wire: Wire
  path: string
  guarded: readonly string[]
  jwks: string | undefined
}

type Env = Readonly<Record<string, string | undefined>>

/**
 * Reads a mapping file.
 * @throws UsageError that names the file, the member and the likely mistake, but no value
 */
export function readMapping(file: string, env: Env): Mapping {
  const content = contentOf(file)
  if (content.trim() === '') throw new UsageError(`${file} is empty`)
  const value = parseJson(content)
  if (value === undefined)
    throw new UsageError(`${file} is not valid JSON. JSON has no comments and no trailing commas`)
  const { login, token, expiration, statuses, guarded, jwks } = members(file, value, {
    login: (at, given) => readLogin(at, given, env),
    token: readLocation,
    expiration: absent(readExpiration),
    statuses: (at, given) => readStatuses(at, given ?? {}),
    guarded: (at, given) => readGuardedMember(at, given ?? {}),
    jwks: absent(is(PATH)),
  })
  const { path, ...how } = login
  return {
    wire: { own: false, login: how, token, expiration, statuses, credential: guarded.credential },
    path,
    guarded: guarded.paths,
    jwks,
  }
}

function contentOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new UsageError(`--mapping: ${(error as NodeJS.ErrnoException).message}`)
  }
}

/** Names that other tools use. */
const ALIASES: Readonly<Record<string, string>> = {
  url: 'path',
  endpoint: 'path',
  contentType: 'type',
  email: 'user',
  username: 'user',
  extra: 'fields',
  constants: 'fields',
  format: 'form',
  unit: 'form',
  ok: 'success',
  unauthorized: 'missingToken',
  invalid: 'malformed',
}

/** Examples for errors, because many people write only the text. */
const EXAMPLES: Readonly<Record<string, string>> = {
  login: '{ "path": "/api/login" }',
  token: '{ "body": "access_token" }',
  expiration: '{ "body": "expires_in", "form": "seconds" }',
  statuses: '{ "wrongPassword": 400 }',
  guarded: '{ "path": "/api/me" }',
}

const members = membersWith(ALIASES, EXAMPLES)

const PATH = pathLike('"/api/login"')
/** Names of headers and cookies (RFC 9110 section 5.6.2, RFC 6265 section 4.1.1). */
const NAME = /^[\w!#$%&'*+.^`|~-]+$/
const HEADER = text('the name of a header', NAME)
/** The characters that Node sends in a header (RFC 9110 section 5.5). */
const HEADER_VALUE = text('a text in one line, of characters up to U+00FF', /^[\t\x20-\x7e\x80-\xff]+$/)
const COOKIE = text('the name of a cookie', NAME)
const MEMBER = text(
  'a name of at most 200 characters, with dots between nested names',
  /^(?!.{201})[^\s.]+(\.[^\s.]+)*$/,
)
const FIELD = text('a name of at most 200 characters, without spaces', /^\S{1,200}$/)

function readLogin(at: string, value: unknown, env: Env) {
  const constant = readConstant(env)
  const textual: Read<string> = (where, one) => is(HEADER_VALUE)(where, constant(where, one))
  const login = members(at, value, {
    path: is(PATH),
    method: absentOr(is(oneOf('POST', 'PUT', 'PATCH')), 'POST'),
    type: absentOr(is(oneOf('json', 'form')), 'json'),
    user: absentOr(is(FIELD), 'email'),
    password: absentOr(is(FIELD), 'password'),
    fields: absentOr(each(FIELD, constant), {}),
    headers: absentOr(each(HEADER, textual), {}),
  })
  mustDiffer(at, [...Object.keys(login.fields), login.user, login.password], login.type === 'json')
  return login
}

/** Refuses a name that is another one, or lies within another member: only one of the two could be sent. */
function mustDiffer(at: string, names: readonly string[], nested: boolean): void {
  for (const [index, name] of names.entries()) {
    const other = names.find((one, i) => i !== index && (one === name || (nested && one.startsWith(`${name}.`))))
    if (other === undefined) continue
    throw new UsageError(
      `${at} must have different members, but has ${JSON.stringify(name)} and ${JSON.stringify(other)}`,
    )
  }
}

/** Reads a constant, or `{ "env": "NAME" }` for a secret in an environment variable. */
const readConstant =
  (env: Env): Read<string | number | boolean> =>
  (at, value) => {
    if (!isPlainObject(value)) return is(scalar)(at, value)
    const { env: name } = members(at, value, { env: is(text('the name of an environment variable', /^\w+$/)) })
    const found = own(env, name)
    if (!found) throw new UsageError(`${at}: the environment variable ${name} is not set`)
    return found
  }

const scalar: Check<string | number | boolean> = (value) => {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value
  throw new InvalidOption('a text, a number, true, false or { "env": "NAME" }')
}

const PLACES = { body: absent(is(MEMBER)), header: absent(is(HEADER)), cookie: absent(is(COOKIE)) }

/** Reads `{ "body": "data.token" }`, `{ "header": "X-Token" }` or `{ "cookie": "session" }`. */
const readLocation: Read<Location> = (at, value) => onlyOf(at, members(at, value, PLACES))

function readExpiration(at: string, value: unknown): NonNullable<Wire['expiration']> {
  const { body, header } = PLACES
  const { form, ...places } = members(at, value, { body, header, form: is(oneOf(...EXPIRATION_FORMS)) })
  return { at: onlyOf(at, places), form }
}

function onlyOf(at: string, places: { [Place in Location['in']]?: string | undefined }): Location {
  const named = Object.entries(places).filter(([, name]) => name !== undefined)
  const [place, name] = named[0] ?? []
  if (named.length === 1) return { in: place as Location['in'], name: name as string }
  throw new UsageError(`${at} must have exactly one of ${Object.keys(places).join(', ')}`)
}

function readStatuses(at: string, value: unknown): Wire['statuses'] {
  const status = (fallback: number) => absentOr(is(statusList), [fallback])
  return members(at, value, {
    success: status(200),
    wrongPassword: status(401),
    malformed: status(400),
    missingToken: status(401),
    refusedToken: status(401),
  })
}

const statusList: Check<Statuses> = (value) => {
  const wanted = 'a status from 200 to 599, or a list of statuses'
  const list: unknown[] = Array.isArray(value) ? value : [value]
  if (list.length === 0) throw new InvalidOption(wanted)
  return list.map((one) => {
    try {
      return integer(200, 599, wanted)(one)
    } catch {
      throw new InvalidOption(wanted)
    }
  })
}

function readGuardedMember(at: string, value: unknown) {
  const { path, header, scheme, cookie } = members(at, value, {
    path: absentOr(readPaths, []),
    header: absent(is(HEADER)),
    scheme: absent(is(text('a scheme like "Bearer", or an empty text', /^[\w!#$%&'*+.^`|~-]*$/))),
    cookie: absent(is(COOKIE)),
  })
  if (cookie !== undefined && (header !== undefined || scheme !== undefined)) {
    throw new UsageError(`${at} must have either header and scheme, or cookie`)
  }
  const name = header ?? 'Authorization'
  const usual = name.toLowerCase() === 'authorization' ? 'Bearer' : ''
  const credential = cookie === undefined ? { header: name, scheme: scheme ?? usual } : { cookie }
  return { paths: path, credential }
}

/** Reads a path or a list of paths. An error names the path of the list. */
const readPaths: Read<readonly string[]> = (at, value) =>
  Array.isArray(value) ? value.map((one, index) => is(PATH)(`${at}[${index}]`, one)) : [is(PATH)(at, value)]

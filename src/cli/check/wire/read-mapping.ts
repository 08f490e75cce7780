import { readFileSync } from 'node:fs'
import { HTTP_TOKEN, text } from '../../../options/checks.js'
import { type Check, InvalidOption, optional } from '../../../options/read-options.js'
import { isPlainObject, own, parseJson } from '../../../options/values.js'
import { checked } from '../../command.js'
import { UsageError } from '../../command-error.js'
import { objectOf, pathLike, recordOf, word } from './mapping-checks.js'

/** A wire format, and further paths of the API. */
export type Mapping = ReturnType<typeof mappingIn>

/** A part of a login response. `name` is a dotted path in the body, a header or a cookie. */
export interface Location {
  in: 'body' | 'header' | 'cookie'
  name: string
}

/** Forms of an expiration. `seconds` and `milliseconds` count from the response, the epochs from 1970. */
const EXPIRATION_FORMS = ['iso', 'seconds', 'milliseconds', 'epoch', 'epoch-milliseconds'] as const

type Env = Readonly<Record<string, string | undefined>>
/** The name of a member in errors. */
type At = Parameters<Check<unknown>>[1]

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
  return mappingIn(value, env, file)
}

/** @param file the name of the mapping in errors. Absent for the wire format of this package: no row is skipped */
export function mappingIn(value: unknown, env: Env, file?: string) {
  const table = {
    login: loginOf(env),
    token: location,
    expiration: optional(expiration),
    statuses: optional(statuses, statuses({})),
    guarded: optional(guarded, guarded({})),
    jwks: optional(PATH),
  }
  const { guarded: guard, jwks, ...wire } = checked(String(file), objectOf(table, undefined, ': '), value)
  const { credential, paths } = guard
  return { wire: { own: file === undefined, ...wire, credential }, guarded: paths, jwks }
}

function contentOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new UsageError(`--mapping: ${(error as NodeJS.ErrnoException).message}`)
  }
}

const PATH = pathLike('"/api/login"')
const HEADER = text('the name of a header', HTTP_TOKEN)
/** The characters that Node sends in a header (RFC 9110 section 5.5). */
const HEADER_VALUE = text('a text in one line, of characters up to U+00FF', /^[\t\x20-\x7e\x80-\xff]+$/)
/** RFC 6265 section 4.1.1. */
const COOKIE = text('the name of a cookie', HTTP_TOKEN)
const MEMBER = text(
  'a name of at most 200 characters, with dots between nested names',
  /^(?!.{201})[^\s.]+(\.[^\s.]+)*$/,
)
const FIELD = text('a name of at most 200 characters, without spaces', /^\S{1,200}$/)

function loginOf(env: Env) {
  const constant = constantOf(env)
  const line: Check<string> = (value, at) => checked(String(at), HEADER_VALUE, constant(value, at))
  const login = objectOf(
    {
      path: PATH,
      method: optional(word('POST', 'PUT', 'PATCH'), 'POST'),
      type: optional(word('json', 'form'), 'json' as const),
      // In JSON, a dot separates the names of nested members.
      user: optional(FIELD, 'email'),
      password: optional(FIELD, 'password'),
      // Further members and headers of each login.
      fields: optional(recordOf(FIELD, constant), {}),
      headers: optional(recordOf(HEADER, line), {}),
    },
    '{ "path": "/api/login" }',
  )
  return (value: unknown, at?: At) => {
    const read = login(value, at)
    mustDiffer(at, [...Object.keys(read.fields), read.user, read.password], read.type === 'json')
    return read
  }
}

/** Refuses a name that is another one, or lies within another member: only one of the two could be sent. */
function mustDiffer(at: At, names: readonly string[], nested: boolean): void {
  for (const [index, name] of names.entries()) {
    const other = names.find((one, i) => i !== index && (one === name || (nested && one.startsWith(`${name}.`))))
    if (other === undefined) continue
    throw new UsageError(
      `${at} must have different members, but has ${JSON.stringify(name)} and ${JSON.stringify(other)}`,
    )
  }
}

/** Creates a check for a constant, or for `{ "env": "NAME" }` with a secret in an environment variable. */
function constantOf(env: Env): Check<string | number | boolean> {
  const variable = objectOf({ env: text('the name of an environment variable', /^\w+$/) })
  return (value, at) => {
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value
    if (!isPlainObject(value)) throw new InvalidOption('a text, a number, true, false or { "env": "NAME" }')
    const { env: name } = variable(value, at)
    const found = own(env, name)
    if (!found) throw new UsageError(`${at}: the environment variable ${name} is not set`)
    return found
  }
}

const body = optional(MEMBER)
const header = optional(HEADER)
const cookie = optional(COOKIE)

/** Reads `{ "body": "data.token" }`, `{ "header": "X-Token" }` or `{ "cookie": "session" }`. */
const location: Check<Location> = (value, at) =>
  onlyOf(at, objectOf({ body, header, cookie }, '{ "body": "access_token" }')(value, at))

const expiration = (value: unknown, at?: At) => {
  const example = '{ "body": "expires_in", "form": "seconds" }'
  const { form, ...places } = objectOf({ body, header, form: word(...EXPIRATION_FORMS) }, example)(value, at)
  return { at: onlyOf(at, places), form }
}

function onlyOf(at: At, places: { [Place in Location['in']]?: string | undefined }): Location {
  const named = Object.entries(places).filter(([, name]) => name !== undefined)
  const [place, name] = named[0] ?? []
  if (named.length === 1) return { in: place as Location['in'], name: name as string }
  throw new UsageError(`${at} must have exactly one of ${Object.keys(places).join(', ')}`)
}

const statusList: Check<readonly number[]> = (value) => {
  const list = [value].flat()
  const isStatus = (one: unknown) => Number.isInteger(one) && Number(one) >= 200 && Number(one) <= 599
  if (list.length > 0 && list.every(isStatus)) return list as number[]
  throw new InvalidOption('a status from 200 to 599, or a list of statuses')
}

const status = (usual: number) => optional(statusList, [usual])
const statuses = objectOf(
  {
    success: status(200),
    wrongPassword: status(401),
    malformed: status(400),
    missingToken: status(401),
    refusedToken: status(401),
  },
  '{ "wrongPassword": 400 }',
)

/** Reads a path or a list of paths. An error names the path of the list. */
const paths: Check<readonly string[]> = (value, at) =>
  Array.isArray(value) ? value.map((one, index) => checked(`${at}[${index}]`, PATH, one)) : [PATH(value)]

const SCHEME = text('a scheme like "Bearer", or an empty text', new RegExp(`^$|${HTTP_TOKEN.source}`))

const guarded = (value: unknown, at?: At) => {
  const table = { path: optional(paths, []), header, scheme: optional(SCHEME), cookie }
  const read = objectOf(table, '{ "path": "/api/me" }')(value, at)
  if (read.cookie !== undefined && (read.header !== undefined || read.scheme !== undefined)) {
    throw new UsageError(`${at} must have either header and scheme, or cookie`)
  }
  const name = read.header ?? 'Authorization'
  const usual = name.toLowerCase() === 'authorization' ? 'Bearer' : ''
  // The request header that carries the token, and the scheme before the token. No scheme: the token is the whole value.
  const asHeader = { header: name, scheme: read.scheme ?? usual }
  return { paths: read.path, credential: read.cookie === undefined ? asHeader : { cookie: read.cookie } }
}

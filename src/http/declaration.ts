import type { AuthErrorCode, CodeAt, RefusalStatus } from '../errors/codes.js'
import type { Refusals } from '../errors/refusal.js'
import type { SignInRefusal } from '../errors/sign-in-refusal.js'
import { isPlainObject, own } from '../options/values.js'
import { acceptedResponse, doneResponse, type HttpResponse, jsonResponse, type RefreshMode } from './responses.js'

/*
 * What an endpoint says about its requests and responses. `endpoint.ts` runs it, and the OpenAPI document describes it.
 */

/** A JSON Schema (2020-12) in OpenAPI 3.1 (section 4.8.24). */
export interface Schema {
  [keyword: string]: unknown
}

/** The name of a schema, which the feature has among its `schemas`. Or the schema itself. */
export type SchemaOrName = Schema | string

/** A member of a request body. */
export interface Member<T> {
  readonly schema: Schema
  /** Returns undefined for a value that is not valid. */
  read(value: unknown): T | undefined
}

/** A text. A lone surrogate is refused, because encoding would turn every one into U+FFFD, so different texts would become one. */
export const text = (description: string, schema: Schema = {}): Member<string> => ({
  schema: { type: 'string', ...schema, description },
  read: (value) => (typeof value === 'string' && value.isWellFormed() ? value : undefined),
})

/** The body of a request. */
export interface Body<B> {
  readonly schema: SchemaOrName
  /** The text of the `invalid_body` refusal. */
  readonly message: string
  /** Returns undefined for a body that is not valid. */
  read(sent: unknown): B | undefined
  /** The place where the clients that send this body keep their refresh tokens. Other clients send no body. Default: all clients send it. */
  readonly of?: RefreshMode
  /** The text of the `invalid_body` refusal for a client that sends no body. Default: such a client gets none. */
  readonly messageWithout?: string
}

/** A body whose members are checked before the endpoint gets them. */
export function members<M extends Readonly<Record<string, Member<unknown>>>>(
  all: M,
  name?: string,
): Body<{ readonly [K in keyof M]: M[K] extends Member<infer T> ? T : never }> {
  const names = Object.keys(all)
  return {
    schema: name ?? membersSchema(all),
    message: missingMembers(names),
    read(sent) {
      const given = isPlainObject(sent) ? sent : {}
      const read = Object.entries(all).map(([member, { read }]) => [member, read(own(given, member))] as const)
      return read.some(([, value]) => value === undefined) ? undefined : (Object.fromEntries(read) as never)
    },
  }
}

/** Returns the schema of a body with these members. */
export const membersSchema = (all: Readonly<Record<string, Member<unknown>>>): Schema => ({
  type: 'object',
  required: Object.keys(all),
  properties: Object.fromEntries(Object.entries(all).map(([member, { schema }]) => [member, schema])),
})

/** Returns the message for a body that lacks a member. */
export function missingMembers(names: readonly string[]): string {
  const quoted = names.map((name) => `"${name}"`)
  const [last] = quoted.slice(-1)
  const each = quoted.length > 1 ? ', each exactly once and as a string' : ' exactly once, as a string'
  return `The request body must contain ${[quoted.slice(0, -1).join(', '), last].filter(Boolean).join(' and ')}${each}.`
}

/** A body that the endpoint reads itself. It refuses a body that is not valid with this message. */
export const anyBody = (schema: SchemaOrName, message: string): Body<{ readonly sent: unknown }> => ({
  schema,
  message,
  read: (sent) => ({ sent }),
})

/**
 * A body of clients that keep their refresh tokens themselves. Undefined for a client whose refresh token is in a cookie, which may get
 * `invalid_body` with another message.
 */
export const unlessCookie = <B>(body: Body<B>, messageWithout: string): Body<B | undefined> => ({
  ...body,
  of: 'body',
  messageWithout,
})

/** A successful response, which is made of the result of the endpoint. */
export interface Success<T> {
  readonly description: string
  /** The schema of the content. Default: there is no content. */
  readonly schema?: SchemaOrName
  /** A result, whose response has the headers of all. */
  readonly sample: T
  respond(result: T): HttpResponse
  /** The place where the clients that get this response keep their refresh tokens. Default: all clients may get it. */
  readonly of?: RefreshMode
  /** The description where the option `respond` makes the response. Default: the same. */
  readonly ownDescription?: string
  /** Returns examples of the content, by name. Default: none. */
  examples?(app: DescribedApp): Readonly<Record<string, { value: unknown }>>
}

/** The facts of an app that change the responses of its endpoints. */
export interface DescribedApp {
  /** The ways in which clients keep their refresh tokens. Empty: no client has one. */
  readonly modes: readonly RefreshMode[]
  /** The option `respond` makes the response of a sign-in. */
  readonly responds: boolean
  /** True for an app with second factors. */
  readonly hasFactors: boolean
}

/** A response with JSON that no cache may store. */
export const json = (schema: SchemaOrName, description: string): Success<object> => ({
  description,
  schema,
  sample: {},
  respond: (result) => jsonResponse(JSON.stringify(result)),
})

/** A response with JSON about what was created. No cache may store it. */
export const created = (schema: SchemaOrName, description: string): Success<object> => ({
  description,
  schema,
  sample: {},
  respond: (result) => ({ ...jsonResponse(JSON.stringify(result)), status: 201 }),
})

/** A response without a body, of an endpoint that returns nothing. */
export const empty = (description: string): Success<void> => ({
  description,
  sample: undefined,
  respond: doneResponse,
})

/** The response to a request whose work begins later. It says nothing of the result. */
export const accepted = (description: string): Success<void> => ({
  description,
  sample: undefined,
  respond: acceptedResponse,
})

/** The responses of an endpoint by status: a success, or the codes of refusals. */
export type Declared = {
  // biome-ignore lint/suspicious/noExplicitAny: the result of each endpoint.
  readonly [S in 200 | 201 | 202 | 204]?: Success<any>
} & { readonly [S in RefusalStatus]?: CodeAt<S> | readonly CodeAt<S>[] }

/** The codes that responses declare. */
export type CodesIn<R extends Declared> = {
  [S in keyof R]: R[S] extends readonly (infer C)[] ? C : R[S]
}[keyof R] &
  AuthErrorCode

/** The result of an endpoint with these responses. */
export type ResultIn<R extends Declared> = { [S in keyof R]: R[S] extends Success<infer T> ? T : never }[keyof R]

/** The requests that an endpoint takes and the responses that it sends, as documents describe them. */
export interface Declaration {
  /** The name of the operation. */
  readonly id: string
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** The path below the one of the feature. `''` is that path, `'/'` also with a slash at its end, and `{id}` is one segment. */
  readonly path: string
  readonly summary: string
  readonly description: string
  /** Default: everybody may send requests. */
  readonly guard?: { readonly name: 'user' | 'session' | 'recent' } | undefined
  /**
   * `'own'`: a page of another origin may not send requests. `'own with cookie'`: not for a client whose refresh token is in a cookie. Default:
   * every page may.
   */
  readonly origin?: 'own' | 'own with cookie' | undefined
  readonly body?: Body<unknown> | undefined
  readonly responses: Declared
  /** The response to invalid credentials is a problem too. Default false: it has no body, as specified for the token endpoint. */
  readonly isProblem?: boolean | undefined
  /** Also sends each `SignInRefusal` of the host. Default false. */
  readonly ofHost?: boolean | undefined
  /** The refusals of the code of a second factor, in an app with second factors. Default: none. */
  readonly ofFactor?: readonly SignInRefusal[] | undefined
  /** A request with another method reaches the host's routes. Default false: it gets a `405`. */
  readonly sharesPath?: boolean | undefined
  /** The kind of the events of its refusals. Default `'failures'`. */
  readonly events?: Refusals['events'] | undefined
}

/** The refusals of a body that is read. */
const OF_BODY: readonly AuthErrorCode[] = [
  'unsupported_media_type',
  'cross_site_form',
  'body_too_large',
  'invalid_body',
]

/** Returns the codes that an endpoint itself gives, without those of its guard. */
export function codesOf({
  responses,
  body,
  origin,
  sharesPath,
}: Pick<Declaration, 'responses' | 'body' | 'origin' | 'sharesPath'>) {
  const named = Object.values(responses).flatMap((one) => (isSuccess(one) ? [] : one)) as AuthErrorCode[]
  return new Set<AuthErrorCode>([
    ...(sharesPath ? [] : (['method_not_allowed'] as const)),
    'client_closed_request',
    ...named,
    ...(body ? OF_BODY : []),
    ...(origin ? (['cross_site_request'] as const) : []),
  ])
}

/** Returns the refusals of an endpoint. */
export function refusalsOf(
  declared: Pick<
    Declaration,
    'responses' | 'body' | 'origin' | 'guard' | 'ofHost' | 'ofFactor' | 'events' | 'sharesPath'
  >,
): Refusals {
  const { guard, ofFactor, ofHost = ofFactor !== undefined, events = 'failures' } = declared
  // After the guard, an endpoint may still wait for its store, refuse a token that has no session, or one that another site sends in a cookie.
  const ofGuard: readonly AuthErrorCode[] = guard
    ? ['invalid_token', 'overloaded', 'unavailable', 'cross_site_request']
    : []
  return { codes: new Set([...codesOf(declared), ...ofGuard]), ofHost, events }
}

export function isSuccess(one: unknown): one is Success<unknown> {
  return isPlainObject(one) && 'respond' in one
}

/** Returns the successes of an endpoint, by status. */
export const successesOf = ({ responses }: Pick<Declaration, 'responses'>) =>
  Object.entries(responses).flatMap(([status, one]) => (isSuccess(one) ? [[Number(status), one] as const] : []))

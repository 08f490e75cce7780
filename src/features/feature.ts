import type { Request } from 'express'
import { AuthError } from '../errors/auth-error.js'
import { authOf } from '../guard/require-bearer.js'
import type { Schema } from '../http/declaration.js'
import type { Endpoint, EndpointGuard, Mounted } from '../http/endpoint.js'
import { bool } from '../options/checks.js'
import { type Message, misuse, type Page, type Subject } from '../options/misuse.js'
import { type Check, optional } from '../options/read-options.js'
import { memberOf } from '../options/values.js'
import { mayHaveSession, type VerifiedToken } from '../tokens/verified-token.js'

/** The paths of an app that features have their endpoints at. */
export interface FeaturePaths {
  token: string
  sessions: string
  keys: string
  account: string
}

/** The schemas of a feature, by name. */
export type Schemas = Readonly<Record<string, Schema>>

/** The options of `openApiDocument` that the schemas of a feature depend on. */
export interface DescribedSchemas {
  readonly extraFields: Readonly<Record<string, Schema>>
  readonly tokenRequest: Schema | undefined
  readonly tokenResponse: Schema | undefined
  readonly modes: readonly ('cookie' | 'body')[]
  /** True for an app with passkeys. */
  readonly passkeys: boolean
  /** True for an app with second factors. */
  readonly hasFactors: boolean
  /** The names of the further members of a sign-up. */
  readonly signUpFields: readonly string[]
}

/** A part of an app that an option needs. */
export interface Need {
  /** The option of `createAuth`, or the path to a member of it: `accounts.findById`. */
  readonly part: string
  /** The words of the error: the part, and what to do. */
  readonly text: string
  /** Default: the page of `createAuth`. */
  readonly page?: Page | undefined
}

/** The sessions of the app. */
export const SESSIONS: Need = {
  part: 'store.sessions',
  text: '"store" with "sessions". Pass memoryStore(), or one of a database',
}

/** The mailed codes of the app. */
export const CODES: Need = {
  part: 'store.codes',
  text: '"store" with "codes". Pass memoryStore(), or one of a database',
}

/** The accounts of the app, by their ids. */
export const FIND_BY_ID: Need = {
  part: 'accounts.findById',
  text: '"accounts" with "findById", because the account is looked up again by its id',
}

/** The mails of the app. */
export const MAIL: Need = { part: 'mail', text: '"mail", the function that sends a mail' }

/** The longest time since the sign-in for the guard `recent`, in milliseconds. */
export const RECENT_MS = 600_000

/** An option that switches a feature on. */
export const onOrOff = optional((value) => bool(value) || undefined)

/** A feature with the dependencies `P`: its options, and the endpoints at one path of an app. */
export interface Feature<P = never> {
  /** The checks of its options. Default: it has none. */
  readonly options?: Readonly<Record<string, Check<unknown>>>
  /** The parts of the app that an option needs, by the name of the option. */
  readonly needs?: Readonly<Record<string, readonly Need[]>>
  /** The path that the paths of its endpoints are below. */
  readonly at: keyof FeaturePaths
  readonly endpoints: readonly Endpoint<P>[]
  /** Returns the schemas that the endpoints name. Default: none. */
  schemas?(described: DescribedSchemas): Schemas
}

/** Returns the endpoints of a feature. The account paths may be those of the host's routes too. */
export const endpointsOf = <P>({ at, endpoints }: Feature<P>): readonly Endpoint<P>[] =>
  at === 'account' ? endpoints.map((one) => ({ ...one, sharesPath: true })) : endpoints

/** Returns the endpoints of a feature with its dependencies, below its path. */
export const mount = <P>(feature: Feature<P>, at: string, parts: P): Mounted[] =>
  endpointsOf(feature).map((endpoint) => ({ at, endpoint, parts }))

/** @throws TypeError that names an option of a feature and the part that it needs */
export function assertNeeds(caller: Subject, options: object, { needs = {} }: Pick<Feature, 'needs'>): void {
  const given = Object.entries(needs).filter(([option]) => memberOf(options, option) !== undefined)
  for (const [option, parts] of given)
    for (const { part, text, page } of parts) {
      const found = part.split('.').reduce<unknown>((holder, name) => memberOf(Object(holder), name), options)
      if (found === undefined || found === null)
        throw misuse(`${caller}: option "${option}" needs ${text}` satisfies Message, page)
    }
}

/** Old tokens and API keys must not show where their user is signed in. */
function admit(req: Request): VerifiedToken {
  const auth = authOf(req)
  if (mayHaveSession(auth)) return auth
  throw new AuthError('invalid_token')
}

/** The guard of endpoints about the user of the request. It refuses administrators who act as the user. */
export const user: EndpointGuard<VerifiedToken> = { name: 'user', admit }

/** The guard of endpoints that need a recent sign-in of the user in person. */
export const recent: EndpointGuard<VerifiedToken> = { name: 'recent', admit }

/** The guard of endpoints about the session of the request, which may be that of an administrator who acts as the user. */
export const anySession: EndpointGuard<VerifiedToken> = { name: 'session', admit }

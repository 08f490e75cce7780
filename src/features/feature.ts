import type { Request } from 'express'
import { AuthError } from '../errors/auth-error.js'
import { authOf } from '../guard/require-bearer.js'
import type { Schema } from '../http/declaration.js'
import type { Endpoint, EndpointGuard } from '../http/endpoint.js'
import { mayHaveSession, type VerifiedToken } from '../tokens/verified-token.js'

/** The paths of an app that features have their endpoints at. */
export interface FeaturePaths {
  token: string
  sessions: string
  keys: string
}

/** The schemas of a feature, by name. */
export type Schemas = Readonly<Record<string, Schema>>

/** The options of `openApiDocument` that the schemas of a feature depend on. */
export interface DescribedSchemas {
  readonly extraFields: Readonly<Record<string, Schema>>
  readonly tokenRequest: Schema | undefined
  readonly tokenResponse: Schema | undefined
  readonly modes: readonly ('cookie' | 'body')[]
}

/** A feature with the dependencies `P`: the endpoints at one path of an app. */
export interface Feature<P = never> {
  /** The path that the paths of its endpoints are below. */
  readonly at: keyof FeaturePaths
  readonly endpoints: readonly Endpoint<P>[]
  /** Returns the schemas that the endpoints name. Default: none. */
  schemas?(described: DescribedSchemas): Schemas
}

/** Old tokens and API keys must not show where their user is signed in. */
function admit(req: Request): VerifiedToken {
  const auth = authOf(req)
  if (mayHaveSession(auth)) return auth
  throw new AuthError('invalid_token')
}

/** The guard of endpoints about the user of the request. It refuses administrators who act as the user. */
export const user: EndpointGuard<VerifiedToken> = { name: 'user', admit }

/** The guard of endpoints about the session of the request, which may be that of an administrator who acts as the user. */
export const anySession: EndpointGuard<VerifiedToken> = { name: 'session', admit }

import type { Wire } from './wire/wire.js'

/** A guarded route, with its name from the command line. */
export interface Guarded {
  name: string
  url: URL
}

export interface Credentials {
  email: string
  password: string
}

/** One environment of the service: its token endpoint, and the routes that accept its tokens. */
export interface Environment {
  token: URL
  guarded: readonly Guarded[]
  credentials: Credentials
}

/** The app to check. */
export interface Target extends Environment {
  wire: Wire
  /** Undefined: the mapping names no path. */
  jwks: URL | undefined
  /** Another environment. Neither environment may accept the other's tokens. */
  other: Environment | undefined
  /** A token of another environment, instead of `other`. */
  foreignToken: string | undefined
  /** A route that needs a recent sign-in. */
  recent: Guarded | undefined
  /** A valid token of this environment, from a sign-in that is too old for `recent`. */
  oldToken: string | undefined
  /** A token of this environment that has expired. */
  expiredToken: string | undefined
  /** The number of wrong passwords after which a limit must hold. */
  guesses: number | undefined
}

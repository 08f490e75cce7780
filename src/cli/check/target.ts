/** A guarded route, by the name that it was given. */
export interface Guarded {
  name: string
  url: URL
}

export interface Credentials {
  email: string
  password: string
}

/** One environment of the service: whom to ask for a token, and where it is good. */
export interface Environment {
  token: URL
  guarded: readonly Guarded[]
  credentials: Credentials
}

/** What is checked. */
export interface Target extends Environment {
  jwks: URL
  /** An environment whose tokens are not to be good here, nor ours there. */
  other: Environment | undefined
  /** A token of another environment, for where that cannot be asked. */
  foreignToken: string | undefined
  /** A token of this environment that has expired. */
  expiredToken: string | undefined
}

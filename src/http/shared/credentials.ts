import type { IncomingMessage } from 'node:http'
import type { Request } from 'express'
import passport from 'passport'
import { Strategy as BearerStrategy, type VerifyFunction } from 'passport-http-bearer'
import { Strategy as LocalStrategy } from 'passport-local'
import type { Credentials } from '../../accounts/login.js'
import { AuthError } from '../../shared/errors.js'
import { isPlainObject } from '../../shared/options.js'
import type { VerifiedToken } from '../../tokens/verified-token.js'
import { isRepeated } from './header-lines.js'

/**
 * The credentials in a parsed body. Members other than the two are ignored.
 * @param limit the longest body; the host's own parser may have let a longer one through
 * @throws AuthError `invalid_body` or `body_too_large`
 */
export function credentialsIn(body: unknown, limit: number): Credentials {
  const credentials = { email: member(body, 'email'), password: member(body, 'password') }
  if (credentials.email.length + credentials.password.length > limit) throw new AuthError('body_too_large')
  return credentials
}

function member(body: unknown, name: string): string {
  const value = isPlainObject(body) && Object.hasOwn(body, name) ? body[name] : undefined
  // A lone surrogate is no character: encoded it would turn into U+FFFD, and into somebody else's password.
  if (typeof value !== 'string' || !value.isWellFormed()) throw new AuthError('invalid_body')
  return value
}

/*
 * RFC 6750 section 2.1, RFC 9110 section 11.4:
 *   credentials = auth-scheme 1*SP b64token      auth-scheme = token, in any case
 *   b64token    = 1*( ALPHA / DIGIT / "-" / "." / "_" / "~" / "+" / "/" ) *"="
 */
const AUTH_SCHEME = /^[!#$%&'*+.^_`|~\w-]+/
const BEARER = /^bearer +([\w.~+/-]+=*)$/i

/**
 * A property of a request. Express changes each request's prototype, and with it its hidden class, which no inline cache has met
 * before: it would be looked up the long way, and what was found be cached for nobody.
 */
export const look = <K extends keyof IncomingMessage>(req: IncomingMessage, name: K): IncomingMessage[K] =>
  Reflect.get(req, name)

/**
 * The bearer token in a request's `Authorization` header. Another scheme is no bearer credentials.
 * @returns undefined when the request brings none
 * @throws AuthError `invalid_request` when they are malformed, repeated, or stand in the query too
 */
export function bearerTokenOf(req: IncomingMessage, header: string | undefined): string | undefined {
  if (header === undefined) return undefined
  // Node gives text, but a middleware may have put anything there.
  if (typeof header !== 'string') throw new AuthError('invalid_request')
  if (isRepeated(req, 'authorization')) throw new AuthError('invalid_request')
  if (AUTH_SCHEME.exec(header)?.[0].toLowerCase() !== 'bearer') return undefined
  const token = BEARER.exec(header)?.[1]
  if (!token || hasTokenInQuery(req)) throw new AuthError('invalid_request')
  return token
}

/**
 * The verified token of a request whose header is letter for letter one that was verified before. Whatever else there is to a
 * request takes the full way, which also tells what is wrong with it.
 */
export function knownTokenOf(
  req: IncomingMessage,
  header: string | undefined,
  recall: (credentials: string | undefined) => VerifiedToken | undefined,
): VerifiedToken | undefined {
  const known = recall(header)
  return known && !isRepeated(req, 'authorization') && !hasTokenInQuery(req) ? known : undefined
}

function hasTokenInQuery(req: IncomingMessage): boolean {
  const url = look(req, 'url') ?? ''
  const start = url.indexOf('?')
  return start >= 0 && new URLSearchParams(url.slice(start)).has('access_token')
}

/** A Passport of our own: the host's, and its `req`, are never touched. */
const instance = new passport.Passport()

/**
 * passport-local takes an empty string for a missing one, and answers before it is verified; the mark keeps it a value.
 */
const MARK = '='

/** Runs a login by passport-local. The strategy sees the two fields, and nothing else of the request. */
export function loginByPassport<T extends object>(
  { email, password }: Credentials,
  login: (credentials: Credentials) => Promise<T>,
): Promise<T> {
  const strategy = new LocalStrategy({ usernameField: 'email', session: false }, (username, secret, done) => {
    const credentials = { email: username.slice(MARK.length), password: secret.slice(MARK.length) }
    login(credentials).then((user) => done(null, user as never), done)
  })
  return authenticate(strategy, { body: { email: MARK + email, password: MARK + password } })
}

/**
 * Lets passport-http-bearer verify tokens, and gives what `verify` gives. The strategy sees a token's header, and nothing else of
 * the request. It is driven as Passport drives it, but without Passport: what that hangs on a request is the dearest part of a
 * token's first time.
 */
export function bearerByPassport<T>(verify: (token: string) => T): (token: string) => T {
  let answer: { verified: T } | undefined
  const strategy = new BearerStrategy<VerifyFunction>((credentials, done) =>
    done(null, { verified: verify(credentials) }),
  )
  const success = (given: { verified: T }) => {
    answer = given
  }
  const refused = () => {}
  Object.assign(strategy, { success, error: refused, fail: refused, pass: refused })

  return (token) => {
    strategy.authenticate({ headers: { authorization: `Bearer ${token}` } } as Request)
    const given = answer
    answer = undefined
    if (!given) throw new Error(UNFORESEEN)
    return given.verified
  }
}

/** The strategies are only given what is well-formed: a plain failure means that one of them has changed its ways. */
const UNFORESEEN = 'a Passport strategy refused what it was given'

/** Asks a strategy, made for this one call, about a narrowed view of the request. */
function authenticate<T>(strategy: passport.Strategy, view: object): Promise<T> {
  return new Promise((resolve, reject) => {
    const settle = (error: unknown, subject: T | false) => {
      if (error) return reject(error)
      return subject ? resolve(subject) : reject(new Error(UNFORESEEN))
    }
    instance.authenticate(strategy, { session: false }, settle)(view, {}, reject)
  })
}

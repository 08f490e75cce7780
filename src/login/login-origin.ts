import type { IncomingMessage } from 'node:http'
import { clientNetwork } from '../http/client-network.js'
import { followerOf, NEVER, type Origin, originOfRequest } from '../http/origin.js'
import { text } from '../options/checks.js'
import { checkThat, named, optional, readOptions } from '../options/read-options.js'
import { isPlainObject, memberOf } from '../options/values.js'

/** The client that signs in, where there is no request. */
export interface LoginOrigin {
  /** The client's address, for the failed-login limits. All logins without an address count as one client network. */
  address?: string | undefined
  /** Aborts when the client has disconnected. The login then ends with `client_closed_request`. Default: never. */
  signal?: AbortSignal | undefined
}

const isSignal = (value: unknown) =>
  isPlainObject(value) &&
  typeof memberOf(value, 'aborted') === 'boolean' &&
  typeof memberOf(value, 'addEventListener') === 'function'
const signalOption = checkThat<AbortSignal>('an AbortSignal', isSignal)

const originOption = checkThat<LoginOrigin>('the request or { address }', isPlainObject, (value) =>
  typeof value === 'string' ? 'Pass the credentials as one object: logIn({ email, password }, req)' : '',
)

const originSchema = {
  address: optional(text('the address of a client')),
  signal: optional((value) => followerOf(signalOption(value)), NEVER),
}

/** An object with `headers` and an `address` is neither a request nor an origin, so that its address is not lost. */
const isRequest = (origin: object): origin is IncomingMessage =>
  isPlainObject(memberOf(origin, 'headers')) && memberOf(origin, 'address') === undefined

export function originOf(origin: IncomingMessage | LoginOrigin = {}): Origin {
  if (isPlainObject(origin) && isRequest(origin)) return originOfRequest(origin)
  const given = named('logIn: the origin', originOption, origin)
  const { address, signal } = readOptions<LoginOrigin, typeof originSchema>('logIn', given, originSchema)
  return { req: undefined, address, signal, network: clientNetwork(address) }
}

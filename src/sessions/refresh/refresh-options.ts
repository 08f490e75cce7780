import { isUint8Array } from 'node:util/types'
import { noteSecret } from '../../events/shared-secrets.js'
import { type Duration, duration } from '../../options/checks.js'
import { misuse } from '../../options/misuse.js'
import { aliasesOf, type Check, InvalidOption, optional, readOptions } from '../../options/read-options.js'

/** The option `refresh` of `createSessions`. */
export interface RefreshOptions {
  /**
   * Signs the refresh tokens: a text or bytes of at least 32 bytes, the same in all processes. A list: the first one signs, all of them
   * verify, so that you can replace a secret without signing anyone out.
   */
  secret: RefreshSecret | readonly RefreshSecret[]
  /** A session ends when it was not refreshed for this time. Default 14 days. 1 s to 366 days. */
  idle?: Duration | undefined
  /** The time in place of `idle` for a sign-in with `remember: false`. Default: that of `idle`, which it must not exceed. 1 s to 366 days. */
  unremembered?: Duration | undefined
  /** The longest time from a sign-in to the end of its session. Default 90 days, or `idle` if that is longer. Up to 10 years. */
  longest?: Duration | undefined
  /**
   * The time in which a replaced refresh token returns its successor again, for tabs, retries and lost responses. A thief who always
   * refreshes within this time of the owner is not noticed, so keep it short. Default 10 s. At most 1 min. 0: a replaced refresh token ends
   * the session, so that a lost response signs the user out.
   */
  grace?: Duration | undefined
}

/** A secret as text (in UTF-8) or bytes. */
export type RefreshSecret = string | Uint8Array

/** The settings of refresh. Times in milliseconds. */
export interface RefreshSettings {
  secrets: readonly Uint8Array[]
  idle: number
  unremembered: number
  longest: number
  grace: number
}

const SHORTEST = 32

const secretList: Check<readonly Uint8Array[]> = (value) => {
  const list: unknown[] = Array.isArray(value) ? [...value] : [value]
  const read = list.map((one) => (typeof one === 'string' ? Buffer.from(one) : one))
  const short = read.findIndex((one) => !isUint8Array(one) || one.length < SHORTEST)
  if (read.length > 0 && short < 0) {
    return read.map((one) => Uint8Array.from(one as Uint8Array))
  }
  throw new InvalidOption(
    `a secret of at least ${SHORTEST} bytes, or a list of secrets`,
    `${read.length > 1 ? `Number ${short + 1} of the list is too short. ` : ''}Create a secret with: npx express-token-endpoint keygen --alg HS256`,
  )
}

const MINUTE = 60_000
const DAY = 86_400_000

const schema = {
  secret: secretList,
  idle: optional(duration(1000, 366 * DAY), 14 * DAY),
  unremembered: optional(duration(1000, 366 * DAY)),
  longest: optional(duration(1000, 3660 * DAY)),
  grace: optional(duration(0, MINUTE), 10_000),
}

const aliases = aliasesOf({ idle: 'ttl expiresIn', longest: 'maxAge' })

/** @throws TypeError naming the option that is not valid */
export function readRefreshOptions(options: RefreshOptions): RefreshSettings {
  const caller = 'createSessions: option "refresh"'
  const read = readOptions<RefreshOptions, typeof schema>(caller, options, schema, aliases)
  const { secret: secrets, idle, unremembered = idle, longest = Math.max(90 * DAY, idle), grace } = read
  for (const secret of secrets) noteSecret('refresh', secret)
  if (longest < idle) throw misuse(`${caller}: option "longest" must not be shorter than "idle"`)
  if (unremembered > idle) throw misuse(`${caller}: option "unremembered" must not be longer than "idle"`)
  return { secrets, idle, unremembered, longest, grace }
}

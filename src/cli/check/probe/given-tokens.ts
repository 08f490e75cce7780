import { UsageError } from '../../command-error.js'
import type { Probe } from './probe.js'
import { readJwt } from './token.js'

/**
 * Checks the tokens that the user passes. The app would refuse a token that does not fit for another reason than its row tests.
 * @throws UsageError that names the variable
 */
export async function checkGivenTokens({ target, wire, jwt }: Probe): Promise<void> {
  const mine = await jwt().catch(() => undefined)
  for (const { name, text, wantsExpired, isForeign } of [
    { name: 'CHECK_FOREIGN_TOKEN', text: target.foreignToken, wantsExpired: false, isForeign: true },
    { name: 'CHECK_EXPIRED_TOKEN', text: target.expiredToken, wantsExpired: true, isForeign: false },
    { name: 'CHECK_OLD_TOKEN', text: target.oldToken, wantsExpired: false, isForeign: false },
  ]) {
    const token = text === undefined ? undefined : readJwt(text)
    // Another API may have opaque tokens, whose expiration is not visible.
    if (text === undefined || (!token && !wire.own)) continue
    if (!token) throw new UsageError(`${name} is not a JWT`)
    const { exp, iss } = token.claims
    const hasExpired = typeof exp === 'number' && exp * 1000 <= Date.now()
    if (hasExpired && !wantsExpired) throw new UsageError(`${name} has expired. Pass a token that is still valid`)
    if (!hasExpired && wantsExpired) throw new UsageError(`${name} is still valid. Pass a token that has expired`)
    if (!isForeign && mine && iss !== mine.claims['iss'])
      throw new UsageError(`${name} is of another environment. Set it to a token of this one`)
  }
}

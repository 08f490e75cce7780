import { misuse, PAGE } from '../options/misuse.js'
import { memberOf } from '../options/values.js'

/**
 * Creates the list of the issuers whose tokens have sessions.
 * @param issuers the option `issuers`. Without it, the first call of `useFor` names the issuer of the app
 */
export function appIssuers(issuers: readonly string[] | undefined) {
  let ofApp = issuers
  return {
    /** Requires that tokens of these issuers may have sessions. @throws TypeError naming the first issuer that is not one of the app */
    useFor(used: readonly string[], caller: string): void {
      if (used.length === 0) return
      const allowed = ofApp ?? used.slice(0, 1)
      const unknown = used.find((issuer) => !allowed.includes(issuer))
      if (unknown !== undefined) {
        throw misuse(
          `${caller}: "sessions" are not for the tokens of "${unknown}", which could name a session of yours. If this issuer is your own, pass all issuers of your app as createSessions(store, { issuers })`,
          PAGE.signOut,
        )
      }
      ofApp = allowed
    },
    /** Returns whether an owner has a token of another issuer, which may have the id of a session and of an account. */
    isForeign(owner: object): boolean {
      const issuer = memberOf(owner, 'issuer')
      return issuer !== undefined && ofApp?.includes(issuer as string) === false
    },
  }
}

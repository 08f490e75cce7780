import type { TokenIssuer } from 'express-token-endpoint'
import { forge, frozenClock, goodParts, issueNow, makeIssuer } from './fixtures.js'

type Members = Record<string, unknown>

/** Creates an issuer at a frozen moment, and a forger of tokens that are valid except for the given changes. */
export function atFrozenMoment() {
  const clock = frozenClock()
  const good = () => goodParts(clock.seconds())
  return {
    clock,
    now: clock.seconds(),
    issuer: makeIssuer({ clock }),
    /** Changes members of a valid token. `undefined` removes a member. */
    forged: (changes: { header?: Members; payload?: Members } = {}) => {
      const { header, payload } = good()
      return forge({ ...header, ...changes.header }, { ...payload, ...changes.payload })
    },
    /** Replaces the whole payload, JSON or not. */
    withPayload: (payload: unknown) => forge(good().header, payload),
    withHeader: (header: unknown) => forge(header, good().payload),
  }
}

export {
  encode,
  headerOf,
  partsOf,
  type SigningKey,
  signatureOf,
  signParts,
  withOtherSignature,
} from './plain-js/token-forger.mjs'

/** Issues a token for Alice's account. */
export const someToken = (issuer: TokenIssuer) => issueNow(issuer, { accountId: 'acc-1' }).token

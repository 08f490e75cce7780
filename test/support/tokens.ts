import type { TokenIssuer } from 'express-token-endpoint'
import { forge, frozenClock, goodParts, makeIssuer } from './fixtures.js'

type Members = Record<string, unknown>

/** An issuer at a moment that stands still, and tokens made by hand that are good but for what is changed. */
export function atFrozenMoment() {
  const clock = frozenClock()
  const good = () => goodParts(clock.seconds())
  return {
    clock,
    now: clock.seconds(),
    issuer: makeIssuer({ clock }),
    /** Changes members of a good token. `undefined` leaves a member out. */
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

/** A token of the issuer's, for the same account every time. */
export const someToken = (issuer: TokenIssuer) => issuer.issue({ accountId: 'acc-1' }).token

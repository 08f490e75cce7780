/** What the guards are called in tables and chart. Apart from the guards, so that whoever draws needs no peer. */
export const OURS = 'requireBearer'
export const FLOOR = 'a look-up in a map'
export const FAST_JWT = 'fast-jwt, cache'
export const FAST_JWT_KEYED = 'fast-jwt, cache keyed on the token'
export const EXPRESS_JWT = 'express-jwt, KeyObject'
export const EXPRESS_JWT_DOCUMENTED = 'express-jwt, as documented'

/** What a peer’s README shows, where its makers also have something quicker to offer. */
export const isAtBest = (name) => name !== 'fast-jwt' && !name.endsWith('as documented')

export const inTurn = (name, count) => `${name}; ${count.toLocaleString('en')} tokens in turn`

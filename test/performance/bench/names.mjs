/** The names of the guards in tables and chart. This file imports no guard, because the chart works without the peers. */
export const OURS = 'requireBearer'
export const FLOOR = 'a look-up in a map'
export const FAST_JWT = 'fast-jwt, cache'
export const FAST_JWT_KEYED = 'fast-jwt, cache keyed on the token'
export const EXPRESS_JWT = 'express-jwt, KeyObject'

/** Returns whether a guard has its fastest settings. Some peers are also measured as their README documents them. */
export const isAtBest = (name) => name !== 'fast-jwt' && !name.endsWith('as documented')

export const inTurn = (name, count) => `${name}; ${count.toLocaleString('en')} tokens in turn`

/** Names of other rows of the guard part. */
export const ONE_KEY = `${OURS}; no cache, 1 key`
export const MANY_KEYS = `${OURS}; no cache, the last of 100 keys`

/** Returns whether a row is a guard with one token of HS256 and its usual settings. */
export const isPlain = ({ name }) => !name.includes(';')

/** The rows of the part about logins, and its password. */
export const OURS_CHECK = 'this package'
export const WRAPPED = '@node-rs/argon2, which this package calls'
export const PASSWORD = 'correct horse'

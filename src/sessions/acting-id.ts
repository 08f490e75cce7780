/** A UUID of version 8, whose meaning an app defines (RFC 9562 section 5.8). No other session of this package has such an id. */
const ACTING = /^[\da-f]{8}-[\da-f]{4}-8[\da-f]{3}-[\da-f]{4}-[\da-f]{12}$/

/** Returns the id for the session of an administrator who acts as the account, in which every store finds that mark. */
export const actingIdOf = (tokenId: string): string => `${tokenId.slice(0, 14)}8${tokenId.slice(15)}`

export const isActingId = (id: string): boolean => ACTING.test(id)

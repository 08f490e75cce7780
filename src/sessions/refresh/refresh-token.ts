import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto'
import { keyFor } from '../../options/secret.js'

/** The facts in a refresh token: its session, and how often the session was refreshed before. */
export interface RefreshTokenFacts {
  sessionId: string
  generation: number
  /** The terms of the sign-in in a token of an earlier release. Default: those of the session. */
  terms?: string | undefined
  /** The start of the session that an old refresh token was checked for. Default: any. */
  startId?: number | undefined
}

/** Signs refresh tokens, and the digest of a password in a session. A copy of the database opens nothing. */
export interface RefreshSigner {
  /**
   * Returns the refresh token of a generation of a session: the same text however often it is called.
   * @param issuer the environment, because a token of a sibling environment must be refused
   */
  write(facts: Omit<RefreshTokenFacts, 'terms'>, issuer: string): string
  /** Returns what a refresh token names. Undefined for any other text, without a look-up. */
  read(text: unknown, issuers: readonly string[]): RefreshTokenFacts | undefined
  /**
   * Returns the ids that the session of an old refresh token may have, by each of the secrets: a digest, so that the id does not tell the token.
   * @param issuer the environment, because environments may share their old tokens and a store
   */
  idsOfOld(text: string, issuer: string): string[]
  /** Returns a digest of a password hash, which shows a changed password. Without the secret, no guess can be compared with it. */
  tagOf(passwordHash: string | null): string
  /** Returns whether a tag is of a password hash, by any of the secrets. */
  isTagOf(tag: string, passwordHash: string | null): boolean
}

/** The id, the generation, the terms in a token of an earlier release, and the MAC. The generation is a number that JavaScript holds exactly. */
const FORM = /^([\x21-\x2d\x2f-\x7e]{1,255})\.(0|[1-9]\d{0,14})(?:\.([\w-]{1,2048}))?\.([\w-]{43})$/

/**
 * The keys' purposes (RFC 5869 section 3.2). The first one is of refresh tokens of earlier releases. The tag has no issuer, because sessions
 * outlive a change of the issuer.
 */
const PURPOSES = { token: 'express-token-endpoint refresh token 1', tag: 'express-token-endpoint password tag 1' }

/** Characters of a password tag: 96 bits. */
const TAG_LENGTH = 16

/** Returns a tag that is of no hash, for a session that begins: its sign-in has yet to confirm the password. */
export const openTag = () => randomBytes(6).toString('base64url')

export const isOpenTag = (tag: string) => tag.length < TAG_LENGTH

/** @param secrets the first one signs, all of them verify */
export function createRefreshSigner(secrets: readonly Uint8Array[]): RefreshSigner {
  const keyOf = (secret: Uint8Array, purpose: string) => Buffer.from(hkdfSync('sha256', secret, '', purpose, 32))
  const earlierKeys = secrets.map((secret) => keyOf(secret, PURPOSES.token))
  const tagKeys = secrets.map((secret) => keyOf(secret, PURPOSES.tag)) as [Buffer, ...Buffer[]]
  const keysByIssuer = new Map<string, [Buffer, ...Buffer[]]>()

  /** Returns the keys of an issuer of the app. They are few, so each is derived once. */
  function keysOf(issuer: string): [Buffer, ...Buffer[]] {
    const known = keysByIssuer.get(issuer)
    if (known) return known
    const keys = secrets.map((secret) => keyFor(secret, 'refresh token 2', issuer)) as [Buffer, ...Buffer[]]
    keysByIssuer.set(issuer, keys)
    return keys
  }

  /** Returns what a refresh token signs: as JSON, so that no two lists of values have the same text. */
  const signedText = ({ sessionId, generation, terms }: RefreshTokenFacts, issuer: string) =>
    JSON.stringify([issuer, sessionId, generation, ...(terms === undefined ? [] : [terms])])

  const macOf = (key: Buffer, text: string) => createHmac('sha256', key).update(text).digest()

  const tagWith = (key: Buffer, passwordHash: string | null) =>
    createHmac('sha256', key).update(JSON.stringify(passwordHash)).digest('base64url').slice(0, TAG_LENGTH)

  return {
    write(facts, issuer) {
      const { sessionId, generation } = facts
      const mac = macOf(keysOf(issuer)[0], signedText({ sessionId, generation, terms: undefined }, issuer))
      return `${sessionId}.${generation}.${mac.toString('base64url')}`
    },
    read(text, issuers) {
      const match = typeof text === 'string' && FORM.exec(text)
      if (!match) return undefined
      const [, sessionId, digits, terms, mac] = match as unknown as [
        text: string,
        id: string,
        digits: string,
        terms: string | undefined,
        mac: string,
      ]
      const facts: RefreshTokenFacts = { sessionId, generation: Number(digits), terms }
      const given = Buffer.from(mac, 'base64url')
      // Each text has one spelling, although base64url leaves two bits of the last character unused.
      if (given.toString('base64url') !== mac) return undefined
      const isOurs = issuers.some((issuer) => {
        const signed = signedText(facts, issuer)
        const isSigned = (key: Buffer) => timingSafeEqual(macOf(key, signed), given)
        // Only earlier releases have written terms into the token, so no key of today accepts some.
        return (terms === undefined && keysOf(issuer).some(isSigned)) || earlierKeys.some(isSigned)
      })
      return isOurs ? facts : undefined
    },
    idsOfOld: (text, issuer) =>
      secrets.map((secret) => macOf(keyFor(secret, 'old refresh token', issuer), text).toString('base64url')),
    tagOf: (passwordHash) => tagWith(tagKeys[0], passwordHash),
    isTagOf: (tag, passwordHash) => tagKeys.some((key) => tagWith(key, passwordHash) === tag),
  }
}

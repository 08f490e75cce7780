import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto'

/** The facts in a refresh token: its session, and how often the session was refreshed before. */
export interface RefreshTokenFacts {
  sessionId: string
  generation: number
  /** The terms of the sign-in, as a text of `[A-Za-z0-9_-]`. Default: none. */
  terms?: string | undefined
}

/** Signs refresh tokens, and the digest of a password in a session. A copy of the database opens nothing. */
export interface RefreshSigner {
  /**
   * Returns the refresh token of a generation of a session: the same text however often it is called.
   * @param issuer the environment, because a token of a sibling environment must be refused
   */
  write(facts: RefreshTokenFacts, issuer: string): string
  /** Returns what a refresh token names. Undefined for any other text, without a look-up. */
  read(text: unknown, issuers: readonly string[]): RefreshTokenFacts | undefined
  /** Returns a digest of a password hash, which shows a changed password. Without the secret, no guess can be compared with it. */
  tagOf(passwordHash: string | null): string
  /** Returns whether a tag is of a password hash, by any of the secrets. */
  isTagOf(tag: string, passwordHash: string | null): boolean
}

/** The id, the generation, the terms if there are any, and the MAC. The generation is a number that JavaScript holds exactly. */
const FORM = /^([\x21-\x2d\x2f-\x7e]{1,255})\.(0|[1-9]\d{0,14})(?:\.([\w-]{1,2048}))?\.([\w-]{43})$/

/** The keys' purposes (RFC 5869 section 3.2), so that no key of another purpose is used, also when a secret has several. */
const PURPOSES = { token: 'express-token-endpoint refresh token 1', tag: 'express-token-endpoint password tag 1' }

/** Characters of a password tag: 96 bits. */
const TAG_LENGTH = 16

/** Returns a tag that is of no hash. Random, so that a refresh under way notices a second change of the password too. */
export const openTag = () => randomBytes(6).toString('base64url')

export const isOpenTag = (tag: string) => tag.length < TAG_LENGTH

/** @param secrets the first one signs, all of them verify */
export function createRefreshSigner(secrets: readonly Uint8Array[]): RefreshSigner {
  const keyFor = (secret: Uint8Array, purpose: string) => Buffer.from(hkdfSync('sha256', secret, '', purpose, 32))
  const keys = secrets.map((secret) => keyFor(secret, PURPOSES.token)) as [Buffer, ...Buffer[]]
  const tagKeys = secrets.map((secret) => keyFor(secret, PURPOSES.tag)) as [Buffer, ...Buffer[]]

  function macOf(key: Buffer, { sessionId, generation, terms }: RefreshTokenFacts, issuer: string): Buffer {
    const facts = [issuer, sessionId, generation, ...(terms === undefined ? [] : [terms])]
    // As JSON, so that no two lists of values have the same text.
    return createHmac('sha256', key).update(JSON.stringify(facts)).digest()
  }

  const tagWith = (key: Buffer, passwordHash: string | null) =>
    createHmac('sha256', key).update(JSON.stringify(passwordHash)).digest('base64url').slice(0, TAG_LENGTH)

  return {
    write(facts, issuer) {
      const { sessionId, generation, terms } = facts
      const mac = macOf(keys[0], facts, issuer).toString('base64url')
      return [sessionId, generation, ...(terms === undefined ? [] : [terms]), mac].join('.')
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
      const isOurs = keys.some((key) => issuers.some((issuer) => timingSafeEqual(macOf(key, facts, issuer), given)))
      return isOurs ? facts : undefined
    },
    tagOf: (passwordHash) => tagWith(tagKeys[0], passwordHash),
    isTagOf: (tag, passwordHash) => tagKeys.some((key) => tagWith(key, passwordHash) === tag),
  }
}

import { createHmac, hash, randomBytes, timingSafeEqual } from 'node:crypto'
import { keyFor } from '../options/secret.js'

/** The use of a challenge. A challenge for one use, or for another session, is refused like an unknown one. */
export interface ChallengeUse {
  readonly purpose: 'registration' | 'sign-in'
  /** The session that registers a passkey. A sign-in has none yet. */
  readonly sessionId: string | undefined
}

/** A challenge for an authenticator. Nothing of it is stored until it is used. */
export interface Challenge {
  /** The challenge in base64url, as the client data of an authenticator has it. */
  readonly text: string
  readonly expiresAt: Date
  /** The id of the challenge in a store, once it is used. */
  readonly id: string
  /** A random user handle for an account that has no passkey. It follows from the challenge, because nothing is stored. */
  readonly userHandle: string
}

const LIFETIME_MS = 600_000
const TIME_BYTES = 6
const RANDOM_BYTES = 16
const TAG_BYTES = 32

export type Challenges = ReturnType<typeof createChallenges>

/**
 * Creates the challenges of an app: a time and random bits with their HMAC, so that an app stores none that is not used.
 * @param secrets all that may have made a challenge. The first one makes new ones
 */
export function createChallenges({ secrets, issuer, now }: ChallengesSettings) {
  const keys = secrets.map((secret) => keyFor(secret, 'challenge', issuer))
  const hmac = (key: Uint8Array, ...parts: readonly (string | undefined)[]) =>
    createHmac('sha256', key)
      .update(JSON.stringify(parts.map((part) => part ?? null)))
      .digest()
  const tagOf = (key: Uint8Array, { purpose, sessionId }: ChallengeUse, head: Buffer) =>
    hmac(key, 'challenge', purpose, sessionId, head.toString('base64url'))

  function challengeOf(key: Uint8Array, bytes: Buffer): Challenge {
    const text = bytes.toString('base64url')
    return {
      text,
      expiresAt: new Date(bytes.readUIntBE(0, TIME_BYTES) + LIFETIME_MS),
      id: hash('sha256', JSON.stringify([issuer, 'challenge', text]), 'base64url'),
      userHandle: hmac(key, 'user handle', text).toString('base64url'),
    }
  }

  return {
    create(use: ChallengeUse): Challenge {
      const [key] = keys as [Buffer]
      const time = Buffer.alloc(TIME_BYTES)
      time.writeUIntBE(now(), 0, TIME_BYTES)
      const head = Buffer.concat([time, randomBytes(RANDOM_BYTES)])
      return challengeOf(key, Buffer.concat([head, tagOf(key, use, head)]))
    },
    /** Returns a challenge of this app for this use that has not expired. */
    read(use: ChallengeUse, text: string): Challenge | undefined {
      const bytes = Buffer.from(text, 'base64url')
      // Another spelling of the same bytes would be another challenge in the store.
      const isOne = bytes.length === TIME_BYTES + RANDOM_BYTES + TAG_BYTES && bytes.toString('base64url') === text
      if (!isOne) return undefined
      const [head, tag] = [bytes.subarray(0, -TAG_BYTES), bytes.subarray(-TAG_BYTES)]
      const key = keys.find((one) => timingSafeEqual(tagOf(one, use, head), tag))
      const challenge = key && challengeOf(key, bytes)
      return challenge && challenge.expiresAt.getTime() > now() ? challenge : undefined
    },
  }
}

interface ChallengesSettings {
  secrets: readonly Uint8Array[]
  issuer: string
  now(): number
}

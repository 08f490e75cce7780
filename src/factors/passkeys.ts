import { hash } from 'node:crypto'
import { callHost } from '../concurrency/host-call.js'
import { AuthError } from '../errors/auth-error.js'
import { warnOnce } from '../events/warnings.js'
import { isPlainObject, own, parseJson } from '../options/values.js'
import type { Challenge, Challenges, ChallengeUse } from './challenges.js'
import { type FactorStore, OTHER_DATA, type StoredFactor, unlikeStored } from './factor-store.js'
import type { PasskeyChecks, PasskeyUser, SentCredential } from './passkey-checks.js'

/** The settings of the passkeys of an app. */
export interface PasskeysSettings {
  store: FactorStore
  issuer: string
  origins: readonly string[]
  checks: PasskeyChecks
  challenges: Challenges
  timeout: number
  now(): number
}

/** A passkey as its user sees it. */
export interface ShownPasskey {
  /** The id of the passkey in the store. It gives no access. */
  readonly id: string
  readonly name: string | null
  readonly createdAt: string
  readonly lastUsedAt: string | null
}

/** A passkey, as its data in the store. */
interface Passkey {
  readonly credentialId: string
  readonly publicKey: string
  readonly counter: number
  readonly userHandle: string
  readonly transports: readonly string[]
  readonly name: string | null
  /** Times in milliseconds. */
  readonly createdAt: number
  readonly lastUsedAt: number | null
  /** True while the passkey may be the last one, and is being removed. */
  readonly isLeaving?: true
}

interface StoredPasskey {
  readonly factor: StoredFactor
  readonly passkey: Passkey
}

/** A passkey that has signed a challenge. */
export interface CheckedPasskey {
  readonly id: string
  readonly accountId: string
}

const KIND = 'passkey'
export const MOST_PASSKEYS = 20
/** More sign-ins of one account in ten minutes than any user has. */
const MOST_CHALLENGES = 1000
/** The longest data of a factor, in characters. */
const LONGEST_DATA = 8192
/** Sign-ins with one passkey at the same time, each of which replaces its data. */
const MOST_TRIES = 10

const SIGN_IN: ChallengeUse = { purpose: 'sign-in', sessionId: undefined }
const registrationOf = (sessionId: string): ChallengeUse => ({ purpose: 'registration', sessionId })

export type Passkeys = ReturnType<typeof createPasskeys>

/** Creates the passkeys of an app. */
export function createPasskeys({ store, issuer, origins, checks, challenges, timeout, now }: PasskeysSettings) {
  const call = <T>(run: () => T | PromiseLike<T>): Promise<T> => callHost('factors', async () => run(), { timeout })
  const idOf = (credentialId: string) => hash('sha256', JSON.stringify([issuer, KIND, credentialId]), 'base64url')

  async function find(id: string): Promise<StoredPasskey | undefined> {
    const factor = await call(() => store.find(id))
    return factor?.kind === KIND && factor.id === id ? { factor, passkey: passkeyIn(factor) } : undefined
  }

  /** Lists the passkeys of this app. A store may have those of several environments. */
  async function ofAccount(accountId: string): Promise<StoredPasskey[]> {
    const all = await call(() => store.list(accountId))
    return all
      .filter(({ kind }) => kind === KIND)
      .map((factor) => ({ factor, passkey: passkeyIn(factor) }))
      .filter(({ factor, passkey }) => factor.id === idOf(passkey.credentialId))
      .sort((one, other) => one.passkey.createdAt - other.passkey.createdAt)
  }

  const replace = async ({ factor }: StoredPasskey, to: Passkey) =>
    (await call(() => store.replace(factor.id, factor.data, JSON.stringify(to)))) === true

  /** Uses a challenge up. Returns false for one that was used before. */
  const useUp = async ({ id, expiresAt }: Challenge, accountId: string) =>
    (await call(() =>
      store.add({ id, accountId, kind: 'challenge', expiresAt, data: '{}' }, MOST_CHALLENGES, new Date(now())),
    )) === true

  /** Returns the challenge that a credential has signed, if it is one for this use. */
  function challengeIn({ response }: SentCredential, use: ChallengeUse): Challenge | undefined {
    const data = parseJson(Buffer.from(response['clientDataJSON'] ?? '', 'base64url').toString())
    if (!isPlainObject(data)) return undefined
    const text = own(data, 'challenge')
    // A page of another origin that shows this one in a frame could hide what the user agrees to.
    const challenge = typeof text === 'string' && own(data, 'crossOrigin') !== true && challenges.read(use, text)
    if (challenge && !origins.includes(own(data, 'origin') as string)) warnOnce('passkeyOrigin')
    return challenge || undefined
  }

  /** Moves the counter of a passkey on. Returns false for one that went back: somebody has a copy of the authenticator. */
  async function moveOn(id: string, counter: number, tries = MOST_TRIES): Promise<boolean> {
    const found = await find(id)
    const known = found?.passkey.counter ?? 0
    // Authenticators that have no counter always send 0 (WebAuthn section 6.1.1).
    if (!found || (counter <= known && !(counter === 0 && known === 0))) return false
    if (await replace(found, { ...found.passkey, counter, lastUsedAt: now() })) return true
    // Another sign-in has replaced the data.
    if (tries > 0) return moveOn(id, counter, tries - 1)
    throw new AuthError('overloaded', { accountId: found.factor.accountId })
  }

  return {
    /** Returns the options for a new passkey of an account. */
    async begin(account: PasskeyUser, sessionId: string): Promise<object> {
      const { text, userHandle } = challenges.create(registrationOf(sessionId))
      const existing = await ofAccount(account.id)
      return checks.registrationOptions({
        challenge: Buffer.from(text, 'base64url'),
        userHandle: Buffer.from(existing[0]?.passkey.userHandle ?? userHandle, 'base64url'),
        userName: checks.userName(account),
        known: existing.map(({ passkey: { credentialId, transports } }) => ({ id: credentialId, transports })),
      })
    },

    /**
     * Stores a new passkey. Returns undefined when the account has as many as it may have.
     * @throws AuthError `invalid_code` for one that is not valid, `unavailable`
     */
    async add(
      accountId: string,
      { sessionId, sent, name }: { sessionId: string; sent: SentCredential; name: string | null },
    ): Promise<ShownPasskey | undefined> {
      const challenge = challengeIn(sent, registrationOf(sessionId))
      if (!challenge) throw invalidRegistration(accountId)
      const credential = await checks
        .verifyRegistration(sent, { challenge: challenge.text, origins })
        .catch((cause: unknown) => {
          throw invalidRegistration(accountId, cause)
        })
      if (!(await useUp(challenge, accountId))) throw invalidRegistration(accountId)
      const existing = await ofAccount(accountId)
      const passkey: Passkey = {
        credentialId: credential.id,
        publicKey: Buffer.from(credential.publicKey).toString('base64url'),
        counter: credential.counter,
        userHandle: existing[0]?.passkey.userHandle ?? challenge.userHandle,
        transports: sent.transports,
        name,
        createdAt: now(),
        lastUsedAt: null,
      }
      const factor = { id: idOf(credential.id), accountId, kind: KIND, expiresAt: null, data: JSON.stringify(passkey) }
      if (factor.data.length > LONGEST_DATA) throw invalidRegistration(accountId)
      if (await call(() => store.add(factor, MOST_PASSKEYS, new Date(now())))) return shown({ factor, passkey })
      if (existing.length >= MOST_PASSKEYS) return undefined
      // Another account has this credential, or the account registers it twice.
      throw invalidRegistration(accountId)
    },

    list: async (accountId: string): Promise<ShownPasskey[]> => (await ofAccount(accountId)).map(shown),

    /**
     * Removes a passkey of an account.
     * @param isOnlyWay true where the account can sign in only with passkeys: the last one stays
     */
    async remove(accountId: string, id: string, isOnlyWay: boolean): Promise<ShownPasskey | 'unknown' | 'last'> {
      const all = await ofAccount(accountId)
      const found = all.find(({ factor }) => factor.id === id)
      if (!found) return 'unknown'
      if (isOnlyWay) {
        // Marked first, and then the others are counted: of two requests that remove the last two passkeys, neither sees the other one stay.
        if (!(await mark(id, true))) return 'unknown'
        const others = (await ofAccount(accountId)).filter(
          ({ factor, passkey }) => factor.id !== id && !passkey.isLeaving,
        )
        if (others.length === 0) {
          await mark(id, false)
          return 'last'
        }
      }
      return (await call(() => store.remove(id, accountId))) ? shown(found) : 'unknown'
    },

    /** Removes a passkey that was just added. */
    takeBack: (accountId: string, id: string) => call(() => store.remove(id, accountId)),

    /** Returns the options for a sign-in. They name no passkey, so they tell nothing about any account. */
    beginSignIn: (): Promise<object> =>
      checks.authenticationOptions(Buffer.from(challenges.create(SIGN_IN).text, 'base64url')),

    /**
     * Checks a passkey that has signed a challenge. Each challenge works once.
     * @throws AuthError `invalid_credentials`, `unavailable`
     */
    async check(sent: SentCredential): Promise<CheckedPasskey> {
      // In this order, so that a forged challenge costs no look-up, and an unknown passkey no check of a signature.
      const challenge = challengeIn(sent, SIGN_IN)
      const found = challenge && (await find(idOf(sent.id)))
      if (!found) throw new AuthError('invalid_credentials')
      const { accountId, id } = found.factor
      const refusal = (cause?: unknown) => new AuthError('invalid_credentials', { accountId, cause })
      if (sent.response['userHandle'] !== found.passkey.userHandle) throw refusal()
      const publicKey = Buffer.from(found.passkey.publicKey, 'base64url')
      const { counter } = await checks
        .verifyAssertion(sent, { challenge: challenge.text, origins }, publicKey)
        .catch((cause: unknown) => {
          throw refusal(cause)
        })
      if (!(await useUp(challenge, accountId)) || !(await moveOn(id, counter))) throw refusal()
      return { accountId, id }
    },

    /** Returns whether an account still has a passkey. */
    isStored: async ({ id, accountId }: CheckedPasskey): Promise<boolean> =>
      (await find(id))?.factor.accountId === accountId,
  }

  /** Marks a passkey as one that leaves, or that stays. Returns false for a passkey that is gone. */
  async function mark(id: string, isLeaving: boolean, tries = MOST_TRIES): Promise<boolean> {
    const found = await find(id)
    if (!found) return false
    const { isLeaving: _, ...passkey } = found.passkey
    if (await replace(found, { ...passkey, ...(isLeaving && { isLeaving }) })) return true
    if (tries > 0) return mark(id, isLeaving, tries - 1)
    throw new AuthError('overloaded', { accountId: found.factor.accountId })
  }
}

const INVALID = 'The passkey is invalid, or its options are older than ten minutes. Request new options.'

const invalidRegistration = (accountId: string, cause?: unknown) =>
  new AuthError('invalid_code', { message: INVALID, accountId, cause })

const isText = (value: unknown): value is string => typeof value === 'string'
const isTime = (value: unknown): value is number => typeof value === 'number' && value >= 0

function passkeyIn({ data }: StoredFactor): Passkey {
  const read = parseJson(data)
  if (isPlainObject(read)) {
    const { credentialId, publicKey, userHandle, counter, transports, createdAt } = read
    const hasTexts = [credentialId, publicKey, userHandle].every(isText)
    if (hasTexts && Array.isArray(transports) && [counter, createdAt].every(isTime)) return read as unknown as Passkey
  }
  throw new AuthError('unavailable', { dependency: 'factors', cause: unlikeStored(OTHER_DATA) })
}

const shown = ({ factor, passkey: { name, createdAt, lastUsedAt } }: StoredPasskey): ShownPasskey => ({
  id: factor.id,
  name,
  createdAt: new Date(createdAt).toISOString(),
  lastUsedAt: lastUsedAt === null ? null : new Date(lastUsedAt).toISOString(),
})

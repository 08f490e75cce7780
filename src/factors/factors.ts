import { hash, randomBytes } from 'node:crypto'
import { callHost } from '../concurrency/host-call.js'
import { AuthError } from '../errors/auth-error.js'
import { misuse, PAGE } from '../options/misuse.js'
import { isPlainObject, isValidDate, own, parseJson } from '../options/values.js'
import { type FactorStore, OTHER_DATA, type StoredFactor, unlikeStored } from './factor-store.js'
import { isRecoveryCode, newRecoveryCodes, recoveryDigest } from './recovery-codes.js'
import { open, seal } from './seal.js'
import { isTotp, matchingStep, otpauthUri } from './totp.js'

/** The settings of the second factor of an app. */
export interface FactorsSettings {
  store: FactorStore
  issuer: string
  /** The name of the app in the authenticator app. */
  label: string
  /** All secrets that may have encrypted a factor. The first one encrypts. */
  secrets: readonly Uint8Array[]
  timeout: number
  now(): number
}

/** An authenticator app of an account, as its data in the store. */
interface Totp {
  readonly sealed: string
  /** The last step whose code was used. */
  readonly step: number
  /** The wrong codes since the last right one. */
  readonly wrong: number
}

/** The digests of recovery codes that were not used. */
type Recovery = readonly string[]

/** Wrong codes in a row after which the authenticator app is refused. */
const MOST_WRONG = 20
/** The kind of an authenticator app that waits for its first code. */
const PENDING = 'totp-pending'
const PENDING_MS = 600_000
/** The length that RFC 4226 section 4 recommends. */
const SECRET_BYTES = 20

/** The result of a code: the factor that it is of, or why it is refused. */
export type FactorResult = 'totp' | 'recovery' | 'wrong'

export type Factors = ReturnType<typeof createFactors>

/** Creates the second factor of an app: an authenticator app with recovery codes. */
export function createFactors({ store, issuer, label, secrets, timeout, now }: FactorsSettings) {
  const call = <T>(run: () => Promise<T>): Promise<T> => callHost('factors', run, { timeout })

  /** Each account has one factor of each of these kinds, so its id is known. */
  const idOf = (kind: string, accountId: string) =>
    hash('sha256', JSON.stringify([issuer, kind, accountId]), 'base64url')
  const about = (kind: string, accountId: string) => ({ issuer, accountId, factorId: idOf(kind, accountId) })

  /** @throws AuthError `unavailable` where the store returns another factor: that is never "no factor" */
  async function find(kind: string, accountId: string): Promise<StoredFactor | undefined> {
    const id = idOf(kind, accountId)
    const found = await call(async () => store.find(id))
    if (!found) return undefined
    const { expiresAt } = found
    const isPending = kind === PENDING
    const isTime = isPending ? isValidDate(expiresAt) : expiresAt == null
    if (found.id !== id || found.accountId !== accountId || found.kind !== kind || !isTime)
      throw unreadable(unlikeStored('a different factor than "add"'))
    return isPending && Number(expiresAt) <= now() ? undefined : found
  }

  /** Stores a factor in place of the one that the account has, in one step: without it, the account would be open. */
  async function put(kind: string, accountId: string, data: object, expiresAt: Date | null = null): Promise<void> {
    const id = idOf(kind, accountId)
    const next = { id, accountId, kind, expiresAt, data: JSON.stringify(data) }
    const isStored = await call(async () => {
      const before = await store.find(id)
      if (before && expiresAt === null) return store.replace(id, before.data, next.data)
      if (before) await store.remove(id, accountId)
      return store.add(next, 1, new Date(now()))
    })
    // Another request has stored one at the same time.
    if (isStored !== true) throw new AuthError('overloaded', { accountId })
  }

  const replace = (factor: StoredFactor, to: object) =>
    call(async () => (await store.replace(factor.id, factor.data, JSON.stringify(to))) === true)

  function totpIn({ data }: StoredFactor): Totp {
    const read = parseJson(data)
    const [sealed, step, wrong] = isPlainObject(read) ? ['sealed', 'step', 'wrong'].map((name) => own(read, name)) : []
    if (typeof sealed === 'string' && Number.isSafeInteger(step) && Number.isSafeInteger(wrong))
      return { sealed, step: step as number, wrong: wrong as number }
    throw unreadable(unlikeStored(OTHER_DATA))
  }

  const unreadable = (cause: unknown) => new AuthError('unavailable', { dependency: 'factors', cause })

  /** @throws AuthError `unavailable` when no secret can decrypt it: it is never "no factor" */
  function secretOf(kind: string, accountId: string, { sealed }: Totp): Buffer {
    const opened = open(secrets, about(kind, accountId), sealed)
    if (opened) return opened.text
    throw unreadable(
      misuse(
        'factors: no secret in "secret" can decrypt the factor of an account. Add the secret that encrypted the factor',
        PAGE.stores,
      ),
    )
  }

  const sealed = (kind: string, accountId: string, secret: Uint8Array) =>
    seal(secrets[0] as Uint8Array, about(kind, accountId), secret)

  async function checkTotp(accountId: string, code: string): Promise<FactorResult> {
    const factor = await find('totp', accountId)
    if (!factor) return 'wrong'
    const totp = totpIn(factor)
    if (totp.wrong >= MOST_WRONG) return 'wrong'
    const secret = secretOf('totp', accountId, totp)
    // Counted before the check, so that guesses at the same time cannot exceed the limit.
    const counted = { ...totp, wrong: totp.wrong + 1 }
    if (!(await replace(factor, counted))) return 'wrong'
    const step = matchingStep(secret, code, now(), totp.step)
    if (step === undefined) return 'wrong'
    // Encrypted again under the first secret, so that a rotated secret can be removed some day.
    const used: Totp = { sealed: sealed('totp', accountId, secret), step, wrong: 0 }
    return (await replace({ ...factor, data: JSON.stringify(counted) }, used)) ? 'totp' : 'wrong'
  }

  async function checkRecovery(accountId: string, code: string): Promise<FactorResult> {
    const factor = await find('recovery', accountId)
    const digests = factor && (parseJson(factor.data) as Recovery)
    const digest = recoveryDigest(code)
    if (!factor || !Array.isArray(digests) || !digests.includes(digest)) return 'wrong'
    // Before the code is used up: a failure after that would lose it.
    await lift(accountId)
    const others = digests.filter((one) => one !== digest)
    return (await replace(factor, others)) ? 'recovery' : 'wrong'
  }

  /** Lifts the refusal of the authenticator app after too many wrong codes. */
  async function lift(accountId: string): Promise<void> {
    const factor = await find('totp', accountId)
    if (factor) await replace(factor, { ...totpIn(factor), wrong: 0 })
  }

  /** Replaces the recovery codes. */
  async function renewCodes(accountId: string): Promise<string[]> {
    const codes = newRecoveryCodes()
    await put('recovery', accountId, codes.map(recoveryDigest) satisfies Recovery)
    return codes
  }

  return {
    /** Returns whether an account has an authenticator app. */
    isOn: async (accountId: string): Promise<boolean> => (await find('totp', accountId)) !== undefined,
    /**
     * Checks a code: of the authenticator app, or a recovery code. Each works once.
     * @throws AuthError `unavailable`
     */
    async check(accountId: string, code: string): Promise<FactorResult> {
      if (isTotp(code)) return checkTotp(accountId, code)
      return isRecoveryCode(code) ? checkRecovery(accountId, code) : 'wrong'
    },
    lift,
    /** Begins the set-up: a secret that waits for its first code, next to the one that is on. */
    async begin(accountId: string, account: string): Promise<{ secret: string; uri: string }> {
      const secret = randomBytes(SECRET_BYTES)
      const data: Totp = { sealed: sealed(PENDING, accountId, secret), step: 0, wrong: 0 }
      await put(PENDING, accountId, data, new Date(now() + PENDING_MS))
      const uri = otpauthUri(secret, { issuer: label, account })
      return { secret: new URL(uri).searchParams.get('secret') as string, uri }
    },
    /** Ends the set-up with the first code. Returns recovery codes, or undefined for a wrong code. */
    async confirm(accountId: string, code: string): Promise<string[] | undefined> {
      const pending = await find(PENDING, accountId)
      if (!pending) return undefined
      const totp = totpIn(pending)
      const secret = secretOf(PENDING, accountId, totp)
      const counted = { ...totp, wrong: totp.wrong + 1 }
      if (totp.wrong >= MOST_WRONG || !(await replace(pending, counted))) return undefined
      const step = matchingStep(secret, code, now(), 0)
      if (step === undefined) return undefined
      // Of two requests with one code, one continues.
      if ((await call(async () => store.remove(pending.id, accountId))) !== true) return undefined
      await put('totp', accountId, { sealed: sealed('totp', accountId, secret), step, wrong: 0 } satisfies Totp)
      return renewCodes(accountId)
    },
    renewCodes,
    /** Removes the authenticator app and its recovery codes. Returns whether there was one. */
    async remove(accountId: string): Promise<boolean> {
      const removeOne = (kind: string) => call(async () => store.remove(idOf(kind, accountId), accountId))
      await removeOne(PENDING)
      await removeOne('recovery')
      // Last, so that the repetition of a removal that was cut off still finds it.
      return (await removeOne('totp')) === true
    },
  }
}

import type { IncomingMessage } from 'node:http'
import type { Account, AccountStore, FoundAccount, LookUpContext } from '../accounts/account.js'
import { currentAccount, type FindById, findAccount } from '../accounts/find-account.js'
import { callHost } from '../concurrency/host-call.js'
import { limitTasks } from '../concurrency/limit.js'
import { AuthError } from '../errors/auth-error.js'
import type { EventSubject } from '../events/emitter.js'
import type { ApiKeys } from '../factors/api-keys.js'
import { type Body, type Member, members, type Schema, text } from '../http/declaration.js'
import type { Call } from '../http/endpoint.js'
import type { RequestOrigin } from '../http/origin.js'
import { TOKEN_CALLS } from '../http/request-limits.js'
import type { FinishSignIn } from '../login/finish-sign-in.js'
import { logIn } from '../login/log-in.js'
import { type ExtraFields, fieldsIn, hasUnnamedIn } from '../login/read-credentials.js'
import { lookUpAccount, NOT_CHECKED, tenantIn } from '../login/steps.js'
import type { TokenSettings } from '../login/token-settings.js'
import type { CodeMailKind, NoticeKind } from '../mail/mail.js'
import type { Deliver, Mailer } from '../mail/mailer.js'
import { misuse, PAGE } from '../options/misuse.js'
import { ignoreRejection } from '../options/values.js'
import type { PasswordsSlot, QueuedPasswords } from '../passwords/passwords.js'
import type { Sessions } from '../sessions/sessions.js'
import type { VerifiedToken } from '../tokens/verified-token.js'
import { type AccountCodes, passwordTag } from './account-codes.js'
import { isNewAddress } from './new-address.js'
import type { OwnFactors } from './own-factors.js'

/** The dependencies of the account routes of an app. */
export interface AccountParts extends TokenSettings {
  accounts: AccountStore
  findById: FindById
  finishSignIn: FinishSignIn
  /** Undefined without the part `codes` of the store. */
  codes: AccountCodes
  /** Undefined without the option `mail`. */
  mailer: Mailer
  sessions: Sessions | undefined
  /** Undefined without the option `apiKeys`. */
  apiKeys?: ApiKeys | undefined
  /** The factors of an account. */
  ownFactors: OwnFactors
}

/** Limits the calls of account routes that wait for a store or for the host. */
export const accountCalls = limitTasks(TOKEN_CALLS)

/** A sent body, with the members that the endpoint has read. */
export type Sent<B> = B & { readonly sent: unknown }

/** A body whose further members are for the host. */
export function withSent<M extends Readonly<Record<string, Member<unknown>>>>(
  all: M,
  name?: string,
): Body<Sent<{ readonly [K in keyof M]: M[K] extends Member<infer T> ? T : never }>> {
  const body = members(all, name)
  return {
    ...body,
    read(sent) {
      const read = body.read(sent)
      return read && { ...read, sent }
    },
  }
}

export const email = text('The email address.', { examples: ['alice@example.com'] })
export const code = text('The code from the email.')
export const newPassword = text('The new password. Every byte counts.', { format: 'password' })

/** The schema of a body with an address. */
export const ADDRESS_BODY: Schema = { type: 'object', required: ['email'], properties: { email: email.schema } }

/** The client of an account route, and its tenant. */
export interface AccountCall {
  readonly req: IncomingMessage
  readonly origin: RequestOrigin
  readonly about: EventSubject
  readonly fields: ExtraFields
  /** True when the client sent a member that neither the route nor the host reads. */
  readonly hasUnnamed: boolean
  readonly tenant: string | undefined
}

/**
 * Asks the host for the tenant of a request.
 * @param sent the body, whose members the option `extraFields` may name
 * @throws AuthError `unavailable`
 */
export function accountCall(
  { tenant: tenantOf, extraFields }: Pick<AccountParts, 'tenant' | 'extraFields'>,
  { req, origin, about }: Pick<Call, 'req' | 'origin' | 'about'>,
  sent?: unknown,
): AccountCall {
  // Here the member `code` is the code of the mail, which a check of a second factor would refuse.
  const named = extraFields.filter((name) => name !== 'code')
  const fields = fieldsIn(sent, named)
  const tenant = tenantIn(tenantOf, req, fields)
  if (tenant !== undefined) about.tenant = tenant
  return { req, origin, about, fields, tenant, hasUnnamed: hasUnnamedIn(sent, [...named, 'code', 'passkey']) }
}

/** Looks up the account of an address. Undefined for an address that no account can have. */
export const findByAddress = (
  { accounts, timeout }: Pick<AccountParts, 'accounts' | 'timeout'>,
  { req, fields, tenant }: Pick<LookUpContext, 'fields' | 'tenant'> & { req: IncomingMessage | undefined },
  address: string,
): Promise<FoundAccount | undefined> => lookUpAccount({ accounts, email: address, req, fields, tenant, timeout })

/** Returns an address as the account store keeps it. A function of the host that fails is a failure of the accounts. */
const normalized = ({ accounts, timeout }: Pick<AccountParts, 'accounts' | 'timeout'>, address: string) =>
  callHost(
    'accounts',
    () => {
      const kept: unknown = accounts.normalizeEmail ? ignoreRejection(accounts.normalizeEmail(address)) : address
      if (typeof kept === 'string') return kept
      throw misuse('accounts: normalizeEmail must return a text', PAGE.accounts)
    },
    { timeout },
  )

/**
 * Returns the address of a new mail as the account store keeps it. Undefined for one that no account may get.
 * @throws AuthError `unavailable`
 */
export async function newAddress(
  parts: Pick<AccountParts, 'accounts' | 'timeout'>,
  address: string,
): Promise<string | undefined> {
  if (!isNewAddress(address)) return undefined
  const kept = await normalized(parts, address)
  // The store changes the address again when it stores it, and the account must get the mailbox that the code has proved.
  return isNewAddress(kept) && (await normalized(parts, kept)) === kept ? kept : undefined
}

/**
 * Returns the account of a guarded request as it is now.
 * @throws AuthError `invalid_token` for an account that is gone or disabled, or has ended the token meanwhile; `unavailable`
 */
export async function ownAccount(
  { findById, timeout }: Pick<AccountParts, 'findById' | 'timeout'>,
  auth: VerifiedToken,
): Promise<FoundAccount> {
  const found = currentAccount(await findAccount(findById, auth.accountId, timeout), auth.issuedAt)
  if (typeof found !== 'string') return found
  throw new AuthError('invalid_token', { reason: found, accountId: auth.accountId })
}

/**
 * Returns the address of an account that gets a mail.
 * @throws AuthError `unavailable` for an account without one
 */
export function addressOfAccount({ id, email: address }: Account): string {
  if (address) return address
  const cause = misuse(
    'account: the account of a mail needs an "email". Return it from findByEmail and findById',
    PAGE.accounts,
  )
  throw new AuthError('unavailable', { dependency: 'accounts', accountId: id, cause })
}

/** A mail with a code to an account, or to an address that has none yet. */
interface CodeMailTask {
  kind: CodeMailKind
  to: string
  /** The account, or the owner of the codes of an address. */
  owner: string
  facts?: { tag?: string; from?: string }
  /** Asked when the code is stored. A code that is not wanted any more is not mailed, so nobody has it. Default: it is wanted. */
  isWanted?(): Promise<boolean>
}

/** Creates a code and mails it, unless the account got too many mails of this kind. */
export async function mailCode(
  { codes, mailer }: Pick<AccountParts, 'codes' | 'mailer'>,
  { tenant }: AccountCall,
  deliver: Deliver,
  { kind, to, owner, facts, isWanted }: CodeMailTask,
): Promise<void> {
  if (!mailer.mayMail(kind, tenant, owner)) return
  const created = await codes.create(kind, tenant, owner, { to, ...facts })
  if (isWanted && !(await isWanted())) return
  await deliver({ kind, to, code: created, tenant })
}

/**
 * Mails a code to the account of an address, after the response: the same for an address without an account. The code has a tag of the
 * password, so that a changed password ends it.
 * @throws AuthError `too_many_attempts`, `overloaded`, `unavailable`
 */
export function mailToAccount(
  parts: AccountParts,
  call: Pick<Call, 'req' | 'origin' | 'about'> & { readonly body: Sent<{ readonly email: string }> },
  kind: 'password-reset' | 'sign-in',
): void {
  const { body, origin, about } = call
  const of = accountCall(parts, call, body.sent)
  const request = { kind, email: body.email, tenant: of.tenant, network: origin.network, about }
  parts.mailer.accept(request, async (deliver) => {
    const found = await findByAddress(parts, of, body.email)
    if (!found || found.account.disabled) return
    const { id: owner, passwordHash } = found.account
    const to = addressOfAccount(found.account)
    await mailCode(parts, of, deliver, { kind, to, owner, facts: { tag: passwordTag(passwordHash) } })
  })
}

/** Sends a notice to an account. */
export function notify(
  { mailer }: { mailer: Mailer | undefined },
  { about, tenant }: Pick<AccountCall, 'about' | 'tenant'>,
  { kind, account, details = {} }: { kind: NoticeKind; account: Account; details?: Readonly<Record<string, unknown>> },
): void {
  // An app that sends no mails has no notices, and an account without an address gets none.
  if (mailer && account.email) mailer.notify({ kind, to: account.email, details, tenant }, account.id, about)
}

/** Ends all sessions, codes and API keys of an account. */
export async function endEverything(
  { sessions, codes, apiKeys }: EndedParts,
  accountId: string,
  address: string | undefined,
): Promise<void> {
  await sessions?.endAll(accountId, address)
  await apiKeys?.removeAll(accountId)
  // Last, because the repetition of a reset that was cut off needs its code.
  await codes?.removeAll(accountId)
}

/** The parts of an app whose contents end with the password or the account. */
interface EndedParts {
  sessions: Sessions | undefined
  codes?: AccountCodes | undefined
  apiKeys?: ApiKeys | undefined
}

/**
 * Checks the password of the account of a guarded request, as a login does: with its limits, its queue and its work.
 * @throws AuthError `invalid_credentials`, which counts as a failed login, `too_many_attempts`, `overloaded`, `client_closed_request`,
 * `unavailable`
 */
export async function checkOwnPassword(
  { passwords, limits, timeout, clock, emit }: AccountParts,
  { origin, about, tenant }: AccountCall,
  found: FoundAccount,
  password: string,
): Promise<void> {
  const { id, email: address } = found.account
  await logIn({
    ...origin,
    // The account that was found, so that the hash of the check is the one that is replaced.
    findKnown: async () => found,
    accounts: { findByEmail: () => undefined },
    passwords,
    limits,
    timeout,
    clock,
    tenant,
    email: address || id,
    password,
    fields: {},
    hasUnnamed: false,
    beforeSignIn: undefined,
    dependencyFailed: (dependency, error) =>
      emit(about, { type: 'dependency.failed', dependency, refused: false, error }),
  })
}

/** Replaces a password hash, if it is still the known one. */
export const replaceHash = async (
  { accounts, timeout }: Pick<AccountParts, 'accounts' | 'timeout'>,
  { id, from, to }: { id: string; from: string | null; to: string },
): Promise<boolean> =>
  (await callHost('accounts', async () => accounts.replacePasswordHash?.(id, from, to), { timeout })) === true

/**
 * Returns whether the session of a guarded request has ended since its guard, for example by a reset of the password. A change that is in
 * progress must then not stay.
 * @throws AuthError `unavailable`
 */
export const hasEnded = async (
  { sessions, timeout }: Pick<AccountParts, 'sessions' | 'timeout'>,
  auth: VerifiedToken,
): Promise<boolean> => sessions !== undefined && (await callHost('sessions', () => sessions.isEnded(auth), { timeout }))

/** Returns the refusal of a request whose session has ended meanwhile. */
export const endedRefusal = ({ accountId }: VerifiedToken) =>
  new AuthError('invalid_token', { reason: 'revoked', accountId })

/**
 * Hashes a new password in the queue of the logins.
 * @throws AuthError `weak_password`, `overloaded`, `client_closed_request`, `unavailable`
 */
export async function hashNew(parts: HashParts, origin: RequestOrigin, password: string): Promise<string> {
  await parts.passwords.assertStrong(password)
  return inSlot(parts, origin, (slot) => slot.hash(password))
}

type HashParts = { passwords: QueuedPasswords; timeout: number }

/** Runs work in a slot of the queue of the logins. */
export async function inSlot<T>(
  { passwords, timeout }: HashParts,
  { network, signal }: RequestOrigin,
  use: (slot: PasswordsSlot) => Promise<T>,
): Promise<T> {
  const slot = await passwords.reserve({ network, signal, timeout })
  try {
    return await callHost('passwords', () => use(slot), { passThrough: [...NOT_CHECKED, 'weak_password'] })
  } finally {
    slot.leave()
  }
}

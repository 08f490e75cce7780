import { hash } from 'node:crypto'
import type { Codes } from '../codes/codes.js'
import type { CodeMailKind } from '../mail/mail.js'
import { lifetimeOf } from '../mail/mailer.js'
import { isPlainObject, own } from '../options/values.js'

/** The facts that a mailed code is bound to. */
export interface CodeFacts {
  /** The address that the code was mailed to. */
  readonly to: string
  /** The tag of the password hash that the account had. Only of codes that set a password or sign in. */
  readonly tag?: string
  /** The address that the account had. Only of codes for a new address. */
  readonly from?: string
}

/** A mailed code that was found. */
export interface FoundCode extends CodeFacts {
  readonly accountId: string
}

export type AccountCodes = ReturnType<typeof createAccountCodes>

const digest = (...parts: readonly unknown[]) => hash('sha256', JSON.stringify(parts), 'base64url').slice(0, 22)

/** Returns a tag that shows whether a password was changed. It is of a hash, so it tells nothing about the password. */
export const passwordTag = (passwordHash: string | null) => digest('password', passwordHash)

/** Creates the mailed codes of an app. Those of another purpose, tenant or environment are unknown. */
export function createAccountCodes(codes: Codes, issuer: string) {
  const purposeOf = (kind: CodeMailKind, tenant: string | undefined) => `account ${kind} ${digest(issuer, tenant)}`
  /** Returns the owner of the codes of an address that has no account. */
  const ownerOf = (email: string, tenant: string | undefined) => `sign-up ${digest(issuer, tenant, email)}`

  function read(found: { accountId: string; data: unknown } | undefined): FoundCode | undefined {
    const data = found?.data
    const to = isPlainObject(data) ? own(data, 'to') : undefined
    if (!found || typeof to !== 'string') return undefined
    return { ...(data as object), accountId: found.accountId, to }
  }

  return {
    ownerOf,
    create: (kind: CodeMailKind, tenant: string | undefined, accountId: string, facts: CodeFacts) =>
      codes.create({ purpose: purposeOf(kind, tenant), accountId, lifetime: `${lifetimeOf(kind)}ms`, data: facts }),
    /** Returns a code, and leaves it usable. Undefined for a code that is unknown, was used or has expired. */
    find: async (kind: CodeMailKind, tenant: string | undefined, code: string) =>
      read(await codes.find(purposeOf(kind, tenant), code)),
    /** Takes a code. Of two calls at once, one gets it. */
    take: async (kind: CodeMailKind, tenant: string | undefined, code: string) =>
      read(await codes.take(purposeOf(kind, tenant), code)),
    removeAll: (accountId: string) => codes.removeAll(accountId),
  }
}

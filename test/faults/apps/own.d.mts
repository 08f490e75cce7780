import type { Express, RequestHandler } from 'express'
import type { AccountLookup, Passwords, TokenIssuer, TokenIssuerOptions } from 'express-token-endpoint'

export const STATEMENTS: string
export const REPORTS: string
export const PASSWORD_CHANGE: string
export const THERE: string

/** The parts of the app. A test replaces some of them. */
export interface Parts {
  tokens: TokenIssuer
  accounts: AccountLookup
  passwords: Passwords
  /** Runs before everything else. */
  before: RequestHandler[]
  /** The guards of the two guarded routes. */
  guards: readonly [RequestHandler[], RequestHandler[]]
}

export function issuerOf(options?: Partial<TokenIssuerOptions>): TokenIssuer
export function soundParts(tokens?: TokenIssuer): Parts
export function appOf(parts: Parts): Express
export function alteringResult(change: (result: Record<string, string>) => object): RequestHandler

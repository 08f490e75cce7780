import type { PageClient } from './client.js'
import type { Link, LinkKind } from './links.js'
import { jsonOf, post } from './requests.js'

/** The mails that a user asks for before the sign-in. */
export type MailKind = Exclude<LinkKind, 'new-address'>

/** The routes of a sign-in by email, below those of the page. */
const MAIL_PATH = 'api/v2013/authentication/token/mail'

/** Asks for a mail. Resolves for every address, so that nobody learns who has an account. */
export function askForMail(client: PageClient, kind: MailKind, email: string): Promise<void> {
  switch (kind) {
    case 'sign-up':
      return client.signUp(email)
    case 'password-reset':
      return client.forgotten(email)
    case 'sign-in':
      return mailSignIn(email)
  }
}

async function mailSignIn(email: string): Promise<void> {
  await jsonOf(await post(MAIL_PATH, { email }))
}

/** Completes the act of a mailed link. */
export function followLink(client: PageClient, { kind, code }: Link, password: string): Promise<void> {
  switch (kind) {
    case 'sign-up':
      return client.confirm({ code, password })
    case 'password-reset':
      return client.reset({ code, password })
    case 'sign-in':
      return client.signInBy((more, signal) => post(`${MAIL_PATH}/confirm`, { code, ...more }, signal))
    case 'new-address':
      return client.confirmAddress(code)
  }
}

/** The account of the token. */
export interface OwnAccount {
  email: string
  /** True for an account with an authenticator app. */
  secondFactor: boolean
}

/** Returns the account of the user, who may have signed in without typing the address. */
export async function ownAccount(client: PageClient, signal?: AbortSignal): Promise<OwnAccount> {
  return jsonOf(await client.fetch('/api/v2013/account', signal ? { signal } : {}))
}

import { CallError, failureOfResponse } from './call-failure.js'
import type { PageClient } from './client.js'
import type { Link, LinkKind } from './links.js'

/** The mails that a user asks for before the sign-in. */
export type MailKind = Exclude<LinkKind, 'new-address'>

/** The routes of a sign-in by mail, below those of the page. */
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
  const response = await post(MAIL_PATH, { email })
  if (!response.ok) throw new CallError(failureOfResponse(response))
}

/** Completes the act of a mailed link. */
export function followLink(client: PageClient, { kind, code }: Link, password: string): Promise<void> {
  switch (kind) {
    case 'sign-up':
      return client.confirm({ code, password })
    case 'password-reset':
      return client.reset({ code, password })
    case 'sign-in':
      return client.signIn((signal) => post(`${MAIL_PATH}/confirm`, { code }, signal))
    case 'new-address':
      return client.confirmAddress(code)
  }
}

/** Returns the address of the user, who may have signed in without typing it. */
export async function ownAddress(client: PageClient): Promise<string> {
  const response = await client.fetch('/api/v2013/account')
  if (!response.ok) throw new CallError(failureOfResponse(response))
  return ((await response.json()) as { email: string }).email
}

function post(path: string, body: object, signal: AbortSignal = AbortSignal.timeout(10_000)): Promise<Response> {
  const headers = { 'Content-Type': 'application/json' }
  return fetch(new URL(path, location.href), { method: 'POST', headers, body: JSON.stringify(body), signal })
}

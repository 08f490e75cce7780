import type { Mail, MailKind } from 'express-token-endpoint'
import type { Letter } from '../data/mail-box.js'

const IGNORE_IT = 'If you did not ask for it, do nothing.'
const NOT_YOU = 'If it was not you, ask for a new password on the sign-in page.'

/** The subject and the text of each kind of mail. */
const TEXTS: Readonly<Record<MailKind, readonly [subject: string, text: string]>> = {
  'sign-up': ['Create your account', `Open the link within an hour, and choose a password. ${IGNORE_IT}`],
  'password-reset': ['Choose a new password', `Open the link within an hour. ${IGNORE_IT}`],
  'new-address': ['Confirm your new address', `Open the link within an hour, where you are signed in. ${IGNORE_IT}`],
  'sign-in': ['Sign in', `Open the link within ten minutes. ${IGNORE_IT}`],
  'address-taken': [
    'You have an account already',
    'Somebody wants to use this address for an account. Sign in, or ask for a new password. If it was not you, do nothing.',
  ],
  'password-changed': ['Your password has changed', `Your other devices are signed out. ${NOT_YOU}`],
  'address-changed': ['Your address has changed', `Your other devices are signed out. ${NOT_YOU}`],
  'factors-changed': ['Your second factor has changed', NOT_YOU],
  'sign-in-blocked': [
    'Somebody tries passwords',
    'Too many wrong passwords were sent for your account. If it was you, wait, or sign in by email.',
  ],
}

/**
 * Returns the mail as its reader sees it. The code is in the fragment of the link, which no server and no log gets.
 * @param page address of the page
 */
export function letterOf({ kind, to, code, details }: Mail, page: string): Letter {
  const [subject, text] = TEXTS[kind]
  const newAddress = details?.['email']
  return {
    to,
    subject,
    text: newAddress === undefined ? text : `The new address is ${newAddress}. ${text}`,
    ...(code !== undefined && { link: `${page}#${kind}=${code}` }),
  }
}

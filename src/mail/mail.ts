/** The use of a mailed code. */
export type CodeMailKind = 'sign-up' | 'password-reset' | 'new-address' | 'sign-in'

/** A notice, which has no code. */
export type NoticeKind =
  | 'address-taken'
  | 'password-changed'
  | 'address-changed'
  | 'factors-changed'
  | 'sign-in-blocked'

/** The kind of a mail, by which you choose its text. */
export type MailKind = CodeMailKind | NoticeKind

interface MailBase {
  /** The address: that of the account as it is stored, or the new one. */
  to: string
  /** The tenant, as the option `tenant` returns it. Undefined without that option. */
  tenant: string | undefined
}

/** A mail with a code. Put the code into the fragment of the link, which no server and no proxy sees. */
export interface CodeMail extends MailBase {
  /** `sign-up`, `password-reset` and `new-address` have a code that works for an hour, `sign-in` one for 10 minutes. */
  kind: CodeMailKind
  /** The code. Everyone who has it can do what the mail is for. */
  code: string
  /** Absent. */
  details?: undefined
}

/** A notice of something that happened to an account. */
export interface NoticeMail extends MailBase {
  /**
   * `address-taken`: somebody wants to sign up with the address, or to make it that of another account. `password-changed`,
   * `address-changed` and `factors-changed`: a change. `sign-in-blocked`: too many wrong passwords.
   */
  kind: NoticeKind
  /** Absent. */
  code?: undefined
  /** The facts about the change, such as the new address as `email`. */
  details: Readonly<Record<string, unknown>>
}

/** A mail to send. `kind` says whether it has a `code` or `details`. */
export type Mail = CodeMail | NoticeMail

/** The option `mail`: sends a mail, or gives it to a queue of yours. */
export type SendMail = (mail: Mail) => unknown

/** The folder of the pages, in the project and in `node_modules`. */
const DOCS = 'express-token-endpoint/docs'

/** Pages that explain how to correct a mistake. */
export const PAGE = {
  accounts: `${DOCS}/guides/accounts.md`,
  guard: `${DOCS}/guides/mount-and-guard.md`,
  issuers: `${DOCS}/guides/issuers.md`,
  hashes: `${DOCS}/guides/check-passwords-elsewhere.md`,
  keys: `${DOCS}/guides/keys.md`,
  login: `${DOCS}/reference/login.md`,
  options: `${DOCS}/reference/options.md`,
  proxy: `${DOCS}/guides/behind-a-proxy.md`,
  services: `${DOCS}/guides/verify-in-another-service.md`,
  sessions: `${DOCS}/guides/sessions.md`,
  sockets: `${DOCS}/guides/sockets.md`,
  revoke: `${DOCS}/guides/revoke.md`,
  tests: `${DOCS}/guides/test-your-app.md`,
} as const

export type Page = (typeof PAGE)[keyof typeof PAGE]

/** The functions whose options the page about the login has. Their messages begin with their name. */
const LOGIN = /^(tokenRouter|createLogin|logIn|LoginStrategy|authErrors)\b/

/** Creates the error for a mistake of the programmer. It names the page that helps, by default the one with the options. */
export function misuse(message: string, page: Page = LOGIN.test(message) ? PAGE.login : PAGE.options): TypeError {
  return withoutSecrets(new TypeError(`${message}${/[.?]$/.test(message) ? '' : '.'} See ${page}`))
}

const ownErrors = new WeakSet<Error>()

/** Marks an error of this package, whose message holds no secret. */
export function withoutSecrets<E extends Error>(error: E): E {
  ownErrors.add(error)
  return error
}

export const hasNoSecret = (error: Error): boolean => ownErrors.has(error)

/** The folder of the pages, in the project and in `node_modules`. */
const DOCS = 'express-token-endpoint/docs'

export const PAGE = {
  accounts: `${DOCS}/guides/accounts.md`,
  guard: `${DOCS}/guides/mount-and-guard.md`,
  issuers: `${DOCS}/guides/issuers.md`,
  hashes: `${DOCS}/guides/check-passwords-elsewhere.md`,
  keys: `${DOCS}/guides/keys.md`,
  login: `${DOCS}/reference/login.md`,
  mcp: `${DOCS}/guides/mcp.md`,
  options: `${DOCS}/reference/options.md`,
  passwords: `${DOCS}/reference/passwords.md`,
  proxy: `${DOCS}/guides/behind-a-proxy.md`,
  services: `${DOCS}/guides/verify-in-another-service.md`,
  sessions: `${DOCS}/guides/sessions.md`,
  sessionOptions: `${DOCS}/reference/sessions.md`,
  sockets: `${DOCS}/guides/sockets.md`,
  revoke: `${DOCS}/guides/revoke.md`,
  tests: `${DOCS}/guides/test-your-app.md`,
} as const

export type Page = (typeof PAGE)[keyof typeof PAGE]

/** The functions whose options are on another page than most. Their messages begin with their name. */
const PAGES_OF_FUNCTIONS: readonly [names: RegExp, page: Page][] = [
  [/^(tokenRouter|createLogin|logIn|createSignIn|signIn|LoginStrategy|authErrors)\b/, PAGE.login],
  [/^(createSessions|sessionRouter|sessionStoreContract)\b/, PAGE.sessionOptions],
  [/^(createPasswords|passwords|argon2id|bcrypt|pbkdf2|scrypt|firebaseScrypt)\b/, PAGE.passwords],
  [/^discoverKeys\b/, PAGE.issuers],
  [/^(protectedResourceRouter|authInfoOf)\b/, PAGE.mcp],
]

const pageOf = (message: string): Page => PAGES_OF_FUNCTIONS.find(([names]) => names.test(message))?.[1] ?? PAGE.options

/** Creates the error for a mistake of the programmer. It names the page that helps, by default the one with the options. */
export function misuse(message: string, page: Page = pageOf(message)): TypeError {
  return withoutSecrets(new TypeError(`${message}${/[.?]$/.test(message) ? '' : '.'} See ${page}`))
}

const ownErrors = new WeakSet<Error>()

/** Marks an error of this package, whose message holds no secret. */
export function withoutSecrets<E extends Error>(error: E): E {
  ownErrors.add(error)
  return error
}

export const hasNoSecret = (error: Error): boolean => ownErrors.has(error)

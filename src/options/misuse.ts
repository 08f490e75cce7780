/** The folder of the pages, in the project and in `node_modules`. */
const DOCS = 'express-token-endpoint/docs'

export const PAGE = {
  accounts: `${DOCS}/guides/accounts.md`,
  beforeSignIn: `${DOCS}/guides/sign-in-steps.md`,
  errors: `${DOCS}/reference/errors.md`,
  guard: `${DOCS}/guides/mount-and-guard.md`,
  http: `${DOCS}/reference/http.md`,
  issuers: `${DOCS}/guides/issuers.md`,
  hashes: `${DOCS}/guides/passwords.md`,
  idTokens: `${DOCS}/guides/other-sign-ins.md`,
  keys: `${DOCS}/guides/keys.md`,
  login: `${DOCS}/reference/login.md`,
  oldTokens: `${DOCS}/guides/migrate.md`,
  otherSites: `${DOCS}/guides/pages-and-apps.md`,
  options: `${DOCS}/reference/options.md`,
  secondFactor: `${DOCS}/guides/second-factor.md`,
  proxy: `${DOCS}/guides/proxies-and-cors.md`,
  signOut: `${DOCS}/guides/sign-out.md`,
  sessionOptions: `${DOCS}/reference/sessions.md`,
  sockets: `${DOCS}/guides/hosts.md`,
  stores: `${DOCS}/guides/stores.md`,
  tests: `${DOCS}/guides/test-your-app.md`,
} as const

export type Page = (typeof PAGE)[keyof typeof PAGE]

/** The page of each function or object whose messages begin with its name. */
const PAGES = {
  tokenRouter: PAGE.login,
  logIn: PAGE.login,
  signIn: PAGE.login,
  createAuth: PAGE.login,
  'auth.ticket': PAGE.login,
  'auth.guard': PAGE.login,
  codes: PAGE.sessionOptions,
  'codes.create': PAGE.sessionOptions,
  SignInRefusal: PAGE.beforeSignIn,
  beforeSignIn: PAGE.beforeSignIn,
  LoginStrategy: PAGE.login,
  AuthError: PAGE.errors,
  storeContract: PAGE.sessionOptions,
  redisStore: PAGE.stores,
  kyselyStore: PAGE.stores,
  createTables: PAGE.stores,
  kyselyAccounts: PAGE.stores,
  createPasswords: PAGE.options,
  passkeys: PAGE.secondFactor,
  passwords: PAGE.options,
  argon2id: PAGE.options,
  bcrypt: PAGE.options,
  pbkdf2: PAGE.options,
  scrypt: PAGE.options,
  firebaseScrypt: PAGE.options,
  discoverKeys: PAGE.issuers,
  createTokenIssuer: PAGE.options,
  createTokenVerifier: PAGE.options,
  issue: PAGE.options,
  issueSync: PAGE.options,
  oldTokens: PAGE.oldTokens,
  tokens: PAGE.options,
  replaceKeys: PAGE.options,
  verify: PAGE.idTokens,
  keygen: PAGE.options,
  requireBearer: PAGE.options,
  BearerStrategy: PAGE.options,
  closeWhenEnded: PAGE.options,
  jwksRouter: PAGE.options,
  remoteKeys: PAGE.options,
  createLimits: PAGE.options,
  'limits.reset': PAGE.options,
  openApiDocument: PAGE.http,
  guardedOperation: PAGE.http,
  createTestIssuer: PAGE.options,
  fastPasswords: PAGE.options,
  accountStoreContract: PAGE.options,
} as const satisfies Record<string, Page>

/** A function or an object that a message begins with. */
export type Subject = keyof typeof PAGES
/** A message that begins with its subject, for example `tokenRouter: option "path" must …`. */
export type Message = `${Subject}: ${string}`

/** Creates the error for a mistake of the programmer. It names the page that helps, by default the one of the subject. */
export function misuse(message: string, page: Page): TypeError
export function misuse(message: Message, page?: Page): TypeError
export function misuse(message: string, page?: Page): TypeError {
  const see = page ?? PAGES[message.slice(0, message.indexOf(':')) as Subject]
  return withoutSecrets(new TypeError(`${message}${/[.?]$/.test(message) ? '' : '.'} See ${see}`))
}

const ownErrors = new WeakSet<Error>()

/** Marks an error of this package, whose message holds no secret. */
export function withoutSecrets<E extends Error>(error: E): E {
  ownErrors.add(error)
  return error
}

export const hasNoSecret = (error: Error): boolean => ownErrors.has(error)

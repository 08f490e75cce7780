import { PAGE, type Page } from '../options/misuse.js'

type Row = readonly [page: Page, text: string, only?: 'in development' | 'in production']

/**
 * The warnings that a process emits once, each for a likely mistake that may be meant. `…` stands for the name that is passed. Some are only
 * for one value of `NODE_ENV`: `production`, or any other.
 */
export const WARNINGS = {
  proxyUnknown: [
    PAGE.proxy,
    'A request has the header X-Forwarded-For, but "trust proxy" is not set. If the app runs behind a proxy, all its users share one address and its failed-login limits. Set "trust proxy". If not, a client sent the header itself, and nothing is wrong',
  ],
  anyProxy: [
    PAGE.proxy,
    'The setting "trust proxy" is true, so each client can choose its address with the header X-Forwarded-For, and evade the failed-login limits. Set "trust proxy" to the number of your proxies',
  ],
  longToken: [
    PAGE.proxy,
    'A token is longer than 4,096 characters. By default nginx refuses a header line of more than 8 kB, and Node refuses headers of more than 16 kB in total. Put fewer claims and scopes into accounts',
  ],
  longLifetime: [
    PAGE.options,
    'A "lifetime" is longer than that of the issuer, which counts instead. Set "lifetime" of createTokenIssuer to the longest one',
  ],
  reservedClaim: [
    PAGE.accounts,
    'The claim "…" is ignored, because only the issuer writes claims of this name. Choose another name for it',
  ],
  longOldTokens: [
    PAGE.oldTokens,
    'oldTokens() accepts tokens of the old code for more than 90 days. Set "until" to the time when the last old token expires',
    'in production',
  ],
  commaInScope: [
    PAGE.guard,
    "A scope has a comma, so it counts as one scope. If you mean several scopes, pass them as a list like ['a', 'b']",
  ],
  refuse: [
    PAGE.guard,
    'The function "refuse" threw, returned something else than { status, body } with a status from 400 to 599, or did not call next() once with an error and return nothing. Responses to refusals keep their own form',
  ],
  guardWithoutSessions: [
    PAGE.signOut,
    'A guard has no "store", but createAuth has one for the same tokens. So the guard accepts the token of a session that has ended. Use auth.guard(), or pass "store" to requireBearer. If the guard must not look sessions up, nothing is wrong',
  ],
  routerWithoutSessions: [
    PAGE.signOut,
    'A guard has a "store", but the router issues the same tokens without sessions. So the guard refuses each token of this router. Use createAuth, and pass "store" to it',
  ],
  noSessionStarted: [
    PAGE.signOut,
    'A guard refused a token because it has no session, and no session was ever started in this process. Pass "store" to createAuth, and use auth.signIn() instead of tokens.issue() in your own routes. If another process starts the sessions, nothing is wrong',
  ],
  refusedToken: [
    PAGE.errors,
    'A guard refused a token. The reason is "…", which the client never learns. In development, each reason is printed once. Set "onEvent" to receive all of them',
    'in development',
  ],
  unnamedField: [
    PAGE.beforeSignIn,
    'beforeSignIn refused a sign-in, and the body had a member that "extraFields" does not name. So "fields" was without it. Name it in "extraFields" if beforeSignIn reads it',
    'in development',
  ],
  cookieOverHttp: [
    PAGE.proxy,
    'A response over http sets the cookie with the refresh token. A browser drops this cookie, except on localhost. Use https, or set "trust proxy" if a proxy has received the request over https',
    'in development',
  ],
  sessionsInMemory: [
    PAGE.stores,
    'memoryStore() keeps the sessions in the memory of this process, and NODE_ENV is "production". A restart signs everyone out, and other processes do not know these sessions. Use redisStore() or kyselyStore(). If there is one process, and a restart may sign everyone out, nothing is wrong',
    'in production',
  ],
  otherMount: [
    PAGE.login,
    'auth.router is mounted at another path than "mountPath" of createAuth says. So auth.signIn() sets a cookie that the router never gets. Set "mountPath" to the path of app.use()',
    'in development',
  ],
  passkeyOrigin: [
    PAGE.secondFactor,
    'A page signed a challenge with a passkey, and its origin is not among the "origins" of passkeys(), by default the one of "issuer". If it is your page, add its origin',
    'in development',
  ],
  swappedCode: [
    PAGE.sessionOptions,
    'The first argument of codes.take() looks like a code. It is the purpose: codes.take(purpose, code)',
    'in development',
  ],
  sharedSecret: [
    PAGE.keys,
    'The same secret has two uses: "keys", "secret" of createAuth or oldTokens(). If one use leaks it, the other has leaked too. Create a secret for each use',
    'in development',
  ],
  secondLimits: [
    PAGE.options,
    'Two logins of this process each have their own default failed-login limits, so an attacker has twice the guesses. Pass one createLimits() to both as "limits", or auth.logIn to LoginStrategy. If these are apps of a test, nothing is wrong',
  ],
  unreadMember: [
    PAGE.accounts,
    'An account has a member "…", and no "<read>", which is the one that this package reads. Return "<read>" too, as the page about accounts says. If only your own code reads "…", nothing is wrong',
  ],
  unpreparedAccounts: [
    PAGE.accounts,
    'The account store cannot create, move and remove accounts safely: …. Until then, routes that need this respond with 503',
  ],
  hashInUser: [
    PAGE.accounts,
    'The JSON of req.user has the password hash, so a response with req.user would send the hash to a client. Select the columns that you need, or return { account, user } with a "user" whose JSON has no hash',
    'in development',
  ],
  noAccountFound: [
    PAGE.accounts,
    'The first 10 look-ups found no account. Does "findByEmail" return what it finds, and does it compare addresses in another letter case than they are stored in? If these accounts do not exist, nothing is wrong',
  ],
} satisfies Record<string, Row>

export type Warning = keyof typeof WARNINGS

/** The warning that is emitted once for each name. Its names are a closed set. */
const FOR_EACH_NAME: Warning = 'refusedToken'

const emitted = new Set<string>()

export function warn(message: string): void {
  process.emitWarning(message, 'ExpressTokenEndpointWarning')
}

/** Returns whether the host develops its app. Most hosts set `NODE_ENV` only in production. */
export const isDevelopment = () => process.env['NODE_ENV'] !== 'production'

/**
 * Emits a warning, unless the process has emitted it before. Its text never holds a secret, and nothing that a client sent.
 * @param name takes the place of `…`
 * @param read takes the place of `<read>`
 */
export function warnOnce(warning: Warning, name?: string, read?: string): void {
  const key = warning === FOR_EACH_NAME ? `${warning} ${name}` : warning
  if (emitted.has(key)) return
  const [page, text, only]: Row = WARNINGS[warning]
  if (only && (only === 'in development') !== isDevelopment()) return
  emitted.add(key)
  warn(`${text.replaceAll('…', () => String(name)).replaceAll('<read>', String(read))}. See ${page}`)
}

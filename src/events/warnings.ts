import { PAGE, type Page } from '../options/misuse.js'

type Row = readonly [page: Page, text: string, only?: 'in development' | 'in production']

/**
 * The warnings that a process emits once, each for a likely mistake that may be meant. `…` stands for the name that is passed. Some are only
 * for one value of `NODE_ENV`: `production`, or any other.
 */
export const WARNINGS = {
  proxyUnknown: [
    PAGE.proxy,
    'A request contains an X-Forwarded-For header, but "trust proxy" is not set. If your app runs behind a proxy, all users share one address and its failed-login limits, so set "trust proxy". If no proxy is in front of your app, a client sent the header itself, and you can ignore this warning',
  ],
  anyProxy: [
    PAGE.proxy,
    '"trust proxy" is true, so any client can fake its address with an X-Forwarded-For header and evade the failed-login limits. Set "trust proxy" to the number of your proxies',
  ],
  longToken: [
    PAGE.proxy,
    'A token is longer than 4,096 characters. By default, nginx rejects header lines over 8 kB, and Node rejects headers over 16 kB in total. Give accounts fewer claims and scopes',
  ],
  longLifetime: [
    PAGE.options,
    'A token was given a "lifetime" longer than the "lifetime" of the issuer, so the shorter one applies. Set "lifetime" of createTokenIssuer or createAuth to the longest lifetime that you need',
  ],
  reservedClaim: [PAGE.accounts, 'The claim "…" is ignored, because only the issuer may set it. Rename your claim'],
  longOldTokens: [
    PAGE.oldTokens,
    'oldTokens() accepts tokens from your old code for more than 90 days. Set "until" to the time when the last of these tokens expires',
    'in production',
  ],
  commaInScope: [
    PAGE.guard,
    "A scope contains a comma, so it counts as a single scope. If you mean several scopes, pass an array like ['a', 'b']",
  ],
  refuse: [
    PAGE.guard,
    'The "refuse" function threw an error or returned an invalid value, so the default response was sent. Return { status, body } with a status from 400 to 599, or call next() once with an error and return nothing',
  ],
  guardWithoutSessions: [
    PAGE.signOut,
    'A guard has no "store", but createAuth has a store for the same tokens, so the guard accepts tokens from sessions that have ended. Use auth.guard(), or pass "store" to requireBearer. If the guard should skip this check, you can ignore this warning',
  ],
  routerWithoutSessions: [
    PAGE.signOut,
    'A guard has a "store", but the router issues the same tokens without sessions, so the guard refuses every token from this router. Use createAuth, and pass "store" to it',
  ],
  noSessionStarted: [
    PAGE.signOut,
    'A guard refused a token without a session, and no session was ever started in this process. Pass "store" to createAuth, and call auth.signIn() instead of tokens.issue() in your own routes. If a different process starts the sessions, you can ignore this warning',
  ],
  refusedToken: [
    PAGE.errors,
    'A guard refused a token. The reason is "…", which the client never learns. Each reason is printed once, and only in development. To receive all refusals, set "onEvent"',
    'in development',
  ],
  unnamedField: [
    PAGE.beforeSignIn,
    'beforeSignIn refused a sign-in whose body has a member that "extraFields" does not list, so "fields" does not include this member. If beforeSignIn reads the member, add its name to "extraFields"',
    'in development',
  ],
  cookieOverHttp: [
    PAGE.proxy,
    'A response over http sets the refresh-token cookie, which browsers drop except on localhost. Use https, or set "trust proxy" if your proxy handles https',
    'in development',
  ],
  sessionsInMemory: [
    PAGE.stores,
    'memoryStore() keeps sessions in the memory of this process, and NODE_ENV is "production". A restart signs everyone out, and other processes cannot see these sessions. Use redisStore() or kyselyStore(). If you run a single process and a restart may sign everyone out, you can ignore this warning',
    'in production',
  ],
  otherMount: [
    PAGE.login,
    'auth.router is mounted at a path that differs from the "mountPath" of createAuth, so auth.signIn() sets a cookie that browsers never send to the router. Set "mountPath" to the path that you pass to app.use()',
    'in development',
  ],
  passkeyOrigin: [
    PAGE.secondFactor,
    'A page signed a challenge with a passkey, but the page is not from one of the "origins" of passkeys(), which default to the origin of "issuer". If it is your page, add its origin to "origins"',
    'in development',
  ],
  swappedCode: [
    PAGE.sessionOptions,
    'The first argument of codes.take() looks like a code, but must be the purpose. Call codes.take(purpose, code)',
    'in development',
  ],
  sharedSecret: [
    PAGE.keys,
    'The same secret is used for two of these: "keys", "secret" of createAuth, and oldTokens(). If one of them leaks the secret, both are compromised. Create a separate secret for each',
    'in development',
  ],
  secondLimits: [
    PAGE.options,
    'Two logins in this process each have their own default failed-login limits, so an attacker gets twice as many guesses. Call createLimits() once and pass the result to both as "limits", or pass auth.logIn to LoginStrategy. If this happens only because a test creates several apps, you can ignore this warning',
  ],
  unreadMember: [
    PAGE.accounts,
    'An account has a member "…" but no "<read>", and this package reads only "<read>". Return "<read>" too. If only your own code reads "…", you can ignore this warning',
  ],
  unpreparedAccounts: [
    PAGE.accounts,
    'The account store cannot create, move and remove accounts safely: …. Until you fix this, routes that need these changes respond with 503',
  ],
  hashInUser: [
    PAGE.accounts,
    'The JSON of req.user contains the password hash, so sending req.user in a response would leak the hash to the client. Select only the columns you need, or return { account, user } with a "user" whose JSON has no hash',
    'in development',
  ],
  noAccountFound: [
    PAGE.accounts,
    'The first 10 look-ups found no account. Make sure that "findByEmail" returns the account it finds, and that it compares email addresses in the letter case in which they are stored. If these accounts do not exist, you can ignore this warning',
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

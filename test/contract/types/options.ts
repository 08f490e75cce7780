import {
  type AccountLookup,
  type AccountStore,
  AuthError,
  type AuthGuardOptions,
  type AuthOptions,
  argon2id,
  type BearerGuard,
  claimsOf,
  createLimits,
  createTokenIssuer,
  createTokenVerifier,
  discoverKeys,
  type GuardedRequest,
  isAuthError,
  jwksRouter,
  oldTokens,
  type PrivateClaims,
  type PrivateTokenKey,
  type PublicTokenKey,
  type RemoteKeys,
  type RequireBearerOptions,
  remoteKeys,
  requireBearer,
  type SecretTokenKey,
  SignInRefusal,
  type TokenIssuerOptions,
  type TokenRouterOptions,
  tokenRouter,
  type VerifiedToken,
} from 'express-token-endpoint'

// Only the compiler reads this file. Two options that exclude each other must not compile together.

declare const material: string | undefined
declare const secret: SecretTokenKey
declare const signs: PrivateTokenKey
declare const verifies: PublicTokenKey
declare const remote: RemoteKeys
declare const lookup: AccountLookup
declare const store: AccountStore
declare const wholeStore: Required<AccountStore>

const issuer = 'https://api.example.com'

const tokens = createTokenIssuer({ issuer, keys: { alg: 'HS256', secret: material } })
createTokenIssuer({ issuer, keys: [signs, verifies], lifetime: '1h', audience: undefined, clock: undefined })
createTokenIssuer({ issuer, keys: [secret, secret] })
createTokenIssuer({ issuer, keys: { alg: 'ES256', privateKey: material, publicKey: undefined } })
const verifier = createTokenVerifier({ issuer, keys: [verifies, { alg: 'RS256', publicKey: material }] })
createTokenVerifier({ issuer, keys: secret })
createTokenVerifier({ issuer, keys: remoteKeys(material) })

// A key has one material, and it is its algorithm's.
// @ts-expect-error -- HS signs with a secret
createTokenIssuer({ issuer, keys: { alg: 'HS256', privateKey: material } })
// @ts-expect-error -- ES signs with a private key
createTokenIssuer({ issuer, keys: { alg: 'ES256', secret: material } })
// @ts-expect-error -- the private key holds the public one
createTokenIssuer({ issuer, keys: { alg: 'ES256', privateKey: material, publicKey: material } })
// @ts-expect-error -- two materials
createTokenIssuer({ issuer, keys: { alg: 'HS256', secret: material, publicKey: material } })
// @ts-expect-error -- no such algorithm
createTokenIssuer({ issuer, keys: { alg: 'none', secret: material } })

// A list is all secrets or all key pairs.
// @ts-expect-error -- mixed
createTokenIssuer({ issuer, keys: [secret, verifies] })

// An issuer signs; a verifier does not.
// @ts-expect-error -- signs nothing
createTokenIssuer({ issuer, keys: verifies })
// @ts-expect-error -- remote keys are public ones
createTokenIssuer({ issuer, keys: remote })
// @ts-expect-error -- a verifier holds no private key
createTokenVerifier({ issuer, keys: signs })
// @ts-expect-error -- a verifier gives no token its time
createTokenVerifier({ issuer, keys: verifies, lifetime: '1h' })
// @ts-expect-error -- only remoteKeys() makes them
createTokenVerifier({ issuer, keys: { url: 'https://api.example.com' } })

// The routers want what issues, the guard what verifies.
jwksRouter({ tokens })
tokenRouter({ tokens, accounts: lookup, limits: false })
tokenRouter({ tokens, accounts: store, limits: createLimits({ limiter: undefined, limits: undefined }) })
requireBearer({ tokens })
requireBearer({ tokens: verifier, accounts: wholeStore, scope: ['a', 'b'] })
// @ts-expect-error -- a verifier issues nothing
tokenRouter({ tokens: verifier, accounts: lookup })
// @ts-expect-error -- a verifier publishes no keys
jwksRouter({ tokens: verifier })
// @ts-expect-error -- a store without findById, perhaps
requireBearer({ tokens, accounts: store })
// @ts-expect-error -- true is not a limits object
tokenRouter({ tokens, accounts: lookup, limits: true })
// @ts-expect-error -- a hasher is not passwords
tokenRouter({ tokens, accounts: lookup, passwords: argon2id() })

// Claims have the type that the host names, or earn it with a check.
interface Claims {
  tenant: string
}
const hasTenant = (claims: PrivateClaims): claims is PrivateClaims & Claims => typeof claims['tenant'] === 'string'
const verified: VerifiedToken<Claims> = await tokens.verify<Claims>('a.b.c')
verified.claims.tenant.trim()
const tenant: string = claimsOf(await tokens.verify('a.b.c'), hasTenant).tenant
tenant.concat(claimsOf(verified, (claims): claims is Claims => typeof claims['tenant'] === 'string').tenant)
// @ts-expect-error -- the checked type has no such claim
claimsOf(verified, (claims): claims is Claims => typeof claims['tenant'] === 'string').role.trim()
// @ts-expect-error -- a check that promises no type
claimsOf(verified, (claims) => 'tenant' in claims)
// @ts-expect-error -- unchecked claims are unknown
tenant.concat((await tokens.verify('a.b.c')).claims['tenant'])

// A refusal of the host is an AuthError with another code.
const thrown: unknown = tenant
if (isAuthError(thrown)) {
  if (thrown.code === 'insufficient_scope') thrown.scope?.join(' ')
  // @ts-expect-error -- other refusals may have none
  thrown.scope.join(' ')
}
const closed: AuthError = new SignInRefusal('closed')
// @ts-expect-error -- the codes of an AuthError are a closed set
new AuthError('closed')
tokenRouter({ tokens, accounts: store, refuse: (error, _req, next) => next(Object.assign(closed, { cause: error })) })
tokenRouter({ tokens, accounts: store, refuse: ({ status }) => (status === 503 ? { status } : undefined) })
// @ts-expect-error -- a promise decides too late
tokenRouter({ tokens, accounts: store, refuse: async ({ status }) => ({ status }) })
// @ts-expect-error -- next() without an error would admit the request
tokenRouter({ tokens, accounts: store, refuse: (_error, _req, next) => next() })

// The card is stateless: sessions, refresh tokens and the login of an app belong to createAuth.
// @ts-expect-error -- a router without accounts
tokenRouter({ tokens })
// @ts-expect-error -- sessions belong to createAuth
tokenRouter({ tokens, accounts: store, refresh: 'cookie' })
tokenRouter({
  tokens,
  accounts: store,
  credentials: ({ username, password }) => ({ email: username, password }),
  respond: ({ token }) => ({ access_token: token }),
})
// @ts-expect-error -- a response is an object
tokenRouter({ tokens, accounts: store, respond: ({ token }) => token })
createTokenIssuer({ issuer, keys: { alg: 'ES256', publicKey: '', sign: async (data) => data } })

// A guard's authenticate returns a token, unless the guard is optional. A guard of the default type is not optional.
declare const request: GuardedRequest
declare const isOptional: boolean
declare const scopes: string[] | undefined
const guard: BearerGuard = requireBearer({ tokens, ...(scopes && { scope: scopes }) })
const auth: VerifiedToken = await guard.authenticate(request)
const mandatory: VerifiedToken = await requireBearer({ tokens, optional: false }).authenticate(request)
const maybe = await requireBearer({ tokens, optional: true }).authenticate(request)
const unknown = await requireBearer({ tokens, optional: isOptional }).authenticate(request)
for (const { accountId } of [auth, mandatory]) accountId.trim()
// @ts-expect-error -- an optional guard may have no token
maybe.accountId.trim()
// @ts-expect-error -- a guard that is optional at times may have no token
unknown.accountId.trim()
// @ts-expect-error -- an optional guard does not fit the default type
const wrong: BearerGuard = requireBearer({ tokens, optional: true })
wrong.authenticate(request)

// Tokens of identity providers, and several issuers.
const partner = createTokenVerifier({
  issuer,
  audience: material,
  accept: 'jwt',
  keys: discoverKeys(issuer, { fetch, algorithms: ['RS256'] }),
  scopes: (claims) => claims['roles'] as string[],
  accountId: ({ oid }) => (typeof oid === 'string' ? oid : undefined),
})
requireBearer({ tokens: [tokens, partner] })
// @ts-expect-error -- the audience is mandatory
createTokenVerifier({ issuer, accept: 'jwt', keys: remote })
// @ts-expect-error -- a misspelt option
createTokenVerifier({ issuer, audience: issuer, accept: 'jwt', keys: remote, scope: () => [] })
// @ts-expect-error -- an issuer signs its own tokens
createTokenIssuer({ issuer, keys: secret, accept: 'jwt' })

// ID tokens, old tokens and API keys.
const idTokens = createTokenVerifier({ issuer, audience: 'client', accept: 'id-token', keys: remote })
createTokenVerifier({ issuer, audience: 'client', accept: 'id-token', keys: remote, authorizedParties: ['android'] })
createTokenVerifier({ issuer, audience: 'api', accept: 'jwt', keys: remote, authorizedParties: ['android'] })
idTokens.verify('text', { nonce: 'n' }).then(({ subject }) => subject.length)
// @ts-expect-error A nonce that is undefined would not be checked.
idTokens.verify('text', { nonce: undefined })
// @ts-expect-error An ID token gives no access.
requireBearer({ tokens: idTokens })
const apiKey = { id: 'a', accountId: 'b', scopes: [], issuedAt: new Date() }
const old = oldTokens({ keys: secret, accountId: ({ id }) => id, until: new Date() })
oldTokens({ keys: remote, accountId: ({ id }) => id, until: new Date(), sessionId: ({ sid }) => sid })
requireBearer({ tokens: [tokens, old, { issuer: 'keys', accepts: () => true, verify: () => apiKey }] })
// @ts-expect-error A promise would count as true.
requireBearer({ tokens: { issuer: 'keys', accepts: async () => true, verify: () => apiKey } })
// @ts-expect-error Old tokens must end.
oldTokens({ keys: secret, accountId: () => 'x' })
tokens.issueSync({ accountId: 'acc-1' }).token.length

// createAuth or auth.guard has each option of its parts, apart from those that createAuth makes.
type OfParts = keyof TokenIssuerOptions | keyof TokenRouterOptions | keyof RequireBearerOptions
type NotOfAuth = Exclude<OfParts, keyof AuthOptions | keyof AuthGuardOptions>
const made: Record<NotOfAuth, true> = { tokens: true, path: true }
Object.keys(made)

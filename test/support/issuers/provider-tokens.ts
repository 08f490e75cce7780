import type { JwtVerifierOptions } from 'express-token-endpoint'

type Json = Record<string, unknown>

/** A token as a provider documents it. */
export interface ProviderToken {
  /** The provider, as the guide names it. */
  provider: string
  what: string
  issuer: string
  audience: string
  header: Json
  /** The claims without `iss`, `iat` and `exp`. */
  payload: Json
  options?: Partial<JwtVerifierOptions>
  /** The members of the verified token, or the reason of the refusal. */
  result: Json | string
}

const RS256 = { alg: 'RS256', kid: 'k1' }
const JWT = { ...RS256, typ: 'JWT' }
const TENANT = 'aaaabbbb-0000-cccc-1111-dddd2222eeee'
const API = '00001111-aaaa-2222-bbbb-3333cccc4444'
const CLIENT = '11112222-bbbb-3333-cccc-4444dddd5555'

// https://auth0.com/docs/secure/tokens/access-tokens/access-token-profiles
const auth0 = { provider: 'Auth0', issuer: 'https://my-domain.auth0.com/', audience: 'https://example.com/health-api' }
const auth0Audiences = ['https://example.com/health-api', 'https://my-domain.auth0.com/userinfo']
// https://developer.okta.com/docs/api/openapi/okta-oauth/guides/overview/
const okta = { provider: 'Okta', issuer: 'https://dev-1.okta.com/oauth2/default', audience: 'api://default' }
// https://learn.microsoft.com/en-us/entra/identity-platform/access-token-claims-reference
const entra1 = {
  provider: 'Entra ID, version 1',
  issuer: `https://sts.windows.net/${TENANT}/`,
  audience: `api://${API}`,
}
const entra2 = {
  provider: 'Entra ID, version 2',
  issuer: `https://login.microsoftonline.com/${TENANT}/v2.0`,
  audience: API,
}
// https://www.keycloak.org/docs/latest/server_admin/#_oidc_token_examples
const keycloak = { provider: 'Keycloak', issuer: 'https://sso.example.com/realms/shop', audience: 'reports-api' }
const keycloakClaims = { jti: 'onrtac:1', sub: 'f:1', azp: 'shop-page', sid: 's1', acr: '1' }
// https://docs.aws.amazon.com/cognito/latest/developerguide/amazon-cognito-user-pools-using-the-access-token.html
const cognito = {
  provider: 'Cognito',
  issuer: 'https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_example',
  audience: 'xxxxxxxxxxxxexample',
}
const cognitoClaims = {
  sub: 'aaaaaaaa-bbbb',
  jti: 'aaaaaaaa-jti',
  'cognito:groups': ['admins'],
  auth_time: 1_676_313_850,
}
// https://cloud.google.com/docs/authentication/token-types
const google = { provider: 'Google', issuer: 'https://accounts.google.com', audience: 'https://api.example.com' }

/** The tokens that providers document, and tokens of the same providers that are not access tokens for this API. */
export const PROVIDER_TOKENS: ProviderToken[] = [
  {
    ...auth0,
    what: 'the Auth0 profile, of a user',
    header: JWT,
    payload: { sub: 'auth0|123456', aud: auth0Audiences, azp: 'my_client_id', scope: 'openid profile read:patients' },
    result: { accountId: 'auth0|123456', clientId: 'my_client_id', scopes: ['openid', 'profile', 'read:patients'] },
  },
  {
    ...auth0,
    what: 'the RFC 9068 profile, with permissions',
    header: { ...RS256, typ: 'at+jwt' },
    payload: {
      ...{ sub: 'auth0|123456', aud: auth0Audiences, client_id: 'my_client_id', jti: '73WakrfVbNJBaAmhQtEeDv' },
      ...{ scope: 'openid', permissions: ['read:patients'] },
    },
    options: { scopes: ({ permissions }) => permissions as string[] },
    result: { id: '73WakrfVbNJBaAmhQtEeDv', clientId: 'my_client_id', scopes: ['read:patients'] },
  },
  {
    ...auth0,
    what: 'of a machine, without a scope',
    header: JWT,
    payload: { sub: 'c1@clients', aud: auth0.audience, azp: 'c1', gty: 'client-credentials' },
    result: { accountId: 'c1@clients', clientId: 'c1', scopes: [] },
  },
  {
    ...auth0,
    what: 'an ID token',
    audience: 'my_client_id',
    header: JWT,
    payload: { sub: 'auth0|123456', aud: 'my_client_id', sid: 's1', nonce: 'n1' },
    result: 'id_token',
  },
  {
    ...okta,
    what: 'of a user',
    header: RS256,
    payload: {
      ...{ ver: 1, jti: 'AT.0mP4JKAZX1iACIT4vbEDF7LpvDVjxypPMf0D7uX39RE', aud: okta.audience, sub: 'john@example.com' },
      ...{ cid: 'nmdP1fcyvdVO11AL7ECm', uid: '00ujmkLgagxeRrAg20g3', scp: ['openid', 'reports:read'] },
    },
    result: { accountId: 'john@example.com', clientId: 'nmdP1fcyvdVO11AL7ECm', scopes: ['openid', 'reports:read'] },
  },
  {
    ...okta,
    what: 'of a user, whose uid is the account',
    header: RS256,
    payload: { jti: 'AT.1', aud: okta.audience, sub: 'john@example.com', cid: 'c', uid: '00u1', scp: ['a'] },
    options: { accountId: ({ uid }) => uid as string },
    result: { accountId: '00u1' },
  },
  {
    ...okta,
    what: 'an ID token',
    audience: 'c1',
    header: RS256,
    payload: {
      ver: 1,
      jti: 'ID.1',
      aud: 'c1',
      sub: '00u1',
      amr: ['pwd'],
      auth_time: 1,
      at_hash: 'fPlsvVszI29LU2UhDyJ9vg',
    },
    result: 'id_token',
  },
  {
    ...entra1,
    what: 'of a user',
    header: { ...JWT, x5t: 'k1' },
    payload: {
      ...{ aud: entra1.audience, nbf: 0, acr: '1', aio: 'AXQAi/8I', amr: ['pwd'], appid: CLIENT, appidacr: '0' },
      ...{ oid: 'oid-1', rh: '0.A', scp: 'user_impersonation', sub: 'l3_roISQU222bULS9yi2k0', tid: TENANT },
      ...{ uti: 'z8WRd0Qdx0', ver: '1.0' },
    },
    result: { accountId: 'l3_roISQU222bULS9yi2k0', clientId: CLIENT, scopes: ['user_impersonation'] },
  },
  {
    ...entra2,
    what: 'of a user',
    header: { ...JWT, x5t: 'k1' },
    payload: {
      ...{ aud: API, nbf: 0, azp: CLIENT, azpacr: '0', oid: 'oid-1', scp: 'access_as_user reports.read' },
      ...{ sub: 'HKZpfaHyWadeOouYlitjrI', tid: TENANT, uti: 'fqiBqXLPj0', ver: '2.0' },
    },
    options: { accountId: ({ oid }) => oid as string },
    result: { accountId: 'oid-1', clientId: CLIENT, scopes: ['access_as_user', 'reports.read'] },
  },
  {
    ...entra2,
    what: 'of a daemon with a role, registered as the API itself',
    header: JWT,
    payload: { aud: API, azp: API, azpacr: '1', oid: 'o', roles: ['Reports.Read'], sub: 'o', tid: TENANT, ver: '2.0' },
    options: { scopes: ({ roles }) => roles as string[] },
    result: { clientId: API, scopes: ['Reports.Read'] },
  },
  {
    ...entra2,
    what: 'an ID token of an app that is registered with its API',
    header: JWT,
    payload: {
      aud: API,
      name: 'Abe',
      oid: 'o',
      preferred_username: 'abe',
      sub: 's',
      tid: TENANT,
      uti: 'u',
      ver: '2.0',
    },
    result: 'id_token',
  },
  {
    ...entra2,
    what: 'of another tenant',
    header: JWT,
    payload: { iss: 'https://login.microsoftonline.com/another/v2.0', aud: API, azp: CLIENT, scp: 'a', sub: 's' },
    result: 'issuer',
  },
  {
    ...keycloak,
    what: 'of a user',
    header: JWT,
    payload: {
      ...keycloakClaims,
      ...{ aud: ['reports-api', 'account'], typ: 'Bearer', scope: 'openid email', allowed_origins: ['/*'] },
      ...{ realm_access: { roles: ['offline_access', 'clerk'] } },
    },
    options: { scopes: ({ realm_access: access }) => (access as { roles: string[] }).roles },
    result: { clientId: 'shop-page', scopes: ['offline_access', 'clerk'], id: 'onrtac:1' },
  },
  {
    ...keycloak,
    what: 'of a user, before version 25, with a nonce',
    header: JWT,
    payload: { ...keycloakClaims, aud: 'reports-api', nbf: 0, typ: 'Bearer', nonce: 'n1', scope: '' },
    result: { clientId: 'shop-page', scopes: [] },
  },
  ...['ID', 'Refresh', 'Offline', 'Logout'].map((typ) => ({
    ...keycloak,
    what: `a token of the type ${typ}`,
    header: JWT,
    payload: { ...keycloakClaims, aud: 'reports-api', typ, scope: 'openid' },
    result: 'id_token',
  })),
  {
    ...cognito,
    what: 'of a user',
    header: RS256,
    payload: {
      ...{ ...cognitoClaims, token_use: 'access', scope: 'openid reports/read', client_id: cognito.audience },
      ...{ version: 2, origin_jti: 'o', event_id: 'e', username: 'my-test-user' },
    },
    result: { accountId: 'aaaaaaaa-bbbb', clientId: cognito.audience, scopes: ['openid', 'reports/read'] },
  },
  {
    ...cognito,
    what: 'with resource binding',
    audience: 'https://api.example.com',
    header: RS256,
    payload: { ...cognitoClaims, token_use: 'access', scope: 'a', client_id: 'c', aud: 'https://api.example.com' },
    result: { clientId: 'c', audience: 'https://api.example.com' },
  },
  {
    ...cognito,
    what: 'of another client',
    header: RS256,
    payload: { ...cognitoClaims, token_use: 'access', scope: 'a', client_id: 'another' },
    result: 'audience',
  },
  {
    ...cognito,
    what: 'an ID token',
    header: RS256,
    payload: {
      ...cognitoClaims,
      token_use: 'id',
      aud: cognito.audience,
      'cognito:username': 'u',
      email: 'u@example.com',
    },
    result: 'id_token',
  },
  {
    ...google,
    what: 'an ID token of a service account, which may ask for any audience',
    header: JWT,
    payload: {
      aud: google.audience,
      azp: '1137',
      sub: '1137',
      email: 'job@project.iam.gserviceaccount.com',
      email_verified: true,
    },
    result: 'id_token',
  },
  {
    ...google,
    what: 'an ID token of a user',
    audience: '32555940559.apps.googleusercontent.com',
    header: JWT,
    payload: {
      ...{ azp: '32555940559.apps.googleusercontent.com', aud: '32555940559.apps.googleusercontent.com', sub: '1116' },
      ...{ email: 'u@example.com', email_verified: true, hd: 'example.com' },
    },
    result: 'id_token',
  },
  {
    ...google,
    what: 'an ID token of a user of an Android app, whose audience is the web client',
    audience: 'web.apps.googleusercontent.com',
    header: JWT,
    payload: { azp: 'android', aud: 'web.apps.googleusercontent.com', sub: '1116' },
    result: 'id_token',
  },
  {
    provider: 'AD FS',
    issuer: 'https://adfs.example.com/adfs',
    audience: 'a-client',
    what: 'an ID token with the scopes of the sign-in',
    header: JWT,
    payload: { appid: 'a-client', aud: 'a-client', sub: 'u', scp: 'openid profile' },
    result: 'id_token',
  },
  {
    provider: 'AD FS',
    issuer: 'https://adfs.example.com/adfs',
    audience: 'a-client',
    what: 'an ID token with empty claims',
    header: JWT,
    payload: { azp: 'a-client', aud: 'a-client', sub: 'u', scope: null, scp: [], azpacr: null },
    result: 'id_token',
  },
]

import type { JwtVerifierOptions } from 'express-token-endpoint'

type Json = Record<string, unknown>

/** A token as a provider documents it. */
export interface ProviderToken {
  /** The provider, as the guide names it. */
  provider: string
  what: string
  /** The page, or the file of the provider, that has these claims. */
  source: string
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

const auth0 = {
  provider: 'Auth0',
  source: 'https://auth0.com/docs/secure/tokens/access-tokens/access-token-profiles',
  issuer: 'https://my-domain.auth0.com/',
  audience: 'https://example.com/health-api',
}
const auth0Audiences = ['https://example.com/health-api', 'https://my-domain.auth0.com/userinfo']
const okta = {
  provider: 'Okta',
  source: 'https://developer.okta.com/docs/api/openapi/okta-oauth/guides/overview/',
  issuer: 'https://dev-1.okta.com/oauth2/default',
  audience: 'api://default',
}
const entra = 'https://learn.microsoft.com/en-us/entra/identity-platform'
const entra1 = {
  provider: 'Entra ID, version 1',
  source: `${entra}/access-tokens#token-formats`,
  issuer: `https://sts.windows.net/${TENANT}/`,
  audience: API,
}
const entra2 = {
  provider: 'Entra ID, version 2',
  source: `${entra}/access-tokens#token-formats`,
  issuer: `https://login.microsoftonline.com/${TENANT}/v2.0`,
  audience: API,
}
const entraClaims = `${entra}/access-token-claims-reference`
const entraIdToken = `${entra}/id-token-claims-reference`
const keycloakAdmin =
  'https://github.com/keycloak/keycloak/tree/main/docs/documentation/server_admin/topics/clients/oidc'
const keycloak = {
  provider: 'Keycloak',
  // Its audiences and roles. The tutorial of MCP has a whole token.
  source: `${keycloakAdmin}/con-audience.adoc, con-token-role-mappings.adoc`,
  issuer: 'https://sso.example.com/realms/shop',
  audience: 'reports-api',
}
const keycloakTutorial = 'https://modelcontextprotocol.io/docs/tutorials/security/authorization'
const keycloakTypes =
  'https://github.com/keycloak/keycloak/blob/main/core/src/main/java/org/keycloak/util/TokenUtil.java'
const keycloakClaims = { auth_time: 1_755_538_888, jti: 'onrtac:1', sub: 'f:1', azp: 'shop-page', sid: 's1', acr: '1' }
const cognito = {
  provider: 'Cognito',
  source:
    'https://docs.aws.amazon.com/cognito/latest/developerguide/amazon-cognito-user-pools-using-the-access-token.html',
  issuer: 'https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_example',
  audience: 'xxxxxxxxxxxxexample',
}
const cognitoClaims = {
  sub: 'aaaaaaaa-bbbb',
  jti: 'aaaaaaaa-jti',
  'cognito:groups': ['admins'],
  auth_time: 1_676_313_850,
}
const google = {
  provider: 'Google',
  source: 'https://cloud.google.com/docs/authentication/token-types',
  issuer: 'https://accounts.google.com',
  audience: 'https://api.example.com',
}
const adfs = {
  provider: 'AD FS',
  source:
    'https://learn.microsoft.com/en-us/windows-server/identity/ad-fs/development/ad-fs-openid-connect-oauth-concepts',
  issuer: 'https://adfs.example.com/adfs',
  audience: 'a-client',
}

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
    what: 'of a guest',
    header: { ...JWT, x5t: 'k1' },
    payload: {
      ...{ aud: API, nbf: 0, acr: '1', aio: 'AXQAi/8I', amr: ['wia'], appid: CLIENT, appidacr: '0', oid: 'oid-1' },
      ...{ email: 'abe@example.com', family_name: 'L', given_name: 'Abe', name: 'abe', unique_name: 'abe@example.com' },
      ...{ idp: 'https://sts.windows.net/another/', ipaddr: '192.0.2.1', rh: 'I', scp: 'user_impersonation' },
      ...{ sub: 'l3_roISQU', tid: TENANT, uti: 'FVsGxYXI30', ver: '1.0' },
    },
    result: { accountId: 'l3_roISQU', clientId: CLIENT, scopes: ['user_impersonation'] },
  },
  {
    ...entra1,
    what: 'for the URI of the API, of a daemon without a role',
    source: entraClaims,
    audience: `api://${API}`,
    header: { ...JWT, x5t: 'k1' },
    payload: { aud: `api://${API}`, nbf: 0, appid: CLIENT, appidacr: '1', oid: 'o', sub: 'o', tid: TENANT, ver: '1.0' },
    result: { accountId: 'o', clientId: CLIENT, scopes: [] },
  },
  {
    ...entra1,
    what: 'an ID token',
    source: entraIdToken,
    header: { ...JWT, x5t: 'k1' },
    payload: {
      ...{ aud: API, nbf: 0, amr: ['pwd'], ipaddr: '192.0.2.1', name: 'Abe', oid: 'o', rh: '0.A', sub: 's' },
      ...{ tid: TENANT, unique_name: 'abe@example.com', uti: 'u', ver: '1.0' },
    },
    result: 'id_token',
  },
  {
    ...entra2,
    what: 'of a user, whose client is registered as the API itself',
    header: JWT,
    payload: {
      ...{ aud: API, nbf: 0, aio: 'AXQAi/8I', azp: API, azpacr: '0', name: 'Abe', oid: 'oid-1', rh: 'I' },
      ...{ preferred_username: 'abe@example.com', scp: 'access_as_user', sub: 'HKZpfaHyWa', tid: TENANT },
      ...{ uti: 'fqiBqXLPj0', ver: '2.0' },
    },
    options: { accountId: ({ oid }) => oid as string },
    result: { accountId: 'oid-1', clientId: API, scopes: ['access_as_user'] },
  },
  {
    ...entra2,
    what: 'of a user with roles and too many groups',
    source: entraClaims,
    header: JWT,
    payload: {
      ...{ aud: API, nbf: 0, azp: CLIENT, azpacr: '1', oid: 'o', scp: 'reports.read reports.write', sub: 's' },
      ...{ roles: ['Clerk'], wids: ['w'], acrs: ['c1'], xms_cc: ['cp1'], tid: TENANT, ver: '2.0' },
      ...{ _claim_names: { groups: 'src1' }, _claim_sources: { src1: { endpoint: 'https://graph.microsoft.com/' } } },
    },
    result: { clientId: CLIENT, scopes: ['reports.read', 'reports.write'] },
  },
  {
    ...entra2,
    what: 'of a daemon with a role, registered as the API itself',
    source: entraClaims,
    header: JWT,
    payload: { aud: API, azp: API, azpacr: '1', oid: 'o', roles: ['Reports.Read'], sub: 'o', tid: TENANT, ver: '2.0' },
    options: { scopes: ({ roles }) => roles as string[] },
    result: { clientId: API, scopes: ['Reports.Read'] },
  },
  {
    ...entra2,
    what: 'an ID token of an app that is registered with its API',
    source: entraIdToken,
    header: JWT,
    payload: {
      ...{ aud: API, nbf: 0, name: 'Abe', oid: 'o', preferred_username: 'abe', rh: '0.A', sub: 's' },
      ...{ tid: TENANT, uti: 'u', ver: '2.0' },
    },
    result: 'id_token',
  },
  ...['another', '9188040d-6c67-4c5b-b112-36a304b66dad'].map((tenant) => ({
    ...entra2,
    what: `of the tenant ${tenant}`,
    source: entraClaims,
    header: JWT,
    payload: { iss: `https://login.microsoftonline.com/${tenant}/v2.0`, aud: API, azp: CLIENT, scp: 'a', sub: 's' },
    result: 'issuer',
  })),
  {
    ...keycloak,
    what: 'of a user, with roles',
    header: JWT,
    payload: {
      ...{ ...keycloakClaims, aud: ['reports-api', 'account'], typ: 'Bearer', scope: 'openid profile email' },
      ...{ 'allowed-origins': ['https://shop.example.com'], realm_access: { roles: ['offline_access', 'clerk'] } },
      ...{ resource_access: { 'reports-api': { roles: ['reports:read'] }, account: { roles: ['manage-account'] } } },
      ...{ email_verified: true, name: 'A B', preferred_username: 'ab', given_name: 'A', family_name: 'B' },
    },
    options: {
      scopes: ({ resource_access: access }) => (access as Record<string, { roles: string[] }>)['reports-api']?.roles,
    },
    result: { clientId: 'shop-page', scopes: ['reports:read'], id: 'onrtac:1' },
  },
  {
    ...keycloak,
    what: 'of an MCP client',
    source: keycloakTutorial,
    audience: 'http://localhost:3000',
    header: JWT,
    payload: { ...keycloakClaims, aud: 'http://localhost:3000', typ: 'Bearer', scope: 'mcp:tools' },
    result: { clientId: 'shop-page', scopes: ['mcp:tools'] },
  },
  {
    ...keycloak,
    what: 'of a user, with the type at+jwt in the header',
    source: keycloakTypes,
    header: { ...JWT, typ: 'at+jwt' },
    payload: { ...keycloakClaims, aud: 'reports-api', typ: 'Bearer', scope: 'openid' },
    result: { clientId: 'shop-page', scopes: ['openid'] },
  },
  {
    ...keycloak,
    what: 'of a user, before version 25, with a nonce',
    source: 'https://www.keycloak.org/docs/latest/upgrading/#nonce-claim-is-only-added-to-the-id-token',
    header: JWT,
    payload: { ...keycloakClaims, aud: 'reports-api', nbf: 0, typ: 'Bearer', nonce: 'n1', scope: '' },
    result: { clientId: 'shop-page', scopes: [] },
  },
  ...['ID', 'Serialized-ID', 'Refresh', 'Offline', 'Logout', 'DPoP'].map((typ) => ({
    ...keycloak,
    what: `a token of the type ${typ}`,
    source: keycloakTypes,
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
    ...adfs,
    what: 'an ID token with the scopes of the sign-in',
    header: JWT,
    payload: { appid: 'a-client', aud: 'a-client', sub: 'u', scp: 'openid profile' },
    result: 'id_token',
  },
  {
    ...adfs,
    what: 'an ID token with empty claims',
    header: JWT,
    payload: { azp: 'a-client', aud: 'a-client', sub: 'u', scope: null, scp: [], azpacr: null },
    result: 'id_token',
  },
]

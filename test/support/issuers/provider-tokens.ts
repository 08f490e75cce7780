import type { JwtVerifierOptions } from 'express-token-endpoint'

type Json = Record<string, unknown>

/** A token as a provider documents it. */
interface ProviderToken {
  /** The page, or the file of the provider, that has these claims. Default: the page of the provider. */
  source?: string
  /** Default: the audience of the provider. */
  audience?: string
  /** More header parameters than those of the provider. */
  header?: Json
  /** The claims without `iss`, `iat` and `exp`. */
  payload: Json
  options?: Partial<JwtVerifierOptions>
  /** The members of the verified token, or the reason of the refusal. Default: `id_token`. */
  result?: Json | string
}

/** A provider, as the guide names it, and its tokens. */
interface Provider {
  provider: string
  source: string
  issuer: string
  audience: string
  header: Json
  tokens: Record<string, ProviderToken>
}

const RS256 = { alg: 'RS256', kid: 'k1' }
const JWT = { ...RS256, typ: 'JWT' }
const TENANT = 'aaaabbbb-0000-cccc-1111-dddd2222eeee'
const API = '00001111-aaaa-2222-bbbb-3333cccc4444'
const CLIENT = '11112222-bbbb-3333-cccc-4444dddd5555'
const X5T = { x5t: 'k1' }

const auth0Audiences = ['https://example.com/health-api', 'https://my-domain.auth0.com/userinfo']
const entra = 'https://learn.microsoft.com/en-us/entra/identity-platform'
const entraClaims = `${entra}/access-token-claims-reference`
const entraIdToken = `${entra}/id-token-claims-reference`
const keycloak = 'https://github.com/keycloak/keycloak'
const keycloakAdmin = `${keycloak}/tree/main/docs/documentation/server_admin/topics/clients/oidc`
const keycloakTypes = `${keycloak}/blob/main/core/src/main/java/org/keycloak/util/TokenUtil.java`
const keycloakClaims = { auth_time: 1_755_538_888, jti: 'onrtac:1', sub: 'f:1', azp: 'shop-page', sid: 's1', acr: '1' }
const aws = 'https://docs.aws.amazon.com/cognito/latest/developerguide'
const cognitoClaims = {
  ...{ sub: 'aaaaaaaa-bbbb', jti: 'aaaaaaaa-jti', 'cognito:groups': ['admins'], auth_time: 1_676_313_850 },
}
const windowsServer = 'https://learn.microsoft.com/en-us/windows-server/identity'

const PROVIDERS: Provider[] = [
  {
    provider: 'Auth0',
    source: 'https://auth0.com/docs/secure/tokens/access-tokens/access-token-profiles',
    issuer: 'https://my-domain.auth0.com/',
    audience: 'https://example.com/health-api',
    header: JWT,
    tokens: {
      'the Auth0 profile, of a user': {
        payload: {
          sub: 'auth0|123456',
          aud: auth0Audiences,
          azp: 'my_client_id',
          scope: 'openid profile read:patients',
        },
        result: { accountId: 'auth0|123456', clientId: 'my_client_id', scopes: ['openid', 'profile', 'read:patients'] },
      },
      'the RFC 9068 profile, with permissions': {
        header: { typ: 'at+jwt' },
        payload: {
          ...{ sub: 'auth0|123456', aud: auth0Audiences, client_id: 'my_client_id', jti: '73WakrfVbNJBaAmhQtEeDv' },
          ...{ scope: 'openid', permissions: ['read:patients'] },
        },
        options: { scopes: ({ permissions }) => permissions as string[] },
        result: { id: '73WakrfVbNJBaAmhQtEeDv', clientId: 'my_client_id', scopes: ['read:patients'] },
      },
      'of a machine, without a scope': {
        payload: { sub: 'c1@clients', aud: 'https://example.com/health-api', azp: 'c1', gty: 'client-credentials' },
        result: { accountId: 'c1@clients', clientId: 'c1', scopes: [] },
      },
      'an ID token': {
        audience: 'my_client_id',
        payload: { sub: 'auth0|123456', aud: 'my_client_id', sid: 's1', nonce: 'n1' },
      },
      'an ID token of a client that sends no nonce': {
        source: 'https://auth0.com/docs/secure/tokens/id-tokens/id-token-structure',
        audience: 'my_client_id',
        payload: {
          ...{ sub: 'auth0|123456', aud: 'my_client_id', name: 'Jane Doe', given_name: 'Jane', family_name: 'Doe' },
          ...{
            gender: 'female',
            birthdate: '0000-10-31',
            email: 'j@example.com',
            picture: 'https://example.com/j.jpg',
          },
        },
      },
    },
  },
  {
    provider: 'Okta',
    source: 'https://developer.okta.com/docs/api/openapi/okta-oauth/guides/overview/',
    issuer: 'https://dev-1.okta.com/oauth2/default',
    audience: 'api://default',
    header: RS256,
    tokens: {
      'of a user': {
        payload: {
          ...{ ver: 1, jti: 'AT.0mP4JKAZX1iACIT4vbEDF7LpvDVjxypPMf0D7uX39RE', aud: 'api://default' },
          ...{ sub: 'john@example.com', cid: 'nmdP1fcyvdVO11AL7ECm', uid: '00ujmkLgagxeRrAg20g3' },
          ...{ scp: ['openid', 'reports:read'] },
        },
        result: { accountId: 'john@example.com', clientId: 'nmdP1fcyvdVO11AL7ECm', scopes: ['openid', 'reports:read'] },
      },
      'of a user, whose uid is the account': {
        payload: { jti: 'AT.1', aud: 'api://default', sub: 'john@example.com', cid: 'c', uid: '00u1', scp: ['a'] },
        options: { accountId: ({ uid }) => uid as string },
        result: { accountId: '00u1' },
      },
      'an ID token': {
        audience: 'c1',
        payload: {
          ...{ ver: 1, jti: 'ID.1', aud: 'c1', sub: '00u1', amr: ['pwd'], auth_time: 1 },
          ...{ at_hash: 'fPlsvVszI29LU2UhDyJ9vg' },
        },
      },
    },
  },
  {
    provider: 'Entra ID, version 1',
    source: `${entra}/access-tokens#token-formats`,
    issuer: `https://sts.windows.net/${TENANT}/`,
    audience: API,
    header: { ...JWT, ...X5T },
    tokens: {
      'of a guest': {
        payload: {
          ...{ aud: API, nbf: 0, acr: '1', aio: 'AXQAi/8I', amr: ['wia'], appid: CLIENT, appidacr: '0', oid: 'oid-1' },
          ...{ email: 'abe@example.com', family_name: 'L', given_name: 'Abe', name: 'abe' },
          ...{ unique_name: 'abe@example.com', idp: 'https://sts.windows.net/another/', ipaddr: '192.0.2.1', rh: 'I' },
          ...{ scp: 'user_impersonation', sub: 'l3_roISQU', tid: TENANT, uti: 'FVsGxYXI30', ver: '1.0' },
        },
        result: { accountId: 'l3_roISQU', clientId: CLIENT, scopes: ['user_impersonation'] },
      },
      'for the URI of the API, of a daemon without a role': {
        source: entraClaims,
        audience: `api://${API}`,
        payload: {
          ...{ aud: `api://${API}`, nbf: 0, appid: CLIENT, appidacr: '1', oid: 'o', sub: 'o', tid: TENANT, ver: '1.0' },
        },
        result: { accountId: 'o', clientId: CLIENT, scopes: [] },
      },
      'an ID token': {
        source: entraIdToken,
        payload: {
          ...{ aud: API, nbf: 0, amr: ['pwd'], ipaddr: '192.0.2.1', name: 'Abe', oid: 'o', rh: '0.A', sub: 's' },
          ...{ tid: TENANT, unique_name: 'abe@example.com', uti: 'u', ver: '1.0' },
        },
      },
    },
  },
  {
    provider: 'Entra ID, version 2',
    source: `${entra}/access-tokens#token-formats`,
    issuer: `https://login.microsoftonline.com/${TENANT}/v2.0`,
    audience: API,
    header: JWT,
    tokens: {
      'of a user, whose client is registered as the API itself': {
        payload: {
          ...{ aud: API, nbf: 0, aio: 'AXQAi/8I', azp: API, azpacr: '0', name: 'Abe', oid: 'oid-1', rh: 'I' },
          ...{ preferred_username: 'abe@example.com', scp: 'access_as_user', sub: 'HKZpfaHyWa', tid: TENANT },
          ...{ uti: 'fqiBqXLPj0', ver: '2.0' },
        },
        options: { accountId: ({ oid }) => oid as string },
        result: { accountId: 'oid-1', clientId: API, scopes: ['access_as_user'] },
      },
      'of a user with roles and too many groups': {
        source: entraClaims,
        payload: {
          ...{ aud: API, nbf: 0, azp: CLIENT, azpacr: '1', oid: 'o', scp: 'reports.read reports.write', sub: 's' },
          ...{ roles: ['Clerk'], wids: ['w'], acrs: ['c1'], xms_cc: ['cp1'], tid: TENANT, ver: '2.0' },
          ...{
            _claim_names: { groups: 'src1' },
            _claim_sources: { src1: { endpoint: 'https://graph.microsoft.com/' } },
          },
        },
        result: { clientId: CLIENT, scopes: ['reports.read', 'reports.write'] },
      },
      'of a daemon with a role, registered as the API itself': {
        source: entraClaims,
        payload: {
          ...{ aud: API, azp: API, azpacr: '1', oid: 'o', roles: ['Reports.Read'], sub: 'o', tid: TENANT, ver: '2.0' },
        },
        options: { scopes: ({ roles }) => roles as string[] },
        result: { clientId: API, scopes: ['Reports.Read'] },
      },
      'an ID token of an app that is registered with its API': {
        source: entraIdToken,
        payload: {
          ...{ aud: API, nbf: 0, name: 'Abe', oid: 'o', preferred_username: 'abe', rh: '0.A', sub: 's' },
          ...{ tid: TENANT, uti: 'u', ver: '2.0' },
        },
      },
      ...each(['another', '9188040d-6c67-4c5b-b112-36a304b66dad'], 'of the tenant', (tenant) => ({
        source: entraClaims,
        payload: { iss: `https://login.microsoftonline.com/${tenant}/v2.0`, aud: API, azp: CLIENT, scp: 'a', sub: 's' },
        result: 'issuer',
      })),
    },
  },
  {
    provider: 'Keycloak',
    // Its audiences and roles. The tutorial of MCP has a whole token.
    source: `${keycloakAdmin}/con-audience.adoc, con-token-role-mappings.adoc`,
    issuer: 'https://sso.example.com/realms/shop',
    audience: 'reports-api',
    header: JWT,
    tokens: {
      'of a user, with roles': {
        payload: {
          ...{ ...keycloakClaims, aud: ['reports-api', 'account'], typ: 'Bearer', scope: 'openid profile email' },
          ...{ 'allowed-origins': ['https://shop.example.com'], realm_access: { roles: ['offline_access', 'clerk'] } },
          ...{
            resource_access: { 'reports-api': { roles: ['reports:read'] }, account: { roles: ['manage-account'] } },
          },
          ...{ email_verified: true, name: 'A B', preferred_username: 'ab', given_name: 'A', family_name: 'B' },
        },
        options: {
          scopes: ({ resource_access: access }) =>
            (access as Record<string, { roles: string[] }>)['reports-api']?.roles,
        },
        result: { clientId: 'shop-page', scopes: ['reports:read'], id: 'onrtac:1' },
      },
      'of an MCP client': {
        source: 'https://modelcontextprotocol.io/docs/tutorials/security/authorization',
        audience: 'http://localhost:3000',
        payload: { ...keycloakClaims, aud: 'http://localhost:3000', typ: 'Bearer', scope: 'mcp:tools' },
        result: { clientId: 'shop-page', scopes: ['mcp:tools'] },
      },
      'of a user, with the type at+jwt in the header': {
        source: keycloakTypes,
        header: { typ: 'at+jwt' },
        payload: { ...keycloakClaims, aud: 'reports-api', typ: 'Bearer', scope: 'openid' },
        result: { clientId: 'shop-page', scopes: ['openid'] },
      },
      'of a user, before version 25, with a nonce': {
        source: 'https://www.keycloak.org/docs/latest/upgrading/#nonce-claim-is-only-added-to-the-id-token',
        payload: { ...keycloakClaims, aud: 'reports-api', nbf: 0, typ: 'Bearer', nonce: 'n1', scope: '' },
        result: { clientId: 'shop-page', scopes: [] },
      },
      ...each(['ID', 'Serialized-ID', 'Refresh', 'Offline', 'Logout', 'DPoP'], 'a token of the type', (typ) => ({
        source: keycloakTypes,
        payload: { ...keycloakClaims, aud: 'reports-api', typ, scope: 'openid' },
      })),
    },
  },
  {
    provider: 'Cognito',
    source: `${aws}/amazon-cognito-user-pools-using-the-access-token.html`,
    issuer: 'https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_example',
    audience: 'xxxxxxxxxxxxexample',
    header: RS256,
    tokens: {
      'of a user': {
        payload: {
          ...{ ...cognitoClaims, token_use: 'access', scope: 'openid reports/read', client_id: 'xxxxxxxxxxxxexample' },
          ...{ version: 2, origin_jti: 'o', event_id: 'e', username: 'my-test-user' },
        },
        result: { accountId: 'aaaaaaaa-bbbb', clientId: 'xxxxxxxxxxxxexample', scopes: ['openid', 'reports/read'] },
      },
      'with resource binding': {
        audience: 'https://api.example.com',
        payload: { ...cognitoClaims, token_use: 'access', scope: 'a', client_id: 'c', aud: 'https://api.example.com' },
        result: { clientId: 'c', audience: 'https://api.example.com' },
      },
      'of another client': {
        payload: { ...cognitoClaims, token_use: 'access', scope: 'a', client_id: 'another' },
        result: 'audience',
      },
      'an ID token': {
        payload: {
          ...{ ...cognitoClaims, token_use: 'id', aud: 'xxxxxxxxxxxxexample' },
          ...{ 'cognito:username': 'u', email: 'u@example.com' },
        },
      },
    },
  },
  {
    provider: 'Google',
    source: 'https://cloud.google.com/docs/authentication/token-types',
    issuer: 'https://accounts.google.com',
    audience: 'https://api.example.com',
    header: JWT,
    tokens: {
      'an ID token of a service account, which may ask for any audience': {
        payload: {
          ...{ aud: 'https://api.example.com', azp: '1137', sub: '1137' },
          ...{ email: 'job@project.iam.gserviceaccount.com', email_verified: true },
        },
      },
      'an ID token of a user': {
        audience: '32555940559.apps.googleusercontent.com',
        payload: {
          ...{
            azp: '32555940559.apps.googleusercontent.com',
            aud: '32555940559.apps.googleusercontent.com',
            sub: '1116',
          },
          ...{ email: 'u@example.com', email_verified: true, hd: 'example.com' },
        },
      },
      'an ID token of a user of an Android app, whose audience is the web client': {
        audience: 'web.apps.googleusercontent.com',
        payload: { azp: 'android', aud: 'web.apps.googleusercontent.com', sub: '1116' },
      },
    },
  },
  {
    provider: 'Better Auth',
    source: 'https://better-auth.com/docs/plugins/jwt',
    issuer: 'https://app.example.com',
    audience: 'https://app.example.com',
    header: RS256,
    tokens: {
      'of a session, which names no client': {
        payload: {
          ...{ id: 'u1', name: 'Ann', email: 'ann@example.com', emailVerified: true, image: null },
          ...{ createdAt: '2026-01-01T00:00:00.000Z', updatedAt: '2026-01-01T00:00:00.000Z' },
          ...{ sub: 'u1', aud: 'https://app.example.com' },
        },
        result: { accountId: 'u1', clientId: undefined, scopes: [] },
      },
      'of a session, for a service with authorizedParties': {
        payload: { sub: 'u1', aud: 'https://app.example.com', email: 'ann@example.com' },
        options: { authorizedParties: ['a-client'] },
        result: 'audience',
      },
      'an ID token of its plugin for OpenID Connect': {
        source: 'https://better-auth.com/docs/plugins/oidc-provider',
        audience: 'a-client',
        payload: { sub: 'u1', aud: 'a-client', auth_time: 1, acr: 'urn:mace:incommon:iap:silver', email: 'a@b.c' },
      },
    },
  },
  {
    provider: 'Supabase',
    source: 'https://supabase.com/docs/guides/auth/jwt-fields',
    issuer: 'https://abcdefghijklmnopqrst.supabase.co/auth/v1',
    audience: 'authenticated',
    header: JWT,
    tokens: {
      'of a session, which names no client': {
        payload: {
          ...{ aal: 'aal1', amr: [{ method: 'password', timestamp: 1_640_991_600 }], aud: 'authenticated', phone: '' },
          ...{
            app_metadata: { provider: 'email', providers: ['email'] },
            email: 'user@example.com',
            role: 'authenticated',
          },
          ...{ session_id: 's1', sub: '123e4567-e89b', user_metadata: { name: 'J' }, is_anonymous: false },
        },
        result: { accountId: '123e4567-e89b', clientId: undefined, audience: 'authenticated', scopes: [] },
      },
      'the key of anonymous visitors': { payload: { ref: 'abcdefghijklmnopqrst', role: 'anon' }, result: 'claims' },
    },
  },
  {
    provider: 'AD FS',
    source: `${windowsServer}/ad-fs/development/ad-fs-openid-connect-oauth-concepts`,
    issuer: 'https://adfs.example.com/adfs',
    audience: 'a-client',
    header: JWT,
    tokens: {
      'an ID token with the scopes of the sign-in': {
        payload: { appid: 'a-client', aud: 'a-client', sub: 'u', scp: 'openid profile' },
      },
      'an ID token with empty claims': {
        payload: { azp: 'a-client', aud: 'a-client', sub: 'u', scope: null, scp: [], azpacr: null },
      },
    },
  },
]

function each(values: string[], what: string, tokenOf: (value: string) => ProviderToken): Provider['tokens'] {
  return Object.fromEntries(values.map((value) => [`${what} ${value}`, tokenOf(value)]))
}

/** The tokens that providers document, and tokens of the same providers that are not access tokens for this API. */
export const PROVIDER_TOKENS = PROVIDERS.flatMap(({ tokens, ...provider }) =>
  Object.entries(tokens).map(([what, token]) => ({
    ...{ what, result: 'id_token', options: {}, ...provider, ...token },
    header: { ...provider.header, ...token.header },
  })),
)

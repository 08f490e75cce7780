export type {
  Credentials,
  CredentialsRequest,
  RefreshTokenStorage,
  RefusedSignIn,
  StepFields,
  TokenClientOptions,
} from './client/client-options.js'
export type {
  AuthorizationHeader,
  HeadersRequest,
  IssuedToken,
  SignInError,
  TokenClient,
  TokenClientState,
  TokenRequest,
} from './client/client-types.js'
export type { Grant } from './client/grant.js'
export { keepInTab } from './client/tabs/keep-in-tab.js'
export { shareBetweenTabs } from './client/tabs/share-between-tabs.js'
export type { News, SharedToken, TabLink, TabOwner, TabSharing } from './client/tabs/tab-link.js'
export { createTokenClient } from './client/token-client.js'
export { TokenClientError, type TokenClientErrorCode } from './client/token-client-error.js'

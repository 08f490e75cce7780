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
  OwnSignIn,
  SignInError,
  TokenClient,
  TokenClientState,
  TokenRequest,
} from './client/client-types.js'
export { createTokenClient } from './client/token-client.js'
export { TokenClientError, type TokenClientErrorCode } from './client/token-client-error.js'

export type {
  Credentials,
  CredentialsRequest,
  RefreshTokenStorage,
  RefusedSignIn,
  StepFields,
  StepUpFields,
  TokenClientOptions,
} from './client/client-options.js'
export type {
  AuthorizationHeader,
  CodeAndPassword,
  Confirmation,
  HeadersRequest,
  OwnSignIn,
  PasswordChange,
  SignInError,
  TokenClient,
  TokenClientState,
  TokenRequest,
} from './client/client-types.js'
export { createTokenClient } from './client/token-client.js'
export { TokenClientError, type TokenClientErrorCode } from './client/token-client-error.js'

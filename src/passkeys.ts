export type {
  ExpectedCredential,
  KnownCredential,
  PasskeyChecks,
  PasskeyUser,
  SentCredential,
} from './factors/passkey-checks.js'
export { type PasskeysOptions, passkeys } from './passkeys/passkeys.js'

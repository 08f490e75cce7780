export { type FastPasswordsOptions, fastPasswords } from './testing/fast-passwords.js'
export type { RefusedSessionTokens, RefusedTokens } from './testing/refused-tokens.js'
export {
  type AccountStoreContractOptions,
  accountStoreContract,
  type ExistingAccount,
} from './testing/store-contract/account-store-contract.js'
export type { ContractCheck } from './testing/store-contract/contract-check.js'
export { type GivenStore, type StoreContractOptions, storeContract } from './testing/store-contract/store-contract.js'
export type { TestClock } from './testing/test-clock.js'
export {
  type BearerHeaders,
  createTestIssuer,
  type SessionTestIssuer,
  type SessionTestIssuerOptions,
  type TestAccount,
  type TestIssuer,
  type TestIssuerOptions,
  type TestToken,
} from './testing/test-issuer.js'

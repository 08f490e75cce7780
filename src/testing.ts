export {
  type AccountStoreContractOptions,
  accountStoreContract,
  type ContractCheck,
  type ExistingAccount,
} from './testing/account-store-contract.js'

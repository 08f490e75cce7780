export { type AccountColumn, type KyselyAccountsOptions, kyselyAccounts } from './stores/kysely-accounts.js'
export { createTables, type KyselyStoreOptions, kyselyStore, type StoreTables } from './stores/kysely-store.js'

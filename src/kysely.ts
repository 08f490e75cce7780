export { type AccountColumn, type KyselyAccountsOptions, kyselyAccounts } from './stores/kysely-accounts.js'
export { createSessionTable, kyselySessions, type SessionTableOptions } from './stores/kysely-sessions.js'

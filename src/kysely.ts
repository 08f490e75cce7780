export { type AccountColumn, type KyselyAccountsOptions, kyselyAccounts } from './stores/kysely-accounts.js'
export { type CodeTableOptions, createCodeTable, kyselyCodes } from './stores/kysely-codes.js'
export { createSessionTable, kyselySessions, type SessionTableOptions } from './stores/kysely-sessions.js'

import { ACCOUNTS } from './accounts.js'
import { ADAPTERS, CLIENTS } from './clients.js'
import { HOSTS } from './hosts.js'
import { MIGRATIONS, PEERS, VERIFIERS } from './migrations.js'
import { OPERATE } from './operate.js'
import { PASSWORDS } from './passwords.js'
import { ROUTES } from './routes.js'
import { START } from './start.js'
import { TESTING } from './testing.js'
import { TOKENS } from './tokens.js'

/** The context of each block, by the name of the block. */
export const CONTEXTS = {
  ...ACCOUNTS,
  ...ADAPTERS,
  ...CLIENTS,
  ...HOSTS,
  ...MIGRATIONS,
  ...OPERATE,
  ...PASSWORDS,
  ...PEERS,
  ...ROUTES,
  ...START,
  ...TESTING,
  ...TOKENS,
  ...VERIFIERS,
}

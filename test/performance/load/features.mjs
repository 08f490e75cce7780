/**
 * The features of a host, each with the programs that work for it. A feature with a `base` is measured as the difference from
 * its base. The names are those of the routes of servers/feature-server.mjs. The example of the page uses those with `planned`.
 */
export const FEATURES = [
  { name: 'guard', uses: ['api'], planned: true, says: 'guarded request: Express and `requireBearer({ tokens })`' },
  { name: 'accounts', base: 'guard', uses: ['api', 'postgres'], planned: true, says: '+ `accounts`, in PostgreSQL' },
  { name: 'revocation-redis', base: 'guard', uses: ['api', 'redis'], planned: true, says: '+ `isRevoked`, in Redis' },
  { name: 'revocation-database', base: 'guard', uses: ['api', 'postgres'], says: '+ `isRevoked`, in PostgreSQL' },
  {
    name: 'accounts-and-revocation',
    base: 'guard',
    uses: ['api', 'postgres', 'redis'],
    says: '+ `accounts` and `isRevoked`, in PostgreSQL and Redis: about the sum of both lines',
  },
  {
    name: 'queries',
    base: 'guard',
    uses: ['api', 'postgres'],
    planned: true,
    says: '+ the work of the route: the two queries of the example',
  },
  {
    name: 'login',
    uses: ['api', 'postgres'],
    planned: true,
    says: 'login: Express, `tokenRouter`, a look-up of the account, no hash',
  },
  { name: 'hash', base: 'login', uses: ['api'], planned: true, says: '+ the argon2id hash' },
  {
    name: 'throttle-redis',
    base: 'login',
    uses: ['api', 'redis'],
    planned: true,
    says: '+ failed-login limits, in Redis instead of memory',
  },
]

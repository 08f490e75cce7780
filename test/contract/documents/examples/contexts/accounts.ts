import type { Contexts } from '../../../../support/documents/examples.js'

export const ACCOUNTS: Contexts = {
  lookup: `interface User { id: string; passwordHash: string; disabled: boolean; scopes: string[] }
    const user: User = { id: 'acc-1', passwordHash: 'x', disabled: false, scopes: ['a'] }
    const db = { users: { findOne: async ({ email }: { email: string }) => email === 'alice@example.com' ? user : null } }`,
  'sql-store': '',
  'knex-store': '',
  'prisma-store': `const record = {
      id: 'acc-1',
      email: 'alice@example.com',
      passwordHash: 'hash-1' as string | null,
      disabled: false,
      scopes: ['reports:read'],
      tokensValidAfter: null as Date | null,
    }
    type Record = typeof record
    type Where = { email: string } | { id: string; passwordHash?: string }
    const fits = (where: Where) => Object.entries(where).every(([name, value]) => record[name as keyof Record] === value)
    const prisma = {
      account: {
        async findUnique<K extends keyof Record>({ where, select }: { where: Where; select: { [k in K]: true } }) {
          const chosen = Object.entries(record).filter(([name]) => name in select)
          return fits(where) ? (Object.fromEntries(chosen) as Pick<Record, K>) : null
        },
        async updateMany({ where, data }: { where: Where; data: Partial<Record> }) {
          if (!fits(where)) return { count: 0 }
          Object.assign(record, data)
          return { count: 1 }
        },
      },
    }`,
  ldap: '',
}

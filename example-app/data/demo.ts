import type { Passwords } from 'express-token-endpoint'
import { type Accounts, createAccountStore } from './account-store.js'
import type { Database } from './databases/schema.js'

export interface DemoAccount {
  email: string
  password: string
  scopes: readonly string[]
}

/** Demo accounts for a server that only this machine can reach, because everybody knows these passwords. */
export const DEMO_ACCOUNTS = {
  reader: { email: 'alice@example.com', password: 'alice-demo-password', scopes: ['statements:read', 'reports:read'] },
  scopeless: { email: 'bob@example.com', password: 'bob-demo-password', scopes: [] },
} as const satisfies Record<string, DemoAccount>

const STATEMENTS = [
  { house_id: 'north', day: '2013-05-02', description: 'Settlement 1041', amount_cents: 125_000 },
  { house_id: 'north', day: '2013-05-02', description: 'Clearing fee', amount_cents: -1_250 },
  { house_id: 'north', day: '2013-05-03', description: 'Settlement 1042', amount_cents: 89_990 },
  { house_id: 'north', day: '2013-05-06', description: 'Settlement 1043', amount_cents: 40_005 },
  { house_id: 'south', day: '2013-05-02', description: 'Settlement 77', amount_cents: 310_000 },
  { house_id: 'south', day: '2013-05-03', description: 'Settlement 78', amount_cents: 9 },
  { house_id: 'south', day: '2013-05-06', description: 'Margin call', amount_cents: -42_500 },
]

/** Adds the demo accounts and their statements in one transaction, if the database has no account yet. */
export async function addDemoData(db: Database, passwords: Passwords): Promise<void> {
  if (!(await createAccountStore(db).isEmpty())) return
  const accounts = await Promise.all(
    Object.values(DEMO_ACCOUNTS).map(async ({ email, password, scopes }) => {
      return { email, scopes, passwordHash: await passwords.hash(password) }
    }),
  )
  await db.transaction().execute(async (trx) => {
    const store = createAccountStore(trx)
    for (const account of accounts) {
      const id = await store.add(account)
      if (id === undefined) continue
      const rows = STATEMENTS.map((row, index) => ({ ...row, id: `${id}-${index + 1}`, account_id: id }))
      await trx.insertInto('statements').values(rows).execute()
    }
  })
}

/** Returns the demo accounts that exist and still have their demo password. */
export async function openDemoAccounts(accounts: Accounts, passwords: Passwords): Promise<DemoAccount[]> {
  const open: DemoAccount[] = []
  for (const demo of Object.values(DEMO_ACCOUNTS)) {
    const account = await accounts.findByEmail(demo.email)
    if (account && (await passwords.verify(demo.password, account.passwordHash))) open.push(demo)
  }
  return open
}

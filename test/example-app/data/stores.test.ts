import { createPasswords } from 'express-token-endpoint'
import { accountStoreContract } from 'express-token-endpoint/testing'
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { type Accounts, createAccountStore } from '../../../example-app/data/account-store.js'
import type { Database } from '../../../example-app/data/databases/schema.js'
import { addDemoData, openDemoAccounts } from '../../../example-app/data/demo.js'
import { createReports, decimalOf } from '../../../example-app/data/reports.js'
import { createStatements } from '../../../example-app/data/statements.js'
import { Outage } from '../../../example-app/errors.js'
import { rejectionOf } from '../../support/failures.js'
import { ALICE, BOB } from '../support.js'
import { DATABASES } from './databases/databases.js'

const passwords = createPasswords()
const CAROL = { email: 'carol@example.com', passwordHash: 'hash-1', scopes: ['a:read', 'b:read'] }

/** Every database must pass these tests. */
for (const { name, skip, use } of DATABASES) {
  describe.skipIf(skip)(name, () => {
    const open = use()
    let db: Database
    let accounts: Accounts

    beforeEach(async () => {
      db = await open()
      accounts = createAccountStore(db)
    })

    const idOf = async ({ email }: { email: string }) => (await accounts.findByEmail(email))?.id ?? ''
    const add = async (email: string) => (await accounts.add({ ...CAROL, email })) ?? ''

    describe('accounts', () => {
      const existing = { ...CAROL, email: 'Carol@Example.com' }
      beforeEach(() => add(existing.email))

      for (const { name, run } of accountStoreContract({ store: () => accounts, existing })) test(name, run)

      test('a new password revokes the tokens issued before, of this account only', async () => {
        const other = { ...CAROL, email: 'dave@example.com' }
        await add(other.email)
        const before = Date.now()
        expect(await accounts.setPasswordHash(CAROL.email, 'hash-2')).toBe(true)
        const { passwordHash, tokensValidAfter } = (await accounts.findById(await idOf(CAROL))) ?? {}
        expect(passwordHash).toBe('hash-2')
        expect(tokensValidAfter?.getTime()).toBeGreaterThanOrEqual(before)
        expect(tokensValidAfter?.getTime()).toBeLessThanOrEqual(Date.now())
        expect(await accounts.findByEmail(other.email)).toMatchObject({
          passwordHash: 'hash-1',
          tokensValidAfter: undefined,
        })
        expect(await accounts.setPasswordHash('nobody@example.com', 'hash')).toBe(false)
      })

      test('a login that reads the old password while the new one is stored gets no token that outlives the change', async () => {
        vi.useFakeTimers({ toFake: ['Date'] })
        onTestFinished(() => void vi.useRealTimers())
        const storedAt: number[] = []
        const slow = db.withPlugin({
          transformQuery({ node }) {
            // The database stores the values 5 ms after they were chosen.
            vi.setSystemTime(Date.now() + 5)
            storedAt.push(Date.now())
            return node
          },
          async transformResult({ result }) {
            vi.setSystemTime(Date.now() + 1)
            return result
          },
        })
        await createAccountStore(slow).setPasswordHash(CAROL.email, 'hash-2')
        const { tokensValidAfter } = (await accounts.findById(await idOf(CAROL))) ?? {}
        expect(tokensValidAfter?.getTime()).toBeGreaterThan(storedAt[0] as number)
      })
    })

    describe('demo data', () => {
      const openAccounts = async () => (await openDemoAccounts(accounts, passwords)).map(({ email }) => email)

      test('is added once when several processes start at the same time', async () => {
        expect(await accounts.isEmpty()).toBe(true)
        await Promise.all([1, 2, 3].map(() => addDemoData(db, passwords)))
        expect(await accounts.isEmpty()).toBe(false)
        const id = await idOf(ALICE)
        const statements = createStatements(db)
        expect(await statements.list('north', id)).toMatchObject([
          { day: '2013-05-02', description: 'Settlement 1041', amountCents: 125_000 },
          { day: '2013-05-02', description: 'Clearing fee', amountCents: -1_250 },
          { day: '2013-05-03', description: 'Settlement 1042', amountCents: 89_990 },
          { day: '2013-05-06', description: 'Settlement 1043', amountCents: 40_005 },
        ])
        expect(await statements.list('south', id)).toHaveLength(3)
        expect(await statements.findHouse('south')).toEqual({ id: 'south', name: 'Clearing House South' })
        expect(await openAccounts()).toEqual([ALICE.email, BOB.email])
        await accounts.setPasswordHash(ALICE.email, await passwords.hash('another password'))
        await addDemoData(db, passwords)
        expect(await openAccounts()).toEqual([BOB.email])
      })

      test('is not added to a database with an account', async () => {
        await add(CAROL.email)
        await addDemoData(db, passwords)
        expect(await openAccounts()).toEqual([])
      })
    })

    describe('statements', () => {
      const insert = (account_id: string, rows: [house_id: string, day: string, amount_cents: number][]) =>
        db
          .insertInto('statements')
          .values(
            rows.map(([house_id, day, amount_cents], index) => {
              return { id: `${account_id}-${index}`, house_id, account_id, day, description: 'x', amount_cents }
            }),
          )
          .execute()

      test('need an existing account and house; a refusal by the database is no outage', async () => {
        const error = await rejectionOf(insert('nobody', [['north', '2013-05-02', 1]]))
        expect(String(error)).toMatch(/foreign key/i)
        expect(error).not.toBeInstanceOf(Outage)
      })

      test('have daily totals by house and day, of one account, exact beyond 32 bits', async () => {
        const ids = [await add(CAROL.email), await add('dave@example.com')] as const
        for (const id of ids) {
          await insert(id, [
            ['south', '2013-05-03', -5],
            ['north', '2013-05-03', 2_147_483_647],
            ['north', '2013-05-03', 2_147_483_647],
            ['north', '2013-05-02', 125_000],
            ['north', '2013-05-02', -1_250],
          ])
        }
        const { dailyTotals } = createReports(db)
        const house = (id: string, name: string, days: object[]) => ({ id, name: `Clearing House ${name}`, days })
        const south = house('south', 'South', [{ day: '2013-05-03', statements: 1, total: '-0.05' }])
        const north = house('north', 'North', [
          { day: '2013-05-02', statements: 2, total: '1237.50' },
          { day: '2013-05-03', statements: 2, total: '42949672.94' },
        ])
        expect(await dailyTotals(ids[0])).toEqual([north, south])
        expect(await dailyTotals(ids[0], 'south')).toEqual([south])
        expect(await dailyTotals('nobody', 'north')).toEqual([{ ...north, days: [] }])
        for (const unknown of ['east', '', "'", '\0', '\ud800'])
          expect(await dailyTotals(ids[0], unknown)).toBeUndefined()
      })
    })
  })
}

test.each([
  ['0', '0.00'],
  ['-5', '-0.05'],
  ['10', '0.10'],
  ['-100', '-1.00'],
  ['9007199254740993', '90071992547409.93'],
])('%s cents are %s', (cents, decimal) => {
  expect(decimalOf(cents)).toBe(decimal)
})

import { describe, expect, test } from 'vitest'
import { createAccountStore } from '../../../example-app/data/account-store.js'
import { createReports, decimalOf } from '../../../example-app/data/reports.js'
import { DATABASES } from './databases/databases.js'

for (const { name, skip, use } of DATABASES) {
  describe.skipIf(skip)(`daily totals in ${name}`, () => {
    const openDatabase = use()

    async function makeReports(rows: [house: string, day: string, cents: number][]) {
      const db = await openDatabase()
      const store = createAccountStore(db)
      const add = async (email: string) => (await store.add({ email, passwordHash: 'none', scopes: [] })) ?? ''
      const [id, other] = [await add('carol@example.com'), await add('dave@example.com')]
      for (const account_id of [id, other]) {
        const values = rows.map(([house_id, day, amount_cents], index) => {
          return { id: `${account_id}-${index}`, house_id, account_id, day, description: 'x', amount_cents }
        })
        if (values.length > 0) await db.insertInto('statements').values(values).execute()
      }
      return { id, reports: createReports(db) }
    }

    test('by house and day, of one account', async () => {
      const { id, reports } = await makeReports([
        ['south', '2013-05-03', -5],
        ['north', '2013-05-03', 1],
        ['north', '2013-05-02', 125_000],
        ['north', '2013-05-02', -1_250],
      ])
      const north = {
        id: 'north',
        name: 'Clearing House North',
        days: [
          { day: '2013-05-02', statements: 2, total: '1237.50' },
          { day: '2013-05-03', statements: 1, total: '0.01' },
        ],
      }
      const south = {
        id: 'south',
        name: 'Clearing House South',
        days: [{ day: '2013-05-03', statements: 1, total: '-0.05' }],
      }
      expect(await reports.dailyTotals(id)).toEqual([north, south])
      expect(await reports.dailyTotals(id, 'south')).toEqual([south])
      expect(await reports.dailyTotals('nobody', 'north')).toEqual([{ ...north, days: [] }])
    })

    test('undefined for an unknown house', async () => {
      const { id, reports } = await makeReports([])
      for (const house of ['east', '', "'", '\0', '\ud800'])
        expect(await reports.dailyTotals(id, house)).toBeUndefined()
    })

    test('exact beyond 32 bits', async () => {
      const large = 2_147_483_647
      const { id, reports } = await makeReports(Array.from({ length: 3 }, () => ['north', '2013-05-02', large]))
      expect((await reports.dailyTotals(id, 'north'))?.[0]?.days).toEqual([
        { day: '2013-05-02', statements: 3, total: '64424509.41' },
      ])
    })
  })
}

test.each([
  ['0', '0.00'],
  ['5', '0.05'],
  ['-5', '-0.05'],
  ['10', '0.10'],
  ['-100', '-1.00'],
  ['9007199254740993', '90071992547409.93'],
])('%s cents are %s', (cents, decimal) => {
  expect(decimalOf(cents)).toBe(decimal)
})

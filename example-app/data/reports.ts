import { sql } from 'kysely'
import type { Database } from './databases/schema.js'
import { createStatements, type House } from './statements.js'

export interface DailyTotal {
  /** ISO 8601 date. */
  day: string
  statements: number
  /** Decimal number with two places, as text because a JSON number could be rounded. */
  total: string
}

export interface HouseReport extends House {
  /** Days with a statement, oldest first. */
  days: DailyTotal[]
}

export interface Reports {
  /**
   * Returns an account's daily totals in every house, or in one house.
   * Returns undefined when no house has this id.
   */
  dailyTotals(accountId: string, houseId?: string): Promise<HouseReport[] | undefined>
}

export function createReports(db: Database): Reports {
  const { findHouse } = createStatements(db)
  const allHouses = () => db.selectFrom('houses').selectAll().orderBy('id').execute()

  /** The database adds whole cents and returns text, so large totals stay exact. */
  const totals = (accountId: string, houses: readonly House[]) =>
    db
      .selectFrom('statements')
      .select([
        'house_id as houseId',
        'day',
        sql<number>`cast(count(*) as integer)`.as('statements'),
        sql<string>`cast(sum(amount_cents) as text)`.as('cents'),
      ])
      .where('account_id', '=', accountId)
      .where(
        'house_id',
        'in',
        houses.map(({ id }) => id),
      )
      .groupBy(['house_id', 'day'])
      .orderBy('day')
      .execute()

  return {
    async dailyTotals(accountId, houseId) {
      const houses = houseId === undefined ? await allHouses() : [await findHouse(houseId)]
      if (!areKnown(houses)) return undefined
      const rows = await totals(accountId, houses)
      return houses.map(({ id, name }) => ({
        id,
        name,
        days: rows
          .filter((row) => row.houseId === id)
          .map(({ day, statements, cents }) => ({ day, statements, total: decimalOf(cents) })),
      }))
    },
  }
}

function areKnown(houses: readonly (House | undefined)[]): houses is House[] {
  return houses.every((house) => house !== undefined)
}

/** Converts whole cents to a decimal number. */
export function decimalOf(cents: string): string {
  const [, sign, digits = ''] = /^(-?)(\d+)$/.exec(cents) ?? []
  const padded = digits.padStart(3, '0')
  return `${sign}${padded.slice(0, -2)}.${padded.slice(-2)}`
}

import { sql } from 'kysely'
import type { Database } from './databases/schema.js'
import { createStatements, type House } from './statements.js'

export interface DailyTotal {
  /** ISO 8601, the date alone. */
  day: string
  statements: number
  /** A decimal number with two places: as a number in JSON it would be rounded by whoever reads it. */
  total: string
}

export interface HouseReport extends House {
  /** Those with a statement, oldest first. */
  days: DailyTotal[]
}

export interface Reports {
  /**
   * An account's daily totals in every house, or in one.
   * @returns undefined when there is no such house
   */
  dailyTotals(accountId: string, houseId?: string): Promise<HouseReport[] | undefined>
}

export function createReports(db: Database): Reports {
  const { findHouse } = createStatements(db)
  const allHouses = () => db.selectFrom('houses').selectAll().orderBy('id').execute()

  /** Added up by the database in whole cents, and handed over as text: exact, however large. */
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

/** Whole cents as a decimal number. */
export function decimalOf(cents: string): string {
  const [, sign, digits = ''] = /^(-?)(\d+)$/.exec(cents) ?? []
  const padded = digits.padStart(3, '0')
  return `${sign}${padded.slice(0, -2)}.${padded.slice(-2)}`
}

import { withMethods } from '../options/checks.js'
import { PAGE } from '../options/misuse.js'
import { named } from '../options/read-options.js'

/** The methods of a Kysely that the stores call. */
interface AnyKysely {
  selectFrom: unknown
  updateTable: unknown
}

const kysely = withMethods<AnyKysely>('a Kysely, like new Kysely({ dialect: new PostgresDialect({ pool }) })', [
  'selectFrom',
  'updateTable',
])

/** @throws TypeError for another object than a Kysely */
export function kyselyOption(caller: string, db: unknown): void {
  named(`${caller}: the database`, kysely, db, PAGE.stores)
}

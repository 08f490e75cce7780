import { randomUUID } from 'node:crypto'
import { createPasswords } from 'express-token-endpoint'

const { openDatabase } = await import('../../../../example-app/dist/data/databases/database.js')
const { createAccountStore } = await import('../../../../example-app/dist/data/account-store.js')

const HOUSES = ['north', 'south']
const STATEMENTS = 3
export const SCOPES = ['statements:read', 'reports:read']

/**
 * Adds accounts with different passwords and statements. The last account has no scope.
 * Returns their credentials and the statements and totals that each must get.
 */
export async function addPeople(databaseUrl, count) {
  const db = await openDatabase({ databaseUrl }, () => {})
  try {
    const store = createAccountStore(db)
    const passwords = createPasswords()
    const people = []
    // One hash at a time never fills the hash queue.
    for (let number = 0; number < count; number++) {
      const scopes = number === count - 1 ? [] : SCOPES
      people.push(await addPerson({ db, store, passwords, number, scopes }))
    }
    return people
  } finally {
    await db.destroy()
  }
}

async function addPerson({ db, store, passwords, number, scopes }) {
  const email = `person${number}@example.com`
  const password = `password of ${randomUUID()}`
  const id = await store.add({ email, passwordHash: await passwords.hash(password), scopes })
  const houses = Object.fromEntries(HOUSES.map((house) => [house, statementsOf(number, house)]))
  const rows = HOUSES.flatMap((house) =>
    houses[house].map(({ amountCents, ...row }) => {
      return { ...row, amount_cents: amountCents, house_id: house, account_id: id }
    }),
  )
  await db.insertInto('statements').values(rows).execute()
  const statements = Object.fromEntries(HOUSES.map((house) => [house, JSON.stringify(houses[house])]))
  const totals = HOUSES.map((house) => [house, houses[house].map(({ amountCents }) => (amountCents / 100).toFixed(2))])
  return { id, email, password, scopes, statements, totals }
}

const statementsOf = (number, house) =>
  Array.from({ length: STATEMENTS }, (_, index) => ({
    id: `${house}-${number}-${index}`,
    day: `2013-05-0${index + 1}`,
    description: `Settlement of ${number} in ${house}`,
    amountCents: number * 1000 + index,
  }))

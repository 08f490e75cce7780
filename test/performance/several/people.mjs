import { randomUUID } from 'node:crypto'
import { createPasswords } from 'express-token-endpoint'
import { createTokenClient } from 'express-token-endpoint/client'

const { openDatabase } = await import('../../../example-app/dist/data/databases/database.js')
const { createAccountStore } = await import('../../../example-app/dist/data/account-store.js')

const SCOPES = ['statements:read', 'reports:read']

/**
 * Adds accounts with different passwords, each with a statement. The last account has no scope.
 * @returns their credentials, and the `statements` that a response must have
 */
export async function addPeople(databaseUrl, count) {
  const db = await openDatabase({ databaseUrl }, () => {})
  const store = createAccountStore(db)
  const passwords = createPasswords()
  const people = []
  // One hash at a time never fills the hash queue.
  while (people.length < count) {
    const amount = people.length
    const [email, password] = [`person${amount}@example.com`, `password of ${randomUUID()}`]
    const scopes = amount === count - 1 ? [] : SCOPES
    const id = await store.add({ email, passwordHash: await passwords.hash(password), scopes })
    const statement = { id: `statement-${amount}`, day: '2013-05-01', description: `Settlement of ${amount}` }
    const row = { ...statement, amount_cents: amount, house_id: 'north', account_id: id }
    await db.insertInto('statements').values(row).execute()
    people.push({ id, email, password, statements: JSON.stringify([{ ...statement, amountCents: amount }]) })
  }
  await db.destroy()
  return people
}

/** Signs people in one after the other at a port. Returns them with their tokens. */
export async function signedIn(port, people) {
  const found = []
  for (const person of people) {
    const { email, password } = person
    const client = createTokenClient({ url: `http://127.0.0.1:${port}`, credentials: () => ({ email, password }) })
    found.push({ ...person, token: await client.token() })
  }
  return found
}

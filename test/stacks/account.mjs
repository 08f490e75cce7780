import { hash } from '@node-rs/bcrypt'

/** The account of every stack. */
export const EMAIL = 'alice@example.com'
export const PASSWORD = 'Correct-horse-9-battery'

/** Hashes the password with the lowest cost, because no row measures time. */
export const hashed = () => hash(PASSWORD, 4)

/** Tells the program that started the stack where it listens. */
export function listening(port) {
  process.stdout.write(`listening on http://127.0.0.1:${port}\n`)
}

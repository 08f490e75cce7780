import { isAuthError } from '../errors/auth-error.js'
import type { Message } from '../options/misuse.js'
import { misuse, PAGE } from '../options/misuse.js'

/** Errors of databases by their codes: those of PostgreSQL are texts, those of MySQL and SQL Server are numbers. SQLite has only messages. */
const KNOWN = {
  isThere: { codes: [1050, 1061, 1913, 2714], sqlite: /already exists/ },
  noTable: { codes: ['42P01', 1146, 208], sqlite: /no such table/ },
  noColumn: { codes: ['42703', 1054, 207], sqlite: /no such column|has no column named/ },
  isTaken: { codes: ['23505', 1062, 1586, 2627, 2601], sqlite: /UNIQUE constraint failed/ },
  isRequired: { codes: ['23502', 1364, 1048, 515], sqlite: /NOT NULL constraint failed/ },
  isReadOnly: { codes: ['25006', 1290, 1792, 1836, 3906], sqlite: /readonly database/ },
}

type ErrorKind = keyof typeof KNOWN

/** Returns whether an error of a database is of a kind. */
export function isError(kind: ErrorKind, error: unknown): error is Error {
  if (!(error instanceof Error)) return false
  const { code, errno, number } = error as { code?: unknown; errno?: unknown; number?: unknown }
  const { codes, sqlite } = KNOWN[kind]
  return codes.some((one) => [code, errno, number].includes(one)) || sqlite.test(error.message)
}

/** The hints of a store for its errors: each says how to repair it. */
export type Hints = Partial<Record<ErrorKind, Message>>

/** Returns a store whose known errors say what to do, and whose errors have no values. */
export function withHints<Store extends object>(store: Store, hints: Hints): Store {
  const wrapped = Object.entries(store).map(([name, method]) => [
    name,
    async (...args: unknown[]) => {
      try {
        return await method(...args)
      } catch (error) {
        throw explained(error, hints)
      }
    },
  ])
  return Object.fromEntries(wrapped)
}

function explained(error: unknown, hints: Hints): unknown {
  // A refusal of the host's function, whose words are for the client.
  if (!(error instanceof Error) || isAuthError(error)) return error
  // mysql2 adds the statement with its values to an error, and pg adds the row.
  for (const member of ['sql', 'detail']) Reflect.deleteProperty(error, member)
  for (const [kind, hint] of Object.entries(hints) as [ErrorKind, Message][])
    if (isError(kind, error)) return Object.assign(misuse(hint, PAGE.stores), { cause: error })
  return error
}

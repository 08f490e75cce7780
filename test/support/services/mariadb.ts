import { createConnection } from 'mysql2/promise'
import { onTestFinished } from 'vitest'
import { isMissing } from './missing.js'
import { HAS_MARIADB, HOW_TO_GET_MARIADB, mariadbServer } from './servers/mariadb-server.mjs'

/** True for `skipIf` when MariaDB is not installed. */
export const NO_MARIADB = isMissing(HAS_MARIADB, 'MariaDB', HOW_TO_GET_MARIADB)

/** Starts a temporary MariaDB with the empty database `app`, and stops it when the test ends. */
export async function mariadb(): Promise<{ port: number }> {
  const { port, remove } = await mariadbServer()
  onTestFinished(remove)
  const connection = await createConnection({ host: '127.0.0.1', port, user: 'root' })
  await connection.query('create database app character set utf8mb4')
  await connection.end()
  return { port }
}

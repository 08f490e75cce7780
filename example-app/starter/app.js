import { randomUUID } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import express from 'express'
import { createAuth } from 'express-token-endpoint'
import { createTables, kyselyAccounts, kyselyStore } from 'express-token-endpoint/kysely'
import { Kysely, SqliteDialect } from 'kysely'
import Sqlite from 'libsql'

const TABLE = 'create table if not exists users (id text primary key, email text not null unique, password_hash text)'
const CLIENT = fileURLToPath(new URL('.', import.meta.resolve('express-token-endpoint/client')))
const CSP = "default-src 'self'; style-src 'unsafe-inline'; frame-ancestors 'none'"

/** Creates the app. `file` is the database, `issuer` is the address of the app, and `mail` sends a mail. */
export async function createApp({ file, issuer, secret, mail }) {
  const database = new Sqlite(file)
  database.exec(TABLE)
  const db = new Kysely({ dialect: new SqliteDialect({ database }) })
  await createTables(db)
  const normalizeEmail = (email) => email.toLowerCase()
  const accounts = kyselyAccounts(db, { table: 'users', normalizeEmail, create: () => ({ id: randomUUID() }) })
  const features = { refresh: 'cookie', signUp: true, passwordReset: true }
  const auth = createAuth({ issuer, secret, accounts, store: kyselyStore(db), mail, ...features })

  const app = express().use(auth.router).use('/token-client', express.static(CLIENT))
  app.get('/me', auth.guard(), (req, res) => res.json({ email: auth.userOf(req).email }))
  const setHeaders = (res) => res.setHeader('Content-Security-Policy', CSP)
  return app.use(express.static(`${import.meta.dirname}/page`, { setHeaders }))
}

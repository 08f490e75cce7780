// Tests stores/kysely-accounts.ts
import express from 'express'
import { createAuth, SignInRefusal } from 'express-token-endpoint'
import { kyselyAccounts } from 'express-token-endpoint/kysely'
import { fastPasswords } from 'express-token-endpoint/testing'
import { Kysely, SqliteDialect, sql } from 'kysely'
import Database from 'libsql'
import { expect, it, onTestFinished } from 'vitest'
import { asJson } from '../../support/host.js'
import { bearer, client, listen } from '../../support/http.js'

interface Tables {
  users: { id: string; email: string; password_hash: string; verified: number; role: string }
}

it('members that "read" returns have their types in beforeSignIn and in userOf', async () => {
  const db = new Kysely<Tables>({ dialect: new SqliteDialect({ database: new Database(':memory:') as never }) })
  onTestFinished(() => db.destroy())
  await sql`create table users (id text, email text, password_hash text, verified int, role text)`.execute(db)
  const passwords = fastPasswords()
  const password_hash = await passwords.hash('secret')
  const row = { password_hash, verified: 1, role: 'admin' }
  await db
    .insertInto('users')
    .values({ id: '1', email: 'a@example.com', ...row })
    .execute()
  await db
    .insertInto('users')
    .values({ id: '2', email: 'b@example.com', ...row, verified: 0 })
    .execute()
  const accounts = kyselyAccounts(db, {
    table: 'users',
    read: ({ role, verified, email }) => ({ scopes: [role], verified: verified === 1, address: { email } }),
  })
  const auth = createAuth({
    issuer: 'https://api.example.com',
    keys: { alg: 'HS256', secret: 'secret s'.repeat(4) },
    accounts,
    passwords,
    paths: { token: '/token' },
    beforeSignIn({ account }) {
      if (!account.verified) throw new SignInRefusal('email_not_verified')
    },
  })
  const app = express().use(auth.router)
  app.get('/me', auth.guard({ scope: 'admin' }), (req, res) => {
    const { address }: { address: { email: string } } = auth.userOf(req)
    res.json(address)
  })
  const { port } = await listen(app)
  const send = client(port)
  const signIn = (email: string) => send({ method: 'POST', path: '/token', ...asJson({ email, password: 'secret' }) })
  expect(JSON.parse((await signIn('b@example.com')).body)).toMatchObject({ code: 'email_not_verified' })
  const { authenticationToken } = JSON.parse((await signIn('a@example.com')).body)
  const me = await send(bearer(authenticationToken, '/me'))
  expect(JSON.parse(me.body)).toEqual({ email: 'a@example.com' })
})

it('a member that an account may not have is an error of the type', () => {
  const db = new Kysely<Tables>({ dialect: new SqliteDialect({ database: new Database(':memory:') as never }) })
  // @ts-expect-error: "disabled" is a boolean
  expect(kyselyAccounts(db, { table: 'users', read: ({ verified }) => ({ disabled: verified }) })).toBeDefined()
})

import type { Contexts } from '../../../../support/documents/examples.js'
import { ISSUER, SECRET } from '../../../../support/fixtures.js'

/** The declarations of the README's `app.mjs`. */
const APP = `import 'express-token-endpoint/express'
import express from 'express'
import { authOf, createPasswords, createTokenIssuer, memoryAccounts, requireBearer, tokenRouter } from 'express-token-endpoint'
export const tokens = createTokenIssuer({ issuer: '${ISSUER}', keys: { alg: 'HS256', secret: '${SECRET}' } })
const passwords = createPasswords()
const accounts = memoryAccounts([{ id: 'acc-1', email: 'alice@example.com', passwordHash: await passwords.hash('secret') }])
export const app = express()`

export const START: Contexts = {
  'quick-start': '',
  'readme-guards': APP,
  'readme-lookup': `${APP}
const user = { email: 'alice@example.com', id: 'acc-1', passwordHash: await passwords.hash('secret'), scopes: ['a'] }
const db = { users: { findOne: async (/** @type {{ email: string }} */ { email }) => (email === user.email ? user : null) } }`,
  'readme-verifier': APP,
  'readme-test': '',
}

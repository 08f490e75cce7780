import express from 'express'
import { requireBearer, tokenRouter } from 'express-token-endpoint'
import mongoose from 'mongoose'
import { ACCOUNTS, fastPasswords } from '../../support/fixtures.js'
import { SCOPE } from '../kit.js'

const schema = new mongoose.Schema({
  _id: String,
  email: String,
  passwordHash: { type: String, default: null },
  disabled: Boolean,
  scopes: [String],
  claims: { type: mongoose.Schema.Types.Mixed },
  tokensValidAfter: Date,
  lastSeen: { type: Date, default: () => new Date(0) },
})
const Account = mongoose.model('Account', schema)

/** A store whose accounts are documents, as queries without `lean()` return them. They need no database. */
const documents = Object.values(ACCOUNTS).map(({ id, ...account }) =>
  Account.hydrate({ _id: id, claims: { tenant: 'north' }, tokensValidAfter: new Date(0), ...account }),
)
const store = {
  findByEmail: async (email) => documents.find((document) => document.email === email),
  findById: async (id) => documents.find((document) => document.id === id),
}

export function withDocuments({ tokens, authOf }) {
  const app = express().use(tokenRouter({ tokens, accounts: store, passwords: fastPasswords() }))
  app.get('/reports', requireBearer({ tokens, accounts: store, scope: SCOPE }), (req, res) => {
    const { tenant } = authOf(req).claims
    res.json({ account: authOf(req).accountId, tenant, user: req.user, type: req.user instanceof Account })
  })
  return { app }
}

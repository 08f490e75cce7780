// Serves an app with the routes that mail: known, disabled and unknown addresses, as many of each as the first argument says.
import express from 'express'
import { createAuth, createPasswords, memoryAccounts, memoryStore } from 'express-token-endpoint'
import { respond, serve } from './serve.mjs'

const count = Number(process.argv[2])
const passwords = createPasswords({ hashers: [{ accepts: () => true, verify: () => true, hash: () => 'free' }] })
/** Addresses of the same length, because a longer body takes longer. */
const addressesOf = (kind) =>
  Array.from({ length: count }, (_, i) => `${kind}${String(i).padStart(6, '0')}@example.com`)
const addresses = { known: addressesOf('k'), disabled: addressesOf('d'), unknown: addressesOf('u') }
const accountOf = (email) => ({ id: `acc-${email.slice(0, 7)}`, email, passwordHash: 'free' })
const accounts = memoryAccounts([
  ...addresses.known.map(accountOf),
  ...addresses.disabled.map((email) => ({ ...accountOf(email), disabled: true })),
])

const app = express().set('trust proxy', 1)
const { router } = createAuth({
  issuer: 'https://api.example.com',
  secret: 'a secret that signs in this bench',
  accounts,
  passwords,
  store: memoryStore(),
  mail: async () => {},
  onEvent() {},
  signUp: true,
  passwordReset: true,
  signInByMail: true,
  paths: { token: '/token', account: '/account' },
})
app.use(router)
app.get('/next', respond)
serve(app, { addresses })

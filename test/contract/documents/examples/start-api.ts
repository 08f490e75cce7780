import express from 'express'
import { type AuthOptions, authOf, createAuth, memoryAccounts } from 'express-token-endpoint'
import { fastPasswords, ISSUER, SECRET } from '../../../support/fixtures.js'
import { listen } from '../../../support/http.js'

/** Starts an API with the account of the contexts, for the blocks that call one. The blocks read its URL from the environment. */
export async function startApi(options: Partial<AuthOptions> = {}) {
  const issued: string[] = []
  let refusals = 0
  const revoked = new Set<string>()
  let isRefusing = false
  const auth = createAuth({
    issuer: ISSUER,
    keys: { alg: 'HS256', secret: SECRET },
    accounts: memoryAccounts([{ id: 'acc-1', email: 'alice@example.com', passwordHash: 'plain:secret' }]),
    passwords: fastPasswords(),
    isRevoked: ({ id }) => isRefusing || revoked.has(id),
    ...options,
    onEvent(event) {
      if (event.type === 'token.issued') issued.push(event.tokenId)
      if (event.type === 'token.refused') refusals++
    },
  })
  const { tokens } = auth
  const guard = auth.guard()
  const app = express().use(auth.router)
  app.get(['/me', '/statements'], guard, (req, res) => void res.json({ account: authOf(req).accountId }))
  app.get('/moved', ({ headers }, res) => res.redirect(`https://${headers.host}/statements`))
  app.post('/sign-out', guard, (req, res) => {
    revoked.add(authOf(req).id)
    res.sendStatus(204)
  })
  app.put('/password', guard, async (req, res) => {
    const { token, expiresAt } = await tokens.issue({ accountId: authOf(req).accountId })
    res.json({ authenticationToken: token, expiration: expiresAt })
  })
  app.post('/statements', guard, express.json(), (req, res) => void res.status(201).json(req.body))
  const { url, server } = await listen(app)
  Object.assign(process.env, { API_URL: url, API_EMAIL: 'alice@example.com', API_PASSWORD: 'secret' })
  return {
    url,
    server,
    guard,
    logins: () => issued.length,
    refusals: () => refusals,
    /** Revokes all tokens that the API has issued. */
    revokeAll: () => void issued.map((id) => revoked.add(id)),
    /** Refuses all tokens from now on, also new tokens. */
    refuseAll() {
      isRefusing = true
    },
  }
}

import type { Contexts } from '../../../../support/documents/examples.js'

export const TESTING: Contexts = {
  'store-contract': `import { memoryAccounts } from 'express-token-endpoint'
    const accounts = memoryAccounts([{ id: 'acc-1', email: 'alice@example.com', passwordHash: 'hash-1' }])`,
  'store-contract-node': `import { memoryAccounts } from 'express-token-endpoint'
    const alice = { id: 'acc-1', email: 'alice@example.com', passwordHash: 'hash-1', scopes: ['reports:read'] }
    const openStore = async () => memoryAccounts([alice])`,
  'testing-client': `import type { TokenClient } from 'express-token-endpoint/client'
    const readStatements = async (api: TokenClient) => (await api.fetch('/statements')).json()`,
  'testing-vitest': `import express from 'express'
    import { authOf, requireBearer, type TokenVerifier } from 'express-token-endpoint'
    const createApp = ({ tokens }: { tokens: TokenVerifier }) =>
      express().get('/reports', requireBearer({ tokens, scope: 'reports:read' }), (req, res) => {
        res.json({ reportsOf: authOf(req).accountId })
      })`,
  'testing-node': `import express from 'express'
    import { authOf, requireBearer, type TokenRouterOptions, tokenRouter } from 'express-token-endpoint'
    function createApp({ revoked, ...login }: TokenRouterOptions & { revoked: Set<string> }) {
      const guard = requireBearer({ tokens: login.tokens, isRevoked: ({ id }) => revoked.has(id) })
      const app = express().use(tokenRouter(login))
      app.post('/sign-out', guard, (req, res) => void res.json(revoked.add(authOf(req).id).size))
      return app.get('/statements', guard, (_req, res) => void res.json([]))
    }`,
}

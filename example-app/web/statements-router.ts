import { Router } from 'express'
import { type AuthObserver, authOf, requireBearer, type Sessions, type TokenVerifier } from 'express-token-endpoint'
import type { Accounts } from '../data/account-store.js'
import type { Statements } from '../data/statements.js'
import { sendProblem } from './problem.js'

export interface StatementsDependencies {
  tokens: TokenVerifier
  accounts: Accounts
  statements: Statements
  sessions: Sessions
  onEvent: AuthObserver
}

/** Creates the statements router. All houses share the accounts and the issuer, so one token works for every house. */
export function statementsRouter({ tokens, accounts, statements, sessions, onEvent }: StatementsDependencies): Router {
  const router = Router()
  const guard = requireBearer({ tokens, accounts, sessions, scope: 'statements:read', onEvent })

  router.get('/api/v2013/houses/:house/statements', guard, async (req, res) => {
    const house = await statements.findHouse(req.params.house)
    if (!house) return sendProblem(res, 404, 'unknown_house')
    const list = await statements.list(house.id, authOf(req).accountId)
    res.set('Cache-Control', 'no-store').json({ house, statements: list })
  })

  return router
}

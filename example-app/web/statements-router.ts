import { Router } from 'express'
import type { Auth } from 'express-token-endpoint'
import type { Statements } from '../data/statements.js'
import { sendProblem } from './problem.js'

/** Creates the statements router. All houses share the accounts and the issuer, so one token works for every house. */
export function statementsRouter(auth: Auth, statements: Statements): Router {
  const router = Router()

  const guard = auth.guard({ scope: 'statements:read', apiKeys: true })
  router.get('/api/v2013/houses/:house/statements', guard, async (req, res) => {
    const house = await statements.findHouse(req.params.house)
    if (!house) return sendProblem(res, 404, 'unknown_house')
    const list = await statements.list(house.id, auth.userOf(req).id)
    res.set('Cache-Control', 'no-store').json({ house, statements: list })
  })

  return router
}

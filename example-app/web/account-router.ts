import { Router } from 'express'
import type { Auth } from 'express-token-endpoint'

/** Creates a router with the account of the token, for a page whose user has not typed the address. */
export function accountRouter(auth: Auth): Router {
  const router = Router()
  router.get('/api/v2013/account', auth.guard(), (req, res) => {
    res.set('Cache-Control', 'no-store').json({ email: auth.userOf(req).email })
  })
  return router
}

import { Router } from 'express'
import type { Auth, Store } from 'express-token-endpoint'

/** Creates a router with the account of the token, for a page whose user has not typed the address. */
export function accountRouter(auth: Auth, { factors }: Pick<Store, 'factors'>): Router {
  const router = Router()
  router.get('/api/v2013/account', auth.guard(), async (req, res) => {
    const { id, email } = auth.userOf(req)
    const list = await factors.list(id)
    res.set('Cache-Control', 'no-store').json({ email, secondFactor: list.some(({ kind }) => kind === 'totp') })
  })
  return router
}

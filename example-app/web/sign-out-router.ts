import { Router } from 'express'
import { type AuthObserver, authOf, requireBearer, type TokenVerifier } from 'express-token-endpoint'
import type { Accounts } from '../data/account-store.js'
import type { Revocation } from '../data/revocation.js'

export interface SignOutDependencies {
  tokens: TokenVerifier
  accounts: Accounts
  revocation: Revocation
  onEvent: AuthObserver
}

/** Creates a router that revokes the request's own token. Other tokens of the account stay valid. */
export function signOutRouter({ tokens, accounts, revocation, onEvent }: SignOutDependencies): Router {
  const router = Router()
  const guard = requireBearer({ tokens, accounts, isRevoked: revocation.isRevoked, onEvent })

  router.post('/api/v2013/sign-out', guard, async (req, res) => {
    await revocation.revoke(authOf(req))
    res.set('Cache-Control', 'no-store').sendStatus(204)
  })

  return router
}

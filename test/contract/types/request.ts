import 'express-token-endpoint/express'
import express, { type Request, type RequestHandler, type Response } from 'express'
import { type Account, authOf, createTokenVerifier, requireBearer, type VerifiedToken } from 'express-token-endpoint'
import { expectTypeOf } from 'vitest'

// Read by the compiler, never run: what a strict host sees of a guarded request, without a cast.

const tokens = createTokenVerifier({ issuer: 'https://api.example.com', keys: { alg: 'HS256', secret: 'text' } })
const guard = requireBearer({ tokens })
const app = express()

app.get('/houses/:house', guard, (req, res) => {
  expectTypeOf(req.auth).toEqualTypeOf<VerifiedToken | undefined>()
  expectTypeOf(authOf(req)).toEqualTypeOf<VerifiedToken>()
  expectTypeOf(req.params).toEqualTypeOf<{ house: string }>()
  // @ts-expect-error -- an optional guard lets visitors through
  req.auth.accountId
  // @ts-expect-error -- a verified token is shared between requests
  authOf(req).accountId = 'acc-2'
  // @ts-expect-error -- and its scopes too
  authOf(req).scopes.push('more')
  expectTypeOf(authOf(req).expiresAt).toEqualTypeOf<Date>()
  expectTypeOf(authOf(req).claims['tenant']).toEqualTypeOf<unknown>()
  res.end()
})

// The guard works in any place of a middleware.
app.use(guard)
app.use('/reports', [guard, guard])
express.Router().all('/', guard)
export const asHandler: RequestHandler = guard

interface Typed extends Request<{ id: string }, { total: number }, { amount: number }, { page?: string }> {}
app.post('/orders/:id', guard, (req: Typed, res: Response<{ total: number }>) => {
  expectTypeOf(req.body.amount).toEqualTypeOf<number>()
  expectTypeOf(req.auth?.accountId).toEqualTypeOf<string | undefined>()
  res.json({ total: 1 })
})

/** A type that a host with `accounts` may declare for `req.user`. */
export type User = Omit<Account, 'passwordHash'>
expectTypeOf<keyof User>().toEqualTypeOf<
  'id' | 'email' | 'disabled' | 'scopes' | 'claims' | 'lifetime' | 'tokensValidAfter'
>()

authOf({ auth: undefined })

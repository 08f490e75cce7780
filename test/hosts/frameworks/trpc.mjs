import { initTRPC, TRPCError } from '@trpc/server'
import { createExpressMiddleware } from '@trpc/server/adapters/express'
import express from 'express'
import { AuthError } from 'express-token-endpoint'

const t = initTRPC.context().create({
  // The code of the refusal, in addition to the code of tRPC.
  errorFormatter: ({ shape, error }) => ({ ...shape, data: { ...shape.data, refusal: error.cause?.code } }),
})

const appRouter = t.router({ account: t.procedure.query(({ ctx }) => ctx.auth.accountId) })

const CODES = { 400: 'BAD_REQUEST', 401: 'UNAUTHORIZED', 403: 'FORBIDDEN', 503: 'SERVICE_UNAVAILABLE' }

/** createContext authenticates, and sets the headers of a refusal. */
export function withContext({ router, guard }) {
  async function createContext({ req, res }) {
    try {
      return { auth: await guard.authenticate(req) }
    } catch (cause) {
      if (!(cause instanceof AuthError)) throw cause
      for (const [name, value] of Object.entries(cause.headers)) res.setHeader(name, value)
      throw new TRPCError({ code: CODES[cause.status], message: cause.message, cause })
    }
  }
  const app = express().use(router)
  app.use('/trpc', createExpressMiddleware({ router: appRouter, createContext }))
  return { app }
}

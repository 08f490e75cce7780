import fastifyExpress from '@fastify/express'
import fastify from 'fastify'

const listen = async (app) => ({ url: await app.listen({ port: 0, host: '127.0.0.1' }), close: () => app.close() })

/** Fastify with @fastify/express: the router and the guard are Express middleware. */
export async function withExpress({ router, guard, authOf }) {
  const app = fastify()
  await app.register(fastifyExpress)
  app.use(router)
  app.use('/reports', guard)
  app.get('/reports', async (request) => ({ account: authOf(request.raw).accountId }))
  return listen(app)
}

/** Fastify with a hook. Fastify's error handler sends the status and the headers of an error. */
export async function withHook({ router, guard, authOf }) {
  const app = fastify()
  await app.register(fastifyExpress)
  app.use(router)
  app.get('/reports', { onRequest: (request) => guard.authenticate(request.raw) }, async (request) => ({
    account: authOf(request.raw).accountId,
  }))
  return listen(app)
}

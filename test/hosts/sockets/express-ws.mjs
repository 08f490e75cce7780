import { createServer } from 'node:http'
import express from 'express'
import expressWs from 'express-ws'

function create({ router, authOf, closeWhenEnded }, setUp) {
  const app = express().use(router)
  const server = createServer(app)
  expressWs(app, server, { leaveRouterUntouched: true })
  setUp(app, (ws, req) => {
    ws.once(
      'close',
      closeWhenEnded(authOf(req), ({ code }) => ws.close(4401, code)),
    )
    ws.send(authOf(req).accountId)
  })
  return { app: server, path: '/reports' }
}

/** express-ws accepts the connection before a route sees it, so a refusal closes the connection with a code. */
export const withAuthenticate = (kit) =>
  create(kit, (app, serve) => {
    app.ws('/reports', async (ws, req) => {
      try {
        await kit.guard.authenticate(req)
        serve(ws, req)
      } catch ({ status, code }) {
        ws.close(4000 + status, code)
      }
    })
  })

/** The guard as a middleware. express-ws closes the connection without a code. */
export const withGuard = (kit) =>
  create(kit, (app, serve) => {
    app.use('/reports', kit.guard)
    app.ws('/reports', serve)
  })

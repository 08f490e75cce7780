import { createServer } from 'node:http'
import express from 'express'
import expressWs from 'express-ws'
import { Server } from 'socket.io'
import { WebSocketServer } from 'ws'

const appWith = (router) => express().set('trust proxy', 1).use(router)

/** Serves a WebSocket until its token ends, as the page on sockets does. */
function serveUntilEnded(ws, req, closeWhenEnded) {
  if (ws.readyState !== 1) return
  const end = closeWhenEnded(req, ({ code }) => {
    ws.removeAllListeners('message')
    ws.close(4401, code)
    setTimeout(() => ws.terminate(), 1000).unref()
  })
  ws.once('close', end)
  ws.send(req.auth.accountId)
}

/** A browser sends the token as its first message. */
export function withFirstMessage({ router, guard, closeWhenEnded }) {
  const app = appWith(router)
  const server = createServer(app)
  new WebSocketServer({ server }).on('connection', (ws, req) => {
    ws.on('error', () => {})
    Object.setPrototypeOf(req, app.request)
    ws.once('message', async (token) => {
      if (token.length > 0) req.headers.authorization = `Bearer ${token}`
      try {
        await guard.authenticate(req)
        serveUntilEnded(ws, req, closeWhenEnded)
      } catch ({ status, code }) {
        ws.close(4000 + status, code)
      }
    })
  })
  return { app: server, path: '/' }
}

function onExpressWs({ router, closeWhenEnded }, setUp) {
  const app = appWith(router)
  const server = createServer(app)
  const { getWss } = expressWs(app, server, { leaveRouterUntouched: true })
  getWss().on('connection', (ws) => ws.on('error', () => {}))
  setUp(app, (ws, req) => serveUntilEnded(ws, req, closeWhenEnded))
  return { app: server, path: '/reports' }
}

/** express-ws accepts the connection before a route sees it, so a refusal closes the connection with a code. */
export const withAuthenticate = (kit) =>
  onExpressWs(kit, (app, serve) => {
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
  onExpressWs(kit, (app, serve) => {
    app.use('/reports', kit.guard)
    app.ws('/reports', serve)
  })

function onSocketIo({ router, closeWhenEnded }, setUp) {
  const app = appWith(router)
  const server = createServer(app)
  const io = new Server(server)
  setUp(io, app)
  io.on('connection', (socket) => {
    const cancel = closeWhenEnded(socket.request, () => socket.disconnect(true))
    socket.once('disconnect', cancel)
    socket.emit('account', socket.request.auth.accountId)
  })
  return { app: server, close: () => io.close() }
}

/** A middleware of Socket.IO. The client gets the refusal as `connect_error`. Browsers send the token in `auth`. */
export const withMiddleware = (kit) =>
  onSocketIo(kit, (io, app) => {
    io.use(async (socket, next) => {
      const { token } = socket.handshake.auth
      Object.setPrototypeOf(socket.request, app.request)
      if (token) socket.request.headers.authorization = `Bearer ${token}`
      try {
        await kit.guard.authenticate(socket.request)
        next()
      } catch (error) {
        next(Object.assign(new Error(error.message), { data: { ...error.toProblem(), headers: error.headers } }))
      }
    })
  })

/** The guard as a middleware of Engine.IO. The client gets the guard's own response. */
export const withEngineMiddleware = (kit) =>
  onSocketIo(kit, (io, app) => {
    io.engine.use((req, _res, next) => next(void Object.setPrototypeOf(req, app.request)))
    io.engine.use(kit.guard)
  })

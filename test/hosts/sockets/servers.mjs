import { createServer } from 'node:http'
import express from 'express'
import expressWs from 'express-ws'
import { Server } from 'socket.io'
import { WebSocketServer } from 'ws'

/** Sends the account, and closes the connection when the token has ended. */
function serveUntilEnded(ws, auth, closeWhenEnded) {
  const cancel = closeWhenEnded(auth, ({ code }) => ws.close(4401, code))
  ws.once('close', cancel)
  ws.send(auth.accountId)
}

/** A browser sends the token as its first message. */
export function withFirstMessage({ router, guard, closeWhenEnded }) {
  const server = createServer(express().use(router))
  new WebSocketServer({ server }).on('connection', (ws, req) => {
    ws.once('message', async (token) => {
      if (token.length > 0) req.headers.authorization = `Bearer ${token}`
      try {
        const auth = await guard.authenticate(req)
        serveUntilEnded(ws, auth, closeWhenEnded)
      } catch ({ status, code }) {
        ws.close(4000 + status, code)
      }
    })
  })
  return { app: server, path: '/' }
}

function onExpressWs({ router, authOf, closeWhenEnded }, setUp) {
  const app = express().use(router)
  const server = createServer(app)
  expressWs(app, server, { leaveRouterUntouched: true })
  setUp(app, (ws, req) => {
    serveUntilEnded(ws, authOf(req), closeWhenEnded)
  })
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
  const server = createServer(express().use(router))
  const io = new Server(server)
  setUp(io)
  io.on('connection', (socket) => {
    const auth = socket.data.auth ?? socket.request.auth
    const cancel = closeWhenEnded(auth, () => socket.disconnect(true))
    socket.once('disconnect', cancel)
    socket.emit('account', auth.accountId)
  })
  return { app: server, close: () => io.close() }
}

/** A middleware of Socket.IO. The client gets the refusal as `connect_error`. Browsers send the token in `auth`. */
export const withMiddleware = (kit) =>
  onSocketIo(kit, (io) => {
    io.use(async (socket, next) => {
      const { token } = socket.handshake.auth
      if (token) socket.request.headers.authorization = `Bearer ${token}`
      try {
        socket.data.auth = await kit.guard.authenticate(socket.request)
        next()
      } catch (error) {
        next(Object.assign(new Error(error.message), { data: { ...error.toProblem(), headers: error.headers } }))
      }
    })
  })

/** The guard as a middleware of Engine.IO. The client gets the guard's own response. */
export const withEngineMiddleware = (kit) => onSocketIo(kit, (io) => io.engine.use(kit.guard))

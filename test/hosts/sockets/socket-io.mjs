import { createServer } from 'node:http'
import express from 'express'
import { Server } from 'socket.io'

function create({ router, closeWhenEnded }, setUp) {
  const server = createServer(express().use(router))
  const io = new Server(server)
  setUp(io)
  io.on('connection', (socket) => {
    const auth = socket.data.auth ?? socket.request.auth
    socket.once(
      'disconnect',
      closeWhenEnded(auth, () => socket.disconnect(true)),
    )
    socket.emit('account', auth.accountId)
  })
  return { app: server, close: () => io.close() }
}

/** A middleware of Socket.IO. The client gets the refusal as `connect_error`. Browsers send the token in `auth`. */
export const withMiddleware = (kit) =>
  create(kit, (io) => {
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
export const withEngineMiddleware = (kit) => create(kit, (io) => io.engine.use(kit.guard))

import { createServer, STATUS_CODES } from 'node:http'
import express from 'express'
import { WebSocketServer } from 'ws'

/** Responds to an upgrade with a refusal, and closes the connection. */
function refuse(socket, { status, headers }) {
  const lines = Object.entries({ ...headers, 'Content-Length': 0, Connection: 'close' })
  socket.once('finish', () => socket.destroy())
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.map((line) => `${line.join(': ')}\r\n`).join('')}\r\n`,
  )
}

/** A browser sends the token as its first message. */
export function withFirstMessage({ router, guard, closeWhenEnded }) {
  const server = createServer(express().use(router))
  new WebSocketServer({ server }).on('connection', (ws, req) => {
    ws.once('message', async (token) => {
      if (token.length > 0) req.headers.authorization = `Bearer ${token}`
      try {
        const auth = await guard.authenticate(req)
        ws.once(
          'close',
          closeWhenEnded(auth, ({ code }) => ws.close(4401, code)),
        )
        ws.send(auth.accountId)
      } catch ({ status, code }) {
        ws.close(4000 + status, code)
      }
    })
  })
  return { app: server, path: '/' }
}

export function withUpgrade({ router, guard, closeWhenEnded }) {
  const server = createServer(express().use(router))
  const sockets = new WebSocketServer({ noServer: true })
  server.on('upgrade', async (req, socket, head) => {
    socket.on('error', () => socket.destroy())
    try {
      const auth = await guard.authenticate(req)
      sockets.handleUpgrade(req, socket, head, (ws) => {
        ws.once(
          'close',
          closeWhenEnded(auth, ({ code }) => ws.close(4401, code)),
        )
        ws.send(auth.accountId)
      })
    } catch (error) {
      refuse(socket, error)
    }
  })
  return { app: server, path: '/' }
}

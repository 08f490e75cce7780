import { createServer } from 'node:http'
import express from 'express'
import { WebSocketServer } from 'ws'

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

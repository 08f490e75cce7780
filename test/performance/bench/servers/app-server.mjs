import { createServer } from 'node:http'
import express from 'express'

/** An app with one route, as all the others are: in one app with many, the last route would pay for those before it. */
export function appOf(define) {
  const app = express()
  app.set('trust proxy', 1)
  define(app)
  app.use((_error, _req, res, _next) => {
    res.sendStatus(res.statusCode >= 400 ? res.statusCode : 401)
  })
  return app
}

/** Serves apps by the path that each has its route at. @returns the port */
export function serve(apps) {
  const server = createServer((req, res) => {
    const app = apps.get(req.url)
    if (app) return app(req, res)
    res.writeHead(404).end()
  })
  // Connections are kept while other servers are measured.
  server.keepAliveTimeout = 0
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server.address().port)))
}

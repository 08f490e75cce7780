// Serves a route with a guard and the same route without one, in one of three ways. Each server loads all guards, so that no server has
// less memory than another one.
import { createServer } from 'node:http'
import express from 'express'
import { createEnvironment, NONE } from '../guards.mjs'

const { messageClasses } = await import('../../../example-app/dist/web/message-classes.js')

const { way, alg, name, ...options } = JSON.parse(process.argv[2])
const { tokens, samples, guards } = await createEnvironment(alg, options)
const guard = guards[name]
const answer = (_req, res) => res.json({ account: 'acc-1', statements: [] })
const app = express()

const WAYS = {
  /** One route, and nothing else. */
  alone() {
    app.get('/mine', ...(name === NONE ? [] : [guard]), answer)
  },
  /** The same with the classes of docs/explanation/performance.md. */
  fast: () => WAYS.alone(),
  /** Both routes in an app with other routes. Express tries the routes in their order, so the open ones are the first and the last. */
  app() {
    app.get('/from', answer)
    app.get('/house/:id', answer)
    app.post('/echo', express.json(), (req, res) => res.json(req.body))
    app.get('/mine', guard, answer)
    app.get('/house/:id/mine', guard, answer)
    app.use('/more', express.Router().get('/a', guard, answer).get('/b', answer))
    app.get('/upto', answer)
  },
}
WAYS[way]()
app.use((_error, _req, res, _next) => {
  res.sendStatus(res.statusCode >= 400 ? res.statusCode : 401)
})

const server = way === 'fast' ? createServer(messageClasses(app), app) : createServer(app)
// Connections are kept while other servers are measured.
server.keepAliveTimeout = 0
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port, tokens, samples }))
process.on('disconnect', () => process.exit())

// Serves a route with a guard and the same route without one, in one of two ways. Each server loads all guards, so that no server has
// less memory than another one.
import express from 'express'
import { createEnvironment, NONE } from '../guards.mjs'
import { respond, serve } from './serve.mjs'

const { way, alg, name, ...options } = JSON.parse(process.argv[2])
const { tokens, samples, guards } = await createEnvironment(alg, options)
const guard = guards[name]
const app = express()

if (way === 'app') {
  // Other routes too. Express tries them in their order, so the open ones are the first and the last.
  app.get('/from', respond)
  app.get('/house/:id', respond)
  app.post('/echo', express.json(), (req, res) => res.json(req.body))
  app.get('/mine', guard, respond)
  app.get('/house/:id/mine', guard, respond)
  app.use('/more', express.Router().get('/a', guard, respond).get('/b', respond))
  app.get('/upto', respond)
} else app.get('/mine', ...(name === NONE ? [] : [guard]), respond)
app.use((_error, _req, res, _next) => {
  res.sendStatus(res.statusCode >= 400 ? res.statusCode : 401)
})
serve(app, { tokens, samples })

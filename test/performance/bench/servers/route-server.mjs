// A server of the server part: `fast` is a route with this package's guard on a server with Express's prototypes. `plain` is the same
// route without a guard with app.listen().

import { createServer } from 'node:http'
import express from 'express'
import { createEnvironment } from '../environment.mjs'
import { ours } from '../guards.mjs'

const { messageClasses } = await import('../../../../example-app/dist/web/message-classes.js')

const [kind] = process.argv.slice(2)
const PATH = '/statements'
const environment = createEnvironment('HS256')
const app = express()
if (kind === 'fast') app.use(ours(environment).guard)
app.get(PATH, (_req, res) => res.json({ account: 'acc-1', statements: [] }))

const server = (kind === 'fast' ? createServer(messageClasses(app), app) : app).listen(0, '127.0.0.1', () => {
  process.send({ port: server.address().port, path: PATH, samples: environment.samples(environment.tokens(1)[0]) })
})
// Connections are kept while the other server is measured.
server.keepAliveTimeout = 0
process.on('message', () => process.send(process.cpuUsage()))
process.on('disconnect', () => process.exit())

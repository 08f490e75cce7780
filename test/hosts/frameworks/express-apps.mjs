import { createRequire } from 'node:module'
import express from 'express'
import { middleware } from 'express-openapi-validator'
import { guardedOperation, openApiDocument } from 'express-token-endpoint/openapi'
import { SCOPE } from '../kit.js'

const require = createRequire(import.meta.url)

/** The layout of express-generator, with the responses of the guard. */
export const generated = (kit) => ({ app: require('./generated/app.cjs')(kit) })

/** The layout of express-generator. Its error handler sends the refusals. */
export const generatedWithErrorHandler = (kit) => generated({ ...kit, guard: kit.forwarding })

/** Express sends a forwarded refusal without an error handler of the app. */
export function withoutErrorHandler({ router, forwarding, authOf }) {
  const app = express().use(router)
  app.set('env', 'test')
  app.get('/reports', forwarding, (req, res) => res.json({ account: authOf(req).accountId }))
  return { app }
}

/** json-server has its own Express 4. The router is of Express 5. */
export function jsonServer({ router, guard, authOf }) {
  const server = require('json-server')
  const app = server.create()
  app.use(router, server.defaults({ logger: false }), server.bodyParser, guard)
  const data = server.router({ reports: [{ id: 1 }] })
  data.render = (req, res) => res.json({ account: authOf(req).accountId, reports: res.locals.data })
  app.use(data)
  return {
    app,
    versions: [require('json-server/package.json').dependencies.express, require('express/package.json').version],
  }
}

/** express-openapi-validator checks each request and each response against the document of this package. */
export function openApiValidator({ router, guard, authOf }) {
  const apiSpec = openApiDocument({ title: 'Reports', version: '1.0.0' })
  const content = { 'application/json': { schema: { type: 'object', required: ['account'] } } }
  const responses = { 200: { description: 'The account', content } }
  apiSpec.paths['/reports'] = { get: guardedOperation({ responses }, { scope: SCOPE }) }
  const invalid = []
  const onError = (error) => invalid.push(error)
  const app = express().use(express.json())
  app.use(middleware({ apiSpec, validateRequests: true, validateResponses: { onError }, validateSecurity: false }))
  app.use(router)
  app.get('/reports', guard, (req, res) => res.json({ account: authOf(req).accountId }))
  app.get('/invalid', (_req, res) => res.json({}))
  return { app, invalid }
}

import { createRequire } from 'node:module'
import fastifyExpress from '@fastify/express'
import express from 'express'
import { middleware } from 'express-openapi-validator'
import { requireBearer, tokenRouter } from 'express-token-endpoint'
import { guardedOperation, openApiDocument } from 'express-token-endpoint/openapi'
import fastify from 'fastify'
import mongoose from 'mongoose'
import { ACCOUNTS, fastPasswords } from '../../support/fixtures.js'
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

const listenFastify = async (app) => ({
  url: await app.listen({ port: 0, host: '127.0.0.1' }),
  close: () => app.close(),
})

/** Fastify with @fastify/express: the router and the guard are Express middleware. */
export async function withExpress({ router, guard, authOf }) {
  const app = fastify()
  await app.register(fastifyExpress)
  app.use(router)
  app.use('/reports', guard)
  app.get('/reports', async (request) => ({ account: authOf(request.raw).accountId }))
  return listenFastify(app)
}

/** Fastify with a hook. Fastify's error handler sends the status and the headers of an error. */
export async function withHook({ router, guard, authOf }) {
  const app = fastify()
  await app.register(fastifyExpress)
  app.use(router)
  app.get('/reports', { onRequest: (request) => guard.authenticate(request.raw) }, async (request) => ({
    account: authOf(request.raw).accountId,
  }))
  return listenFastify(app)
}

const schema = new mongoose.Schema({
  _id: String,
  email: String,
  passwordHash: { type: String, default: null },
  disabled: Boolean,
  scopes: [String],
  claims: { type: mongoose.Schema.Types.Mixed },
  tokensValidAfter: Date,
  lastSeen: { type: Date, default: () => new Date(0) },
})
const Account = mongoose.model('Account', schema)

/** A store whose accounts are documents, as queries without `lean()` return them. They need no database. */
const documents = Object.values(ACCOUNTS).map(({ id, ...account }) =>
  Account.hydrate({ _id: id, claims: { tenant: 'north' }, tokensValidAfter: new Date(0), ...account }),
)
const store = {
  findByEmail: async (email) => documents.find((document) => document.email === email),
  findById: async (id) => documents.find((document) => document.id === id),
}

export function withDocuments({ tokens, authOf }) {
  const app = express().use(tokenRouter({ tokens, accounts: store, passwords: fastPasswords() }))
  app.get('/reports', requireBearer({ tokens, accounts: store, scope: SCOPE }), (req, res) => {
    const { tenant } = authOf(req).claims
    res.json({ account: authOf(req).accountId, tenant, user: req.user })
  })
  return { app }
}

import { randomUUID } from 'node:crypto'
import argon2 from 'argon2'
import express from 'express'
import { ipKeyGenerator, rateLimit } from 'express-rate-limit'
import jwt from 'jsonwebtoken'
import { findByEmail, findById } from './accounts.mjs'

const secret = process.env.SECRET
const issuer = process.env.BASE_URL
const LIFETIME = 3600
const decoy = await argon2.hash(randomUUID())

function readCredentials(req, res, next) {
  const { email, password } = req.body ?? {}
  const areTexts = typeof email === 'string' && typeof password === 'string'
  if (!areTexts || email.length > 320) return res.status(400).json({ error: 'invalid_body' })
  next()
}

const limitOf = (minutes, limit, keyGenerator) =>
  rateLimit({
    windowMs: minutes * 60_000,
    limit,
    keyGenerator,
    skipSuccessfulRequests: true,
    requestWasSuccessful: (_req, res) => res.statusCode === 200,
    standardHeaders: 'draft-8',
    legacyHeaders: false,
  })
const network = (req) => ipKeyGenerator(req.ip, 64)
const account = (req) => req.body.email.toLowerCase()
const limits = [
  limitOf(60, 100, network),
  limitOf(60, 100, account),
  limitOf(15, 10, (req) => `${account(req)} ${network(req)}`),
]

async function logIn(req, res) {
  const user = await findByEmail(req.body.email)
  const matches = await argon2.verify(user?.passwordHash ?? decoy, req.body.password)
  if (!user || !matches || user.disabled) return res.status(403).end()
  const claims = { scope: user.scopes.join(' ') }
  const options = { algorithm: 'HS256', issuer, audience: issuer, subject: user.id, jwtid: randomUUID() }
  const token = jwt.sign(claims, secret, { ...options, expiresIn: LIFETIME })
  res.set('Cache-Control', 'no-store').json({ token, expiresIn: LIFETIME })
}

const refuse = (res, status, error) => {
  const challenge = error ? `Bearer realm="${issuer}", error="${error}"` : `Bearer realm="${issuer}"`
  res
    .set('WWW-Authenticate', challenge)
    .status(status)
    .json({ error: error ?? 'missing_token' })
}

const guard = (scope) => async (req, res, next) => {
  const [, token] = /^Bearer ([\w.-]+)$/i.exec(req.headers.authorization ?? '') ?? []
  if (!token) return refuse(res, 401)
  try {
    req.auth = jwt.verify(token, secret, { algorithms: ['HS256'], issuer, audience: issuer })
  } catch {
    return refuse(res, 401, 'invalid_token')
  }
  const user = await findById(req.auth.sub)
  if (!user || user.disabled) return refuse(res, 401, 'invalid_token')
  if (scope && !req.auth.scope.split(' ').includes(scope)) return refuse(res, 403, 'insufficient_scope')
  next()
}

export const app = express()
app.post('/login', express.json({ limit: '4kb' }), readCredentials, limits, logIn)
app.get('/me', guard(), (req, res) => {
  res.json({ account: req.auth.sub })
})
app.get('/reports', guard('reports:read'), (_req, res) => {
  res.json([])
})

import { betterAuth } from 'better-auth'
import { memoryAdapter } from 'better-auth/adapters/memory'
import { fromNodeHeaders, toNodeHandler } from 'better-auth/node'
import { admin, bearer } from 'better-auth/plugins'
import express from 'express'

export const auth = betterAuth({
  baseURL: process.env.BASE_URL,
  secret: process.env.SECRET,
  database: memoryAdapter({ user: [], session: [], account: [], verification: [] }),
  emailAndPassword: { enabled: true },
  user: { additionalFields: { scopes: { type: 'string[]', input: false, required: false } } },
  plugins: [bearer(), admin()],
  rateLimit: { enabled: true, customRules: { '/sign-in/email': { window: 900, max: 10 } } },
  advanced: { ipAddress: { ipAddressHeaders: ['x-client-ip'], ipv6Subnet: 64 } },
})

const guard = (scope) => async (req, res, next) => {
  const session = await auth.api.getSession({ headers: fromNodeHeaders(req.headers) })
  if (!session || session.user.banned) return res.status(401).set('WWW-Authenticate', 'Bearer').end()
  if (scope && !session.user.scopes?.includes(scope)) return res.status(403).end()
  req.auth = session
  next()
}

export const app = express()
app.use((req, _res, next) => {
  req.headers['x-client-ip'] = req.ip
  next()
})
app.all('/api/auth/*path', toNodeHandler(auth))
app.get('/me', guard(), (req, res) => {
  res.json({ account: req.auth.user.id })
})
app.get('/reports', guard('reports:read'), (_req, res) => {
  res.json([])
})

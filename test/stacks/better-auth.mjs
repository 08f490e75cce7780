import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import { betterAuth } from 'better-auth'
import { memoryAdapter } from 'better-auth/adapters/memory'
import { toNodeHandler } from 'better-auth/node'
import { bearer, jwt } from 'better-auth/plugins'
import { EMAIL, listening, PASSWORD } from './account.mjs'

// The sessions of better-auth, with its bearer plugin for clients without cookies.
const server = createServer()
server.listen(0, '127.0.0.1', async () => {
  const { port } = server.address()
  const auth = betterAuth({
    baseURL: `http://127.0.0.1:${port}`,
    secret: randomBytes(32).toString('base64'),
    database: memoryAdapter({ user: [], session: [], account: [], verification: [], jwks: [] }),
    emailAndPassword: { enabled: true },
    plugins: [bearer(), jwt()],
    // By default 3 logins in 10 seconds, which the check exceeds.
    rateLimit: { enabled: true, customRules: { '/sign-in/*': { window: 600, max: 60 } } },
    telemetry: { enabled: false },
    logger: { disabled: true },
  })
  await auth.api.signUpEmail({ body: { email: EMAIL, password: PASSWORD, name: 'Alice' } })
  const handler = toNodeHandler(auth)
  server.on('request', async (req, res) => {
    if (req.url?.startsWith('/api/auth/')) return handler(req, res)
    const session = await auth.api.getSession({ headers: new Headers(req.headers) })
    res.setHeader('Content-Type', 'application/json')
    if (session) res.end(JSON.stringify({ email: session.user.email }))
    else res.writeHead(401).end(JSON.stringify({ message: 'Unauthorized' }))
  })
  listening(port)
})

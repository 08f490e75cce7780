import { createTokenClient } from 'express-token-endpoint/client'

const [url] = process.argv.slice(2)
const { EMAIL: email, PASSWORD: password } = process.env
const credentials = () => ({ email, password })
const api = createTokenClient({ url, credentials })
const response = await api.fetch('/me')

// The second client signs in without credentials, as after a restart of an app.
const kept = new Map()
const refresh = {
  load: async () => kept.get('refresh'),
  save: async (text) => void kept.set('refresh', text),
  remove: async () => void kept.delete('refresh'),
}
await createTokenClient({ url, path: '/signed-in', refresh, credentials }).token()
const restarted = createTokenClient({
  url,
  path: '/signed-in',
  refresh,
  credentials: () => Promise.reject(new Error('asked')),
})
const isRestored = await restarted.restore()
await restarted.signOut()
process.stdout.write(JSON.stringify({ ...(await response.json()), restored: isRestored, kept: kept.size }))

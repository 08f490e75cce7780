import { createTokenClient } from 'express-token-endpoint/client'
import { EMAIL, PASSWORD, startFaultServer } from '../faults/server.js'

const CALLERS = 50
const LIFETIME_MS = 2000
const BETWEEN_CALLS_MS = 100

/** Lets 50 callers call an API whose tokens live two seconds. */
export async function soak(seconds: number) {
  const server = await startFaultServer()
  server.state.lifetime = LIFETIME_MS
  let refused = 0
  server.always.api = (res, seen) => {
    server.answerApi(res, seen)
    if (res.statusCode === 401) refused++
  }
  const api = createTokenClient({ url: server.url, credentials: () => ({ email: EMAIL, password: PASSWORD }) })
  const statuses: Record<number, number> = {}
  const started = server.now()
  const end = started + seconds * 1000
  async function caller(): Promise<void> {
    while (server.now() < end) {
      const { status, body } = await api.fetch('/x')
      await body?.cancel()
      statuses[status] = (statuses[status] ?? 0) + 1
      // The server keeps every request it has seen.
      server.seen.api.length = 0
      await new Promise((resolve) => setTimeout(resolve, BETWEEN_CALLS_MS * 2 * Math.random()))
    }
  }
  try {
    await Promise.all(Array.from({ length: CALLERS }, caller))
    const lifetimes = (server.now() - started) / LIFETIME_MS
    const signIns = server.seen.token.length
    return { statuses, refused, lifetimes, signIns, signInsPerLifetime: signIns / lifetimes }
  } finally {
    api.close()
    await server.stop()
  }
}
